import { Pod } from '@kopf-ts/kinds';
import * as kopf from 'kopf-ts';
import { z } from 'zod';

const identity = { group: 'kopf.dev', version: 'v1', plural: 'kopfexamples' };

// 1. By hand: the types are told once, and known wherever the token is used.
export const Volume = kopf.resource<{ size: string; replicas?: number }, { phase: string }>(identity);

kopf.on.create(Volume, { labels: { kind: 'volume' } }, function provision({ spec, patch }) {
  const replicas: number = spec.replicas ?? 1;
  patch.status.phase = `${replicas} × ${spec.size}`;
  // @ts-expect-error There is no such field.
  spec.sise;
  // @ts-expect-error What handlers are given is read-only; changes go through the patch.
  const change = () => (spec.size = '2Gi');
  void change;
});

// A function apart from its declaration; with `field`, the values of that field are known, too.
kopf.on.update(Volume, { labels: { kind: 'volume' }, field: 'spec.size' }, resize);
function resize({ old, new: size, patch }: kopf.Change<typeof Volume, undefined, kopf.DefaultEnv, 'spec.size'>): void {
  const [before, after]: (string | undefined)[] = [old, size];
  patch.status.phase = `from ${before} to ${after}`;
}

// 2. By a token of `@kopf-ts/kinds`: for all that is built into Kubernetes.
kopf.on.event(Pod, function watchPods({ name, spec, status, logger }) {
  const images: string[] = spec.containers.map(({ image }) => image ?? 'none');
  logger.info(`${name} is ${status.phase ?? 'new'} with ${images.join(', ')}.`);
});

// 3. By a schema: zod, valibot, arktype, or anything else that speaks Standard Schema.
const TenantSpec = z.object({ plan: z.enum(['free', 'paid']), seats: z.number().int().positive() });
export const Tenant = kopf.resource({ ...identity, spec: TenantSpec });

kopf.on.create(Tenant, { labels: { kind: 'tenant' } }, function welcome({ spec, patch }) {
  // What comes from the cluster is not checked by the framework: it is the cluster's own schema that does it.
  // If that is not enough, the schema is at hand.
  const { error } = TenantSpec.safeParse(spec);
  if (error !== undefined) throw new kopf.PermanentError(z.prettifyError(error));
  patch.status['seats'] = spec.seats;
});

kopf.on.update(
  Tenant,
  { labels: { kind: 'tenant' }, field: 'spec.plan', old: 'free', new: 'paid' },
  function upgrade({ new: plan, patch }) {
    const paid: 'free' | 'paid' | undefined = plan;
    patch.status['plan'] = paid;
  },
);
// @ts-expect-error There is no such plan.
kopf.on.update(Tenant, { field: 'spec.plan', old: 'free', new: 'gold' }, function wrong() {});
