/** Two replicas behind a Service; on whatever cluster, and without any help of a test-runner. */
import { setTimeout as pause } from 'node:timers/promises';
import { AdmissionError, type ConnectionInfo, createRegistry, type KubeClient } from '@kopf-ts/core';
import { recordingLogger } from '@kopf-ts/testing';
import { type Operator, operator, webhooks } from 'kopf-ts';
import { newNamespace } from '../../support/objects.js';
import { newTestKind } from '../../support/operators/kinds.js';
import { configuration } from './configurations.js';
import { type Answer, type Usage, usageOf } from './requests.js';

/** Where a replica listens. */
export interface Place {
  readonly addr: string;
  readonly port: number;
}

export interface ServiceScene {
  readonly client: KubeClient;
  readonly connection: ConnectionInfo;
  readonly places: readonly [Place, Place];
  /** Leads the Service to these replicas, and to no others. */
  publish(service: { readonly namespace: string; readonly name: string }, places: readonly Place[]): Promise<void>;
}

export interface ServiceResults {
  readonly namespace: string;
  /** Of both webhooks. */
  readonly clientConfigs: readonly unknown[];
  /** The answers to the right and to the wrong objects, and how many of them were given by each of the replicas. */
  readonly withBoth: Reviewed;
  /** The same while the first of them is being stopped. */
  readonly whileStopping: Reviewed;
  /** With the second one alone. */
  readonly withSecond: Reviewed;
  /** With the first one alone, started again. */
  readonly withFirst: Reviewed;
}

interface Reviewed {
  readonly answers: readonly string[];
  readonly byFirst: number;
  readonly bySecond: number;
}

const MANAGED = 'service.test.example.com';
const SERVICE = { name: 'webhooks', port: 8443, path: '/hooks' };
const ROUNDS = 30;

/** Has objects reviewed through the service, by both replicas and by each of them alone. */
export async function reviewThroughService(scene: ServiceScene): Promise<ServiceResults> {
  const { client, connection, places } = scene;
  const namespace = await newNamespace(client);
  const things = await newTestKind(client);
  const counts = [0, 0];
  const count = (index: 0 | 1): void => {
    counts[index] = (counts[index] ?? 0) + 1;
  };
  const start = async (index: 0 | 1): Promise<Operator> => {
    const registry = createRegistry();
    registry.on.login(() => connection);
    registry.on.startup(({ settings }) => {
      settings.admission.managed = MANAGED;
      const service = { ...SERVICE, namespace };
      settings.admission.server = webhooks.serviceServer({
        service,
        ...places[index],
        secret: { name: 'certificates' },
      });
    });
    registry.on.validate(things.selector, { id: 'check', persistent: true }, ({ spec }) => {
      count(index);
      if (spec['size'] < 0) throw new AdmissionError('Not a size.', { code: 422 });
    });
    // Services have stricter paths than ids are.
    registry.on.validate(things.selector, { id: 'Check_It!/again', persistent: true }, ({ spec }) => {
      count(index);
      if (spec['size'] === 0) throw new AdmissionError('Not even zero.', { code: 400 });
    });
    const started = operator({ registry, namespaces: [namespace], standalone: true, logger: recordingLogger() });
    await started.ready;
    return started;
  };
  const usage = usageOf(connection, things, namespace);
  const service = { namespace, name: SERVICE.name };
  const review = async (until: Promise<unknown> = Promise.resolve()): Promise<Reviewed> => {
    counts.fill(0);
    const answers = new Set<string>();
    let isOver = false;
    void until.then(() => {
      isOver = true;
    });
    for (let round = 0; round < ROUNDS || !isOver; round++) {
      for (const size of [1, -1, 0]) answers.add(described(await usage.create(`n${round}`, { spec: { size } }, DRY)));
    }
    return { answers: [...answers].sort(), byFirst: counts[0] ?? 0, bySecond: counts[1] ?? 0 };
  };

  await createService(client, namespace);
  await scene.publish(service, places);
  const [first, second] = await Promise.all([start(0), start(1)]);
  await untilDenied(usage);
  const all = Object.values(await configuration(client, 'validating', MANAGED).webhooks());
  const clientConfigs = all.map((webhook) => webhook['clientConfig']);
  const withBoth = await review();
  await scene.publish(service, [places[1]]);
  const whileStopping = await review(first.stop());
  const withSecond = await review();
  const firstAgain = await start(0);
  await scene.publish(service, [places[0]]);
  await review(second.stop());
  const withFirst = await review();
  await firstAgain.stop();
  return { namespace, clientConfigs, withBoth, whileStopping, withSecond, withFirst };
}

const DRY = '?dryRun=All';

function described({ status, body }: Answer): string {
  return status === 201 ? '201' : `${status} ${body['message']}`;
}

async function createService(client: KubeClient, namespace: string): Promise<void> {
  const { name, port } = SERVICE;
  const body = { metadata: { name }, spec: { ports: [{ name: 'https', port, protocol: 'TCP' }] } };
  await client.request({ method: 'POST', path: `/api/v1/namespaces/${namespace}/services`, body });
}

/** API servers learn of configurations, services and endpoints soon, but not at once. */
async function untilDenied(usage: Usage): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const answer = await usage.create('probe', { spec: { size: -1 } }, DRY);
    if (answer.status === 422) return;
    if (performance.now() > deadline) throw new Error(`Nobody denies anything: ${described(answer)}`);
    await pause(50);
  }
}
