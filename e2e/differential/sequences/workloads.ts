import { del, get, mergePatch, post, prepare, put, type Sequence, sequence } from '../harness/sequence.js';
import { containers, deployment, deployments, type Fields, inNamespace, object, workloadSpec } from './objects.js';

const replicaSets = inNamespace('replicasets', 'apps/v1');
const statefulSets = inNamespace('statefulsets', 'apps/v1');
const daemonSets = inNamespace('daemonsets', 'apps/v1');
const revisions = inNamespace('controllerrevisions', 'apps/v1');
const jobs = inNamespace('jobs', 'batch/v1');
const cronJobs = inNamespace('cronjobs', 'batch/v1');

const jobSpec = { template: { spec: { containers, restartPolicy: 'Never' } } };
const job = (name: string, spec: Fields = {}) => object('batch/v1', 'Job', name, { spec: { ...jobSpec, ...spec } });
const startTime = '2020-01-01T00:00:00Z';
const yes = (type: string) => ({ type, status: 'True', lastTransitionTime: startTime });
const cronJob = (name: string, spec: Fields = {}) =>
  object('batch/v1', 'CronJob', name, { spec: { schedule: '0 3 * * *', jobTemplate: { spec: jobSpec }, ...spec } });
const statefulSet = (name: string, spec: Fields = {}) =>
  object('apps/v1', 'StatefulSet', name, { spec: { ...workloadSpec, serviceName: 'db', ...spec } });
const daemonSet = (name: string, spec: Fields = {}) =>
  object('apps/v1', 'DaemonSet', name, { spec: { ...workloadSpec, ...spec } });
const claim = (name: string) => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});

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
  sequence('claims of stateful sets', [
    post(statefulSets, statefulSet('kept', { volumeClaimTemplates: [claim('data')] })),
    post(
      statefulSets,
      statefulSet('gone', {
        volumeClaimTemplates: [claim('data'), claim('logs')],
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' },
      }),
    ),
    post(statefulSets, statefulSet('wrong', { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Maybe' } })),
    mergePatch(`${statefulSets}/kept`, { spec: { volumeClaimTemplates: [claim('other')] } }),
    mergePatch(`${statefulSets}/kept`, {
      spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Delete' } },
    }),
  ]),
  sequence('what stateful sets may change', [
    prepare(post(statefulSets, statefulSet('db'))),
    mergePatch(`${statefulSets}/db`, { spec: { podManagementPolicy: 'Parallel' } }),
    mergePatch(`${statefulSets}/db`, { spec: { replicas: 3, minReadySeconds: 5, ordinals: { start: 2 } } }),
    mergePatch(`${statefulSets}/db`, { spec: { updateStrategy: { rollingUpdate: { partition: 1 } } } }),
    mergePatch(`${statefulSets}/db`, { spec: { revisionHistoryLimit: 2 } }),
    mergePatch(`${statefulSets}/db`, { spec: { template: { spec: { terminationGracePeriodSeconds: 3 } } } }),
    get(`${statefulSets}/db`),
  ]),
  sequence('wrong stateful sets', [
    post(statefulSets, statefulSet('policy', { podManagementPolicy: 'Both' })),
    post(statefulSets, statefulSet('negative', { replicas: -1, minReadySeconds: -2, revisionHistoryLimit: -3 })),
    post(statefulSets, statefulSet('ordinals', { ordinals: { start: -1 } })),
    post(statefulSets, statefulSet('strategy', { updateStrategy: { type: 'Recreate' } })),
    post(statefulSets, statefulSet('partition', { updateStrategy: { rollingUpdate: { partition: -1 } } })),
    post(statefulSets, statefulSet('both', { updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } })),
  ]),
  sequence('strategies of daemon sets', [
    post(daemonSets, daemonSet('manual', { updateStrategy: { type: 'OnDelete' } })),
    post(daemonSets, daemonSet('surge', { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } })),
    post(daemonSets, daemonSet('none', { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } })),
    post(daemonSets, daemonSet('both', { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } })),
    post(daemonSets, daemonSet('wrong', { updateStrategy: { type: 'Recreate' } })),
    mergePatch(`${daemonSets}/manual`, { spec: { template: { metadata: { annotations: { changed: 'yes' } } } } }),
    mergePatch(`${daemonSets}/manual`, {
      spec: { selector: { matchLabels: { app: 'other' } }, template: { metadata: { labels: { app: 'other' } } } },
    }),
  ]),
  sequence('jobs with indexes', [
    post(jobs, job('indexed', { completionMode: 'Indexed', completions: 3, parallelism: 2 })),
    post(jobs, job('endless', { completionMode: 'Indexed' })),
    post(jobs, job('perindex', { completionMode: 'Indexed', completions: 3, backoffLimitPerIndex: 1 })),
    post(jobs, job('noindex', { completions: 3, backoffLimitPerIndex: 1 })),
    post(jobs, job('many', { completionMode: 'Indexed', completions: 200000, parallelism: 100001 })),
    post(jobs, job('mode', { completionMode: 'Numbered' })),
    mergePatch(`${jobs}/indexed`, { spec: { completions: 5, parallelism: 5 } }),
    mergePatch(`${jobs}/indexed`, { spec: { completions: 5 } }),
  ]),
  sequence('what jobs may change', [
    prepare(post(jobs, job('a', { completions: 2, parallelism: 1 }))),
    mergePatch(`${jobs}/a`, { spec: { parallelism: 4, ttlSecondsAfterFinished: 60, activeDeadlineSeconds: 90 } }),
    mergePatch(`${jobs}/a`, { spec: { suspend: true } }),
    mergePatch(`${jobs}/a`, { spec: { completions: 9 } }),
    mergePatch(`${jobs}/a`, { spec: { completionMode: 'Indexed' } }),
    mergePatch(`${jobs}/a`, { spec: { backoffLimit: 1 } }),
    get(`${jobs}/a`),
  ]),
  sequence('policies of jobs', [
    post(
      jobs,
      job('failures', {
        podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [3, 4] } }] },
      }),
    ),
    post(jobs, job('empty', { podFailurePolicy: { rules: [{ action: 'Ignore' }] } })),
    post(
      jobs,
      job('codes', {
        podFailurePolicy: { rules: [{ action: 'Count', onExitCodes: { operator: 'In', values: [0, 3, 3] } }] },
      }),
    ),
    post(jobs, job('replaced', { podReplacementPolicy: 'Failed' })),
    post(jobs, job('wrong', { podReplacementPolicy: 'Never' })),
    post(jobs, job('managed', { managedBy: 'example.com/controller' })),
    post(jobs, job('unmanaged', { managedBy: 'nobody' })),
  ]),
  sequence('times of cron jobs', [
    post(cronJobs, cronJob('zone', { timeZone: 'Europe/Vienna' })),
    post(cronJobs, cronJob('nowhere', { timeZone: 'Europe/Nowhere' })),
    post(cronJobs, cronJob('local', { timeZone: 'Local' })),
    post(cronJobs, cronJob('inside', { schedule: 'TZ=UTC 0 3 * * *' })),
    post(cronJobs, cronJob('late', { startingDeadlineSeconds: -1 })),
    post(cronJobs, cronJob('history', { successfulJobsHistoryLimit: -1, failedJobsHistoryLimit: -2 })),
    post(cronJobs, cronJob('n'.repeat(53), {})),
  ]),
  sequence('what the status of a job may say', [
    prepare(post(jobs, job('a', { completions: 1 }))),
    ...[
      { conditions: [yes('Complete')] },
      { conditions: [yes('Complete'), yes('SuccessCriteriaMet')], startTime, completionTime: '2019-01-01T00:00:00Z' },
      { conditions: [yes('Failed')], startTime, active: 1 },
      { completionTime: startTime },
      { active: 1, ready: 2 },
      { active: -1, uncountedTerminatedPods: { succeeded: ['x', ''], failed: ['x'] } },
      { completedIndexes: '0', failedIndexes: '0' },
      { startTime, failed: 1, conditions: [yes('FailureTarget')] },
      { startTime: null, failed: 0, conditions: [] },
      { conditions: [yes('FailureTarget'), yes('Failed')] },
    ].map((status) => mergePatch(`${jobs}/a/status`, { status })),
    put(`${jobs}/a/status`, { ...job('a'), status: { startTime, failed: 1, conditions: [yes('FailureTarget')] } }),
  ]),
];
