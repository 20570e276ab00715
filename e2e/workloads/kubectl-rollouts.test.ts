import { type LocalCluster, localCluster } from '@kopf-ts/apiserver';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runKubectl } from '../controlplane/index.js';
import { describeOnRealCluster, realCluster } from '../support/real-cluster.js';

const workload = (kind: string, name: string, more = '') => `
apiVersion: apps/v1
kind: ${kind}
metadata: { name: ${name} }
spec:
  ${more}
  selector: { matchLabels: { app: ${name} } }
  template:
    metadata: { labels: { app: ${name} } }
    spec: { containers: [{ name: main, image: one }] }
`;
const job = (name: string, annotation: string) => `
apiVersion: batch/v1
kind: Job
metadata: { name: ${name} }
spec:
  backoffLimit: 0
  template:
    metadata: { annotations: { simulation.kopf-ts.dev/${annotation} } }
    spec: { restartPolicy: Never, containers: [{ name: main, image: one }] }
`;

/** Of the real thing, only the program is needed here; the cluster is the embedded one. */
describeOnRealCluster('kubectl and simulated workloads', () => {
  let cluster: LocalCluster;
  let kubeconfig: string;

  beforeAll(async () => {
    cluster = await localCluster({ tls: true, controllers: 'simulated', pods: { startAfter: 0.2, stopAfter: 0.1 } });
    kubeconfig = await cluster.kubeconfigFile();
  });
  afterAll(async () => {
    await cluster?.stop();
  });

  const kubectl = (args: string | readonly string[], stdin?: string): Promise<string> =>
    runKubectl(
      { ...realCluster(), kubeconfig },
      typeof args === 'string' ? args.split(' ') : args,
      stdin === undefined ? {} : { stdin },
    );
  const LIMIT = '--timeout=40s';
  const podsOf = (app: string) => cluster.list('pods').filter(({ metadata }) => metadata?.labels?.['app'] === app);
  /** Of those that stay. */
  const images = (app: string) =>
    podsOf(app)
      .filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
      .map(({ spec }) => spec.containers[0].image);

  it('rolls deployments out and back, and scales them', async () => {
    await kubectl('apply -f -', workload('Deployment', 'web', 'replicas: 3'));
    expect(await kubectl(`rollout status deployment/web ${LIMIT}`)).toMatch('deployment "web" successfully rolled out');
    expect(await kubectl('get deployment web --no-headers')).toMatch(/^web +3\/3 +3 +3 /);
    expect(await kubectl('get pods -l app=web --no-headers')).toMatch(/^web-\w+-\w{5} +1\/1 +Running +0 /m);
    await kubectl('set image deployment/web main=two');
    await kubectl(`rollout status deployment/web ${LIMIT}`);
    expect(await kubectl('rollout history deployment/web')).toMatch(/^1 +<none>\n2 +<none>$/m);
    expect(await kubectl('rollout history deployment/web --revision=1')).toMatch(/Image:\s+one/);
    expect(await kubectl('rollout undo deployment/web')).toBe('deployment.apps/web rolled back\n');
    await kubectl(`rollout status deployment/web ${LIMIT}`);
    expect(images('web')).toEqual(['one', 'one', 'one']);
    expect(await kubectl('rollout history deployment/web')).toMatch(/^2 +<none>\n3 +<none>$/m);
    expect(await kubectl('rollout undo deployment/web --to-revision=2')).toBe('deployment.apps/web rolled back\n');
    await kubectl(`rollout status deployment/web ${LIMIT}`);
    expect(await kubectl('rollout restart deployment/web')).toBe('deployment.apps/web restarted\n');
    await kubectl(`rollout status deployment/web ${LIMIT}`);
    await kubectl('rollout pause deployment/web');
    await kubectl('rollout resume deployment/web');
    await kubectl('scale deployment/web --replicas=2');
    await kubectl(`wait deployment/web --for=jsonpath={.status.replicas}=2 ${LIMIT}`);
    await kubectl(`wait deployment/web --for=condition=Available ${LIMIT}`);
    expect(images('web')).toEqual(['two', 'two']);
    expect(await kubectl('describe deployment web')).toMatch(
      /^Replicas: +2 desired \| 2 updated \| 2 total \| 2 available/m,
    );
    expect(await kubectl('describe deployment web')).toMatch(/NewReplicaSet: +web-\w+ \(2\/2 replicas created\)/);
    await kubectl('delete deployment web --cascade=foreground --timeout=40s');
    expect(podsOf('web')).toEqual([]);
  });

  it.each([
    [
      'StatefulSet',
      'statefulset',
      'serviceName: db\n  replicas: 2',
      2,
      'partitioned roll out complete: 2 new pods have been updated',
    ],
    ['DaemonSet', 'daemonset', '', 1, 'daemon set "agent" successfully rolled out'],
  ])('rolls out and back: %s', async (kind, resource, more, count, done) => {
    const name = kind === 'DaemonSet' ? 'agent' : 'db';
    await kubectl('apply -f -', workload(kind, name, more));
    await kubectl(`rollout status ${resource}/${name} ${LIMIT}`);
    await kubectl(`set image ${resource}/${name} main=two`);
    expect(await kubectl(`rollout status ${resource}/${name} ${LIMIT}`)).toMatch(done);
    expect(images(name)).toEqual(Array(count).fill('two'));
    expect(await kubectl(`rollout history ${resource}/${name}`)).toMatch(/^1 +<none>\n2 +<none>$/m);
    expect(await kubectl(`rollout undo ${resource}/${name}`)).toMatch('rolled back');
    await kubectl(`rollout status ${resource}/${name} ${LIMIT}`);
    expect(images(name)).toEqual(Array(count).fill('one'));
    await kubectl(`rollout restart ${resource}/${name}`);
    await kubectl(`rollout status ${resource}/${name} ${LIMIT}`);
    await kubectl(`delete ${resource} ${name} --cascade=foreground --timeout=40s`);
    expect(podsOf(name)).toEqual([]);
  });

  it('waits for jobs and pods', async () => {
    await kubectl('apply -f -', job('good', 'exit-code: "0"'));
    await kubectl('apply -f -', job('bad', 'exit-code: "1"'));
    expect(await kubectl(`wait job/good --for=condition=complete ${LIMIT}`)).toBe('job.batch/good condition met\n');
    expect(await kubectl(`wait job/bad --for=condition=failed ${LIMIT}`)).toBe('job.batch/bad condition met\n');
    expect(await kubectl('get job good --no-headers')).toMatch(/^good +Complete +1\/1 /);
    await kubectl('delete jobs --all --timeout=40s');
    await kubectl('run alone --image=x');
    expect(await kubectl(`wait pod/alone --for=condition=Ready ${LIMIT}`)).toBe('pod/alone condition met\n');
    expect(await kubectl('delete pod alone --timeout=40s')).toMatch(/^pod "alone" deleted/);
    expect(await kubectl('get nodes --no-headers')).toMatch(/^local +Ready +<none> /);
    await kubectl('create cronjob tick --image=x --schedule=@hourly');
    await kubectl('create job tock --from=cronjob/tick');
    await kubectl(`wait job/tock --for=condition=complete ${LIMIT}`);
  });
});
