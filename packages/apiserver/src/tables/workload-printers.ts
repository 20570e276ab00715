/** Tables of workloads: what is in the cells after the name. */
import type { Mapping } from '@kopf-ts/core';
import {
  ageOf,
  containersCells,
  countIn,
  humanDuration,
  labelsText,
  listIn,
  mappingIn,
  NONE,
  type Printer,
  selectorText,
  since,
  textIn,
  UNSET,
} from './cells.js';

const templateCells = (spec: Mapping): readonly [string, string] =>
  containersCells(mappingIn(spec, 'template', 'spec'));

const deployment: Printer = (object, now) => {
  const [spec, status] = [mappingIn(object, 'spec'), mappingIn(object, 'status')];
  return [
    `${countIn(status, 'readyReplicas')}/${countIn(spec, 'replicas')}`,
    countIn(status, 'updatedReplicas'),
    countIn(status, 'availableReplicas'),
    ageOf(object, now),
    ...templateCells(spec),
    selectorText(mappingIn(spec, 'selector'), ''),
  ];
};

const replicas = (object: Mapping, now: Date, selector: string): readonly unknown[] => {
  const [spec, status] = [mappingIn(object, 'spec'), mappingIn(object, 'status')];
  return [
    countIn(spec, 'replicas'),
    countIn(status, 'replicas'),
    countIn(status, 'readyReplicas'),
    ageOf(object, now),
    ...templateCells(spec),
    selector,
  ];
};

const replicaSet: Printer = (object, now) => replicas(object, now, selectorText(mappingIn(object, 'spec', 'selector')));

const replicationController: Printer = (object, now) =>
  replicas(object, now, labelsText(mappingIn(object, 'spec', 'selector')));

const statefulSet: Printer = (object, now) => {
  const [spec, status] = [mappingIn(object, 'spec'), mappingIn(object, 'status')];
  return [
    `${countIn(status, 'readyReplicas')}/${countIn(spec, 'replicas')}`,
    ageOf(object, now),
    ...templateCells(spec),
  ];
};

const daemonSet: Printer = (object, now) => {
  const [spec, status] = [mappingIn(object, 'spec'), mappingIn(object, 'status')];
  return [
    countIn(status, 'desiredNumberScheduled'),
    countIn(status, 'currentNumberScheduled'),
    countIn(status, 'numberReady'),
    countIn(status, 'updatedNumberScheduled'),
    countIn(status, 'numberAvailable'),
    labelsText(mappingIn(spec, 'template', 'spec', 'nodeSelector')),
    ageOf(object, now),
    ...templateCells(spec),
    selectorText(mappingIn(spec, 'selector')),
  ];
};

/** The first of these conditions that is met says how a job is doing. */
const JOB_STATES: readonly (readonly [condition: string, state: string])[] = [
  ['Complete', 'Complete'],
  ['Failed', 'Failed'],
];
const JOB_ENDINGS = ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'];

const job: Printer = (object, now) => {
  const [spec, status] = [mappingIn(object, 'spec'), mappingIn(object, 'status')];
  const parallel = countIn(spec, 'parallelism');
  const done = countIn(status, 'succeeded');
  const of = spec.completions === undefined ? (parallel > 1 ? `1 of ${parallel}` : '1') : countIn(spec, 'completions');
  const { startTime, completionTime } = status;
  const end = completionTime === undefined ? now : new Date(String(completionTime));
  return [
    jobState(object),
    `${done}/${of}`,
    startTime === undefined ? '' : humanDuration(Math.floor((end.getTime() - Date.parse(String(startTime))) / 1000)),
    ageOf(object, now),
    ...templateCells(spec),
    selectorText(mappingIn(spec, 'selector')),
  ];
};

function jobState(object: Mapping): string {
  const conditions = listIn(object, 'status', 'conditions');
  const isTrue = (type: string): boolean => conditions.some((one) => one.type === type && one.status === 'True');
  const finished = JOB_STATES.find(([condition]) => isTrue(condition));
  if (finished !== undefined) return finished[1];
  if (mappingIn(object, 'metadata').deletionTimestamp !== undefined) return 'Terminating';
  return JOB_ENDINGS.find(isTrue) ?? 'Running';
}

const cronJob: Printer = (object, now) => {
  const [spec, status] = [mappingIn(object, 'spec'), mappingIn(object, 'status')];
  const template = mappingIn(spec, 'jobTemplate', 'spec');
  return [
    textIn(spec, 'schedule'),
    textIn(spec, 'timeZone', NONE),
    spec.suspend === undefined ? UNSET : spec.suspend === true ? 'True' : 'False',
    listIn(status, 'active').length,
    since(status.lastScheduleTime, now, NONE),
    ageOf(object, now),
    ...templateCells(template),
    selectorText(mappingIn(template, 'selector')),
  ];
};

const controllerRevision: Printer = (object, now) => {
  const owner = listIn(object, 'metadata', 'ownerReferences').find((one) => one.controller === true);
  const group = textIn(owner, 'apiVersion').includes('/') ? `.${textIn(owner, 'apiVersion').split('/')[0]}` : '';
  return [
    owner === undefined ? NONE : `${textIn(owner, 'kind').toLowerCase()}${group}/${textIn(owner, 'name')}`,
    countIn(object, 'revision'),
    ageOf(object, now),
  ];
};

export const workloadPrinters: Readonly<Record<string, Printer>> = {
  'apps.ControllerRevision': controllerRevision,
  'apps.DaemonSet': daemonSet,
  'apps.Deployment': deployment,
  'apps.ReplicaSet': replicaSet,
  'apps.StatefulSet': statefulSet,
  'batch.CronJob': cronJob,
  'batch.Job': job,
  'core.ReplicationController': replicationController,
};
