/** What handlers and verbs know of the built-in kinds. Checked by the compiler, never run. */
import { type Api, type Body, buildOwnerReference, createRegistry, type DeepPartial } from '@kopf-ts/core';
import {
  ClusterRole,
  ConfigMap,
  type CustomResourceDefinition,
  Deployment,
  Pod,
  Secret,
  Service,
} from '@kopf-ts/kinds';
import type { DeploymentSpec } from '@kopf-ts/kinds/apps/v1';
import { Event as NewEvent } from '@kopf-ts/kinds/events.k8s.io/v1';
import type { Container, PodSpec } from '@kopf-ts/kinds/v1';
import { describe, expectTypeOf, it } from 'vitest';

const { on, daemon, index } = createRegistry();
declare const api: Api;

describe('handlers', () => {
  it('know the objects, and where they are', () => {
    on.create(Deployment, ({ spec, status, namespace, body, patch }) => {
      expectTypeOf(spec.replicas).toEqualTypeOf<number | undefined>();
      expectTypeOf(spec.template.spec.containers[0]?.image).toEqualTypeOf<string | undefined>();
      expectTypeOf(status.readyReplicas).toEqualTypeOf<number | undefined>();
      expectTypeOf(namespace).toEqualTypeOf<string>();
      expectTypeOf(body.metadata.creationTimestamp).toEqualTypeOf<string | undefined>();
      buildOwnerReference(body);
      patch.spec.replicas = 3;
      // @ts-expect-error a number
      patch.spec.replicas = 'three';
      // @ts-expect-error no such field
      spec.replica;
    });
    on.update(Deployment, { field: 'spec.replicas', old: 1 }, ({ old, new: replicas }) => {
      expectTypeOf(old).toEqualTypeOf<number | undefined>();
      expectTypeOf(replicas).toEqualTypeOf<number | undefined>();
    });
    // @ts-expect-error there is no such field
    on.update(Deployment, { field: 'spec.replica' }, () => {});
    on.event(Secret, ({ body }) => expectTypeOf(body.data?.['x']).toEqualTypeOf<string | undefined>());
    // @ts-expect-error cluster roles are in no namespace
    daemon(ClusterRole, ({ namespace }) => namespace);
    on.event(NewEvent, ({ body }) => expectTypeOf(body.eventTime).toEqualTypeOf<string>());
    const byNode = index(Pod, ({ spec, namespace, name }) => ({ [spec.nodeName ?? '']: `${namespace}/${name}` }));
    expectTypeOf(byNode).not.toBeAny();
  });
});

describe('verbs', () => {
  it('answer with whole objects', async () => {
    const deployment = await api(Deployment).get('web');
    expectTypeOf(deployment).toEqualTypeOf<Deployment>();
    expectTypeOf(deployment.spec).toEqualTypeOf<DeploymentSpec>();
    expectTypeOf(deployment.metadata.name).toEqualTypeOf<string | undefined>();
    expectTypeOf(await api(Service).find('web')).toEqualTypeOf<Service | undefined>();
    expectTypeOf(await api(ConfigMap).list()).toEqualTypeOf<ConfigMap[]>();
    expectTypeOf(await api(Deployment).status.get('web')).toEqualTypeOf<Deployment>();
  });

  it('take parts of them', async () => {
    await api(Deployment).apply({ metadata: { name: 'web' }, spec: { template: { spec: { containers: [] } } } });
    await api(Deployment).patch('web', { spec: { paused: true } });
    await api(Service).create({ metadata: { name: 'web' }, spec: { ports: [{ port: 80, targetPort: 'http' }] } });
    await api(Deployment).replace('web', (web) => ({ ...web, spec: { ...web.spec, replicas: 2 } }));
    // @ts-expect-error no such field
    await api(Deployment).apply({ metadata: { name: 'web' }, spec: { replica: 3 } });
    // @ts-expect-error no such field in the metadata
    await api(Deployment).apply({ metadata: { nome: 'web' } });
    // @ts-expect-error of another kind
    await api(Deployment).apply({ kind: 'DaemonSet', metadata: { name: 'web' } });
    // @ts-expect-error not a policy
    await api(Pod).apply({ metadata: { name: 'x' }, spec: { containers: [{ name: 'x', imagePullPolicy: 'Often' }] } });
  });
});

describe('types', () => {
  it('are those of JSON', () => {
    expectTypeOf<NonNullable<Container['resources']>['limits']>().toEqualTypeOf<
      { [key: string]: string } | undefined
    >();
    expectTypeOf<NonNullable<Pod['status']>['startTime']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<NonNullable<Secret['data']>>().toEqualTypeOf<{ [key: string]: string }>();
    expectTypeOf<NonNullable<Service['spec']['ports']>[number]['targetPort']>().toEqualTypeOf<
      string | number | undefined
    >();
    expectTypeOf<Container['imagePullPolicy']>().toEqualTypeOf<'Always' | 'IfNotPresent' | 'Never' | undefined>();
    expectTypeOf<Deployment['apiVersion']>().toEqualTypeOf<'apps/v1' | undefined>();
  });

  it('are for objects of one’s own, too', () => {
    const template: PodSpec = { containers: [{ name: 'main', image: 'busybox' }] };
    const labels = { app: 'web' };
    const deployment: Deployment = {
      metadata: { name: 'web' },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: template } },
    };
    const body: Body = deployment;
    const part: DeepPartial<CustomResourceDefinition> = { spec: { names: { plural: 'databases' } } };
    expectTypeOf([body, part]).not.toBeAny();
    // @ts-expect-error a container has a name
    template.containers.push({ image: 'busybox' });
    // @ts-expect-error the selector is missing
    const incomplete: Deployment = { metadata: {}, spec: { template: { spec: template } } };
    expectTypeOf(incomplete).not.toBeAny();
  });
});
