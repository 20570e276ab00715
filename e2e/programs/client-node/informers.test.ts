/** The official client of JavaScript with its informers. */

import { type LocalCluster, localCluster } from '@kopf-ts/apiserver';
import {
  AppsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  type Informer,
  KubeConfig,
  type KubernetesObject,
  KubernetesObjectApi,
  makeInformer,
  type ObjectCache,
  PatchStrategy,
  setHeaderOptions,
  Watch,
} from '@kubernetes/client-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../support/operators/operators.js';
import { embeddedServer, makeNamespace, realServer, type Server } from '../support/servers.js';
import { differencesBetween, type Transcript, transcript } from '../support/transcripts.js';

const namespace = 'client-node';

describe('@kubernetes/client-node', () => {
  let embedded: Transcript | undefined;

  it('reads, writes, patches and watches on the embedded server', async () => {
    embedded = await runOn(await embeddedServer());
    expect(embedded.steps.find(({ step }) => step === 'what the informer saw')?.answer).toEqual([
      'connected',
      'add first',
      'add second',
      'update second',
      'delete first',
    ]);
  });

  it('does the same on the real server', async (context) => {
    const real = await runOn(realServer(context));
    if (embedded === undefined) throw new Error('There is nothing to compare with.');
    expect(differencesBetween(real, embedded)).toBe('');
  });

  it('has informers that survive lost connections and lost history', async () => {
    const cluster = await localCluster({ tls: true });
    onTestFinished(() => cluster.stop());
    const seen: string[] = [];
    const informer = await startInformer(configOf(await cluster.kubeconfigFile()), 'default', seen);
    await addTo(cluster, 'before');
    await eventually(() => expect(seen).toContain('add before'));

    cluster.faults.resetStreams();
    await addTo(cluster, 'after a reset');
    await eventually(() => expect(informer.get('after-a-reset', 'default')).toBeDefined());

    // It begins to watch again after the history is lost, and is answered with 410.
    cluster.faults.resetStreams();
    await cluster.delete('configmaps/default/before');
    await addTo(cluster, 'after a loss');
    cluster.faults.compact();
    await eventually(() => {
      expect(informer.get('after-a-loss', 'default')).toBeDefined();
      expect(informer.get('before', 'default')).toBeUndefined();
    });
    expect(seen).toContain('delete before');
  });
});

function addTo(cluster: LocalCluster, words: string): Promise<unknown> {
  const name = words.replaceAll(' ', '-');
  return cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { seen: 'yes' } } });
}

function configOf(kubeconfig: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  return config;
}

/** By a label, as people do; it starts again by itself after errors, as its documentation asks for. */
async function startInformer(
  config: KubeConfig,
  place: string,
  seen: string[],
): Promise<Informer<KubernetesObject> & ObjectCache<KubernetesObject>> {
  const core = config.makeApiClient(CoreV1Api);
  const list = () => core.listNamespacedConfigMap({ namespace: place, labelSelector: 'seen' });
  const informer = makeInformer(config, `/api/v1/namespaces/${place}/configmaps`, list, 'seen');
  let isStopped = false;
  const restart = () => {
    if (!isStopped) void informer.start().catch(() => setTimeout(restart, 50));
  };
  for (const verb of ['add', 'update', 'delete'] as const) {
    informer.on(verb, (object: KubernetesObject) => void seen.push(`${verb} ${object.metadata?.name}`));
  }
  informer.on('connect', () => void seen.push('connected'));
  informer.on('error', () => setTimeout(restart, 50));
  await informer.start();
  onTestFinished(async () => {
    isStopped = true;
    await informer.stop();
  });
  return informer;
}

async function runOn(server: Server): Promise<Transcript> {
  const run = transcript(server);
  const config = configOf(server.kubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  const apps = config.makeApiClient(AppsV1Api);
  const objects = KubernetesObjectApi.makeApiClient(config);
  const customs = config.makeApiClient(CustomObjectsApi);
  const refused = async (step: string, call: Promise<unknown>) => {
    const error = await call.then(
      () => undefined,
      (reason: { code?: number; body?: unknown }) => reason,
    );
    if (error === undefined) throw new Error(`${step} was not refused.`);
    run.tell(step, { code: error.code, body: JSON.parse(String(error.body)) as unknown });
  };
  await makeNamespace(server, namespace);

  // Typed objects.
  const map = (name: string, data = {}) => ({ metadata: { name, labels: { seen: 'yes' } }, data });
  run.tell('create', await core.createNamespacedConfigMap({ namespace, body: map('first', { a: '1' }) }));
  await refused('create twice', core.createNamespacedConfigMap({ namespace, body: map('first') }));
  await refused('read nothing', core.readNamespacedConfigMap({ namespace, name: 'nothing' }));

  const seen: string[] = [];
  const informer = await startInformer(config, namespace, seen);
  await eventually(() => expect(seen).toContain('add first'));
  await core.createNamespacedConfigMap({ namespace, body: map('second') });
  await eventually(() => expect(seen).toContain('add second'));
  run.tell(
    'patch',
    await core.patchNamespacedConfigMap(
      { namespace, name: 'second', body: [{ op: 'add', path: '/data', value: { b: '2' } }] },
      setHeaderOptions('Content-Type', PatchStrategy.JsonPatch),
    ),
  );
  await eventually(() => expect(seen).toContain('update second'));
  run.tell('delete', await core.deleteNamespacedConfigMap({ namespace, name: 'first' }));
  await eventually(() => expect(seen).toContain('delete first'));
  run.tell('what the informer saw', seen);
  run.tell(
    'what it knows',
    informer.list(namespace)?.map(({ metadata }) => metadata?.name),
  );

  // Any objects, by what discovery says.
  const labels = { app: 'web' };
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
    },
  };
  run.tell('create any object', await objects.create(deployment));
  const change = { spec: { template: { spec: { containers: [{ name: 'side', image: 'side:1' }] } } } };
  run.tell('patch any object', await objects.patch({ ...deployment, ...change }));
  run.tell(
    'apply any object',
    await objects.patch(
      { ...deployment, spec: { ...deployment.spec, replicas: 3 } },
      undefined,
      undefined,
      'applier',
      true,
      PatchStrategy.ServerSideApply,
    ),
  );
  run.tell('read any object', await objects.read(deployment));
  run.tell('list any objects', (await objects.list('apps/v1', 'Deployment', namespace)).items);
  run.tell('scale', await apps.readNamespacedDeploymentScale({ namespace, name: 'web' }));
  run.tell('delete any object', await objects.delete(deployment));

  // Kinds of one's own, and a bare watch.
  await objects.create(gadgets);
  const place = { group: 'node.example.com', version: 'v1', namespace, plural: 'gadgets' };
  const gadget = { apiVersion: 'node.example.com/v1', kind: 'Gadget', metadata: { name: 'small' }, spec: { size: 1 } };
  await eventually(() => customs.listNamespacedCustomObject(place));
  const events: unknown[] = [];
  const path = `/apis/node.example.com/v1/namespaces/${namespace}/gadgets`;
  const watching = await new Watch(config).watch(
    path,
    {},
    (type, object: KubernetesObject) => events.push({ type, object }),
    () => {},
  );
  run.tell('create a custom object', await customs.createNamespacedCustomObject({ ...place, body: gadget }));
  await eventually(() => expect(events).toHaveLength(1));
  run.tell(
    'patch a custom object',
    await customs.patchNamespacedCustomObject(
      { ...place, name: 'small', body: { spec: { size: 2 } } },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    ),
  );
  await eventually(() => expect(events).toHaveLength(2));
  await refused(
    'a wrong custom object',
    customs.createNamespacedCustomObject({ ...place, body: { ...gadget, spec: { size: 'big' } } }),
  );
  run.tell('delete a custom object', await customs.deleteNamespacedCustomObject({ ...place, name: 'small' }));
  await eventually(() => expect(events).toHaveLength(3));
  watching.abort();
  run.tell('what was watched', events);
  return run;
}

const gadgets = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.node.example.com' },
  spec: {
    group: 'node.example.com',
    scope: 'Namespaced',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
          },
        },
      },
    ],
  },
};
