import { del, get, post, prepare, put, type Sequence, sequence } from '../harness/sequence.js';
import { containers, deployment, deployments, inNamespace, object, workloadSpec } from './objects.js';

const replicaSets = inNamespace('replicasets', 'apps/v1');
const statefulSets = inNamespace('statefulsets', 'apps/v1');
const daemonSets = inNamespace('daemonsets', 'apps/v1');
const revisions = inNamespace('controllerrevisions', 'apps/v1');
const jobs = inNamespace('jobs', 'batch/v1');
const cronJobs = inNamespace('cronjobs', 'batch/v1');

const jobSpec = { template: { spec: { containers, restartPolicy: 'Never' } } };

export const workloads: readonly Sequence[] = [
  sequence('the life of a deployment', [
    post(deployments, deployment('web')),
    get(`${deployments}/web`),
    get(deployments),
    put(`${deployments}/web`, deployment('web', { replicas: 3 })),
    del(`${deployments}/web`),
    get(`${deployments}/web`),
  ]),
  sequence('strategies of deployments', [
    post(deployments, deployment('recreate', { strategy: { type: 'Recreate' } })),
    post(deployments, deployment('rolling', { strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: '10%' } } })),
    post(deployments, deployment('both', { strategy: { type: 'Recreate', rollingUpdate: {} } })),
    post(deployments, deployment('wrong', { strategy: { type: 'Wrong' } })),
  ]),
  sequence('selectors of deployments', [
    post(deployments, deployment('other', { selector: { matchLabels: { app: 'other' } } })),
    post(deployments, object('apps/v1', 'Deployment', 'none', { spec: { template: workloadSpec.template } })),
    prepare(post(deployments, deployment('fixed'))),
    put(`${deployments}/fixed`, deployment('fixed', { selector: { matchLabels: { app: 'web', more: 'yes' } } })),
    post(deployments, deployment('negative', { replicas: -1 })),
  ]),
  sequence('the life of a replica set', [
    post(replicaSets, object('apps/v1', 'ReplicaSet', 'web', { spec: { ...workloadSpec, replicas: 2 } })),
    get(`${replicaSets}/web`),
    put(`${replicaSets}/web`, object('apps/v1', 'ReplicaSet', 'web', { spec: { ...workloadSpec, replicas: 4 } })),
    get(replicaSets),
    del(`${replicaSets}/web`),
  ]),
  sequence('the life of a stateful set', [
    post(statefulSets, object('apps/v1', 'StatefulSet', 'db', { spec: { ...workloadSpec, serviceName: 'db' } })),
    get(`${statefulSets}/db`),
    put(`${statefulSets}/db`, object('apps/v1', 'StatefulSet', 'db', { spec: { ...workloadSpec, serviceName: 'x' } })),
    get(statefulSets),
    del(`${statefulSets}/db`),
  ]),
  sequence('the life of a daemon set', [
    post(daemonSets, object('apps/v1', 'DaemonSet', 'agent', { spec: workloadSpec })),
    get(`${daemonSets}/agent`),
    get(daemonSets),
    post(
      daemonSets,
      object('apps/v1', 'DaemonSet', 'wrong', {
        spec: { ...workloadSpec, template: { ...workloadSpec.template, spec: { containers, restartPolicy: 'Never' } } },
      }),
    ),
    del(`${daemonSets}/agent`),
  ]),
  sequence('the life of a controller revision', [
    post(revisions, object('apps/v1', 'ControllerRevision', 'r1', { data: { any: ['thing'] }, revision: 3 })),
    get(`${revisions}/r1`),
    put(`${revisions}/r1`, object('apps/v1', 'ControllerRevision', 'r1', { data: { any: ['other'] }, revision: 4 })),
    get(revisions),
    del(`${revisions}/r1`),
  ]),
  sequence('the life of a job', [
    post(
      jobs,
      object('batch/v1', 'Job', 'once', {
        spec: {
          ...jobSpec,
          manualSelector: true,
          selector: {
            matchLabels: { job: 'once' },
          },
          template: { metadata: { labels: { job: 'once' } }, spec: jobSpec.template.spec },
        },
      }),
    ),
    get(`${jobs}/once`),
    get(jobs),
    del(`${jobs}/once?propagationPolicy=Background`),
    get(`${jobs}/once`),
  ]),
  sequence('a job gets the labels of its own', [post(jobs, object('batch/v1', 'Job', 'once', { spec: jobSpec }))]),
  sequence('wrong jobs', [
    post(jobs, object('batch/v1', 'Job', 'policy', { spec: { template: { spec: { containers } } } })),
    post(jobs, object('batch/v1', 'Job', 'empty', { spec: {} })),
    post(jobs, object('batch/v1', 'Job', 'negative', { spec: { ...jobSpec, backoffLimit: -1, parallelism: -2 } })),
  ]),
  sequence('the life of a cron job', [
    post(
      cronJobs,
      object('batch/v1', 'CronJob', 'nightly', { spec: { schedule: '0 3 * * *', jobTemplate: { spec: jobSpec } } }),
    ),
    get(`${cronJobs}/nightly`),
    put(
      `${cronJobs}/nightly`,
      object('batch/v1', 'CronJob', 'nightly', {
        spec: { schedule: '@daily', suspend: true, concurrencyPolicy: 'Forbid', jobTemplate: { spec: jobSpec } },
      }),
    ),
    get(cronJobs),
    del(`${cronJobs}/nightly`),
  ]),
  sequence('wrong cron jobs', [
    post(
      cronJobs,
      object('batch/v1', 'CronJob', 'schedule', { spec: { schedule: 'now', jobTemplate: { spec: jobSpec } } }),
    ),
    post(cronJobs, object('batch/v1', 'CronJob', 'none', { spec: { jobTemplate: { spec: jobSpec } } })),
    post(
      cronJobs,
      object('batch/v1', 'CronJob', 'policy', {
        spec: { schedule: '@daily', concurrencyPolicy: 'Maybe', jobTemplate: { spec: jobSpec } },
      }),
    ),
  ]),
];
