import type { AnyObject, Mapping } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { formatIndexes, parseIndexes } from '../../src/simulation/batch/job-indexes.js';
import { scheduleOf } from '../../src/simulation/batch/schedules.js';
import { condition, type Stage, stage, template } from './stage.js';

const PREFIX = 'simulation.kopf-ts.dev';
const JOB = 'jobs/default/task';
const jobSpec = (spec: Mapping = {}, annotations: Record<string, string> = {}): Mapping => ({
  template: template('task', { restartPolicy: 'Never' }, annotations),
  ...spec,
});
const job = (spec: Mapping = {}, annotations: Record<string, string> = {}): AnyObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'task', namespace: 'default' },
  spec: jobSpec(spec, annotations),
});
const FAILING = { [`${PREFIX}/exit-code`]: '1' };
const types = (here: Stage): readonly string[] =>
  (here.get(JOB).status.conditions ?? []).map((one: { type: string; status: string }) => `${one.type}=${one.status}`);

describe('a job', () => {
  it('is complete when enough pods have succeeded', async () => {
    await using here = await stage();
    await here.create(job({ completions: 3, parallelism: 2 }));
    expect(here.get(JOB).status).toEqual({
      active: 2,
      ready: 0,
      startTime: '2020-01-01T00:00:00Z',
      terminating: 0,
      uncountedTerminatedPods: {},
    });
    const [pod] = here.list('pods');
    expect(pod.metadata.finalizers).toEqual(['batch.kubernetes.io/job-tracking']);
    await here.pass(1);
    expect(here.get(JOB).status.ready).toBe(2);
    await here.pass(1);
    expect(here.get(JOB).status).toMatchObject({ active: 1, succeeded: 2 });
    await here.pass(2);
    expect(here.get(JOB).status).toMatchObject({ succeeded: 3, completionTime: '2020-01-01T00:00:04Z', ready: 0 });
    expect(here.get(JOB).status.active).toBeUndefined();
    expect(types(here)).toEqual(['SuccessCriteriaMet=True', 'Complete=True']);
    expect(here.list('pods').flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
    expect(here.list('pods')).toHaveLength(3);
    expect(here.clock.sleepers).toBe(0);
  });

  it('without a number of completions is complete with one success, when the others have ended', async () => {
    await using here = await stage();
    await here.create(job({ parallelism: 2 }));
    await here.pass(1);
    const [first, second] = here.list('pods').map(({ metadata }) => metadata.name);
    here.cluster.simulation.behave({ name: second }, { finishAfter: 10 });
    await here.pass(2);
    expect(here.get(`pods/default/${first}`).status.phase).toBe('Succeeded');
    expect(here.get(JOB).status).toMatchObject({ active: 1, succeeded: 1 });
    await here.pass(10);
    expect(here.get(JOB).status.succeeded).toBe(2);
    expect(types(here)).toContain('Complete=True');
  });

  it('fails when too many pods have failed, which come later and later', async () => {
    await using here = await stage();
    await here.create(job({ backoffLimit: 2 }, FAILING));
    await here.pass(2);
    expect(here.get(JOB).status).toMatchObject({ failed: 1 });
    await here.pass(9);
    expect(here.list('pods')).toHaveLength(1);
    await here.pass(1);
    expect(here.list('pods')).toHaveLength(2);
    await here.pass(2 + 19);
    expect(here.list('pods')).toHaveLength(2);
    await here.pass(3);
    expect(here.list('pods')).toHaveLength(3);
    await here.pass(3);
    expect(condition(here.get(JOB), 'Failed')).toMatchObject({
      status: 'True',
      reason: 'BackoffLimitExceeded',
      message: 'Job has reached the specified backoff limit',
    });
    expect(here.get(JOB).status).toMatchObject({ failed: 3 });
    expect(types(here)).toEqual(['FailureTarget=True', 'Failed=True']);
  });

  it('fails by the restarts of its pods, if these restart by themselves', async () => {
    await using here = await stage();
    const restarting = template('task', { restartPolicy: 'OnFailure' }, FAILING);
    await here.create(job({ backoffLimit: 1, template: restarting }));
    await here.pass(5);
    expect(condition(here.get(JOB), 'Failed').reason).toBe('BackoffLimitExceeded');
    expect(here.list('pods')).toEqual([]);
  });

  it('fails when its time is over, and takes its pods with it', async () => {
    await using here = await stage();
    await here.create(job({ activeDeadlineSeconds: 60 }, { [`${PREFIX}/hang`]: 'finish' }));
    await here.pass(59);
    expect(here.get(JOB).status.active).toBe(1);
    await here.pass(1);
    expect(types(here)).toEqual(['FailureTarget=True']);
    expect(here.get(JOB).status).toMatchObject({ terminating: 1 });
    await here.pass(1);
    expect(condition(here.get(JOB), 'Failed')).toMatchObject({
      reason: 'DeadlineExceeded',
      message: 'Job was active longer than specified deadline',
    });
    expect([here.list('pods'), here.get(JOB).status.failed]).toEqual([[], 1]);
  });

  it('goes some time after it has finished', async () => {
    await using here = await stage();
    await here.create(job({ ttlSecondsAfterFinished: 30 }));
    await here.pass(31);
    expect(types(here)).toContain('Complete=True');
    await here.pass(1);
    expect([here.get(JOB), here.list('pods')]).toEqual([undefined, []]);
  });

  it('has no pods while it is suspended, and none of them has failed', async () => {
    await using here = await stage();
    await here.create(job({ suspend: true }, { [`${PREFIX}/finish-after`]: '10' }));
    await here.pass(5);
    expect([here.list('pods'), types(here)]).toEqual([[], ['Suspended=True']]);
    expect(here.get(JOB).status.startTime).toBeUndefined();
    await here.cluster.patch(JOB, { spec: { suspend: false } });
    await here.pass(2);
    expect([here.get(JOB).status.ready, types(here)]).toEqual([1, ['Suspended=False']]);
    expect(here.get(JOB).status.startTime).toBe('2020-01-01T00:00:05Z');
    await here.cluster.patch(JOB, { spec: { suspend: true } });
    await here.pass(2);
    expect(here.list('pods')).toEqual([]);
    expect(here.get(JOB).status).toMatchObject({ ready: 0, terminating: 0 });
    expect(here.get(JOB).status.failed).toBeUndefined();
    await here.cluster.patch(JOB, { spec: { suspend: false } });
    await here.pass(12);
    expect(types(here)).toContain('Complete=True');
  });

  it('with indexes has one success for each', async () => {
    await using here = await stage();
    const rule = here.cluster.simulation.behave({ name: 'task-1-*' }, { exitCode: 1 });
    await here.create(job({ completions: 4, parallelism: 3, completionMode: 'Indexed' }));
    const [pod] = here.list('pods');
    expect(pod.metadata.name).toMatch(/^task-0-/);
    expect(pod.metadata.labels['batch.kubernetes.io/job-completion-index']).toBe('0');
    expect(pod.spec.hostname).toBe('task-0');
    expect(pod.spec.containers[0].env[0].name).toBe('JOB_COMPLETION_INDEX');
    await here.pass(2);
    expect(here.get(JOB).status).toMatchObject({ completedIndexes: '0,2', succeeded: 2, failed: 1 });
    rule.remove();
    await here.pass(30);
    expect(here.get(JOB).status).toMatchObject({ completedIndexes: '0-3', succeeded: 4, failed: 1 });
    expect(types(here)).toContain('Complete=True');
  });

  it('counts each pod once, even if somebody deletes it', async () => {
    await using here = await stage();
    await here.create(job({ completions: 2, parallelism: 2 }, { [`${PREFIX}/finish-after`]: '5' }));
    await here.pass(1);
    const [first] = here.list('pods');
    await here.cluster.delete(`pods/default/${first.metadata.name}`);
    await here.pass(2);
    expect(here.get(JOB).status).toMatchObject({ failed: 1 });
    await here.pass(60);
    expect(here.get(JOB).status).toMatchObject({ failed: 1, succeeded: 2 });
  });

  it('writes indexes as ranges', () => {
    for (const text of ['', '0', '0,1', '0-2', '1,3-5,7,8', '0-100'])
      expect(formatIndexes(parseIndexes(text))).toBe(text);
  });
});

describe('a cron job', () => {
  const CRON = 'cronjobs/default/task';
  const cronJob = (spec: Mapping = {}, annotations: Record<string, string> = {}): AnyObject => ({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'task', namespace: 'default' },
    spec: { schedule: '*/5 * * * *', jobTemplate: { spec: jobSpec({}, annotations) }, ...spec },
  });
  const slow = { [`${PREFIX}/finish-after`]: '400' };
  const jobs = (here: Stage): readonly string[] => here.list('jobs').map(({ metadata }) => metadata.name.slice(5));

  it('makes jobs at its times, and keeps some of them', async () => {
    await using here = await stage();
    await here.create(cronJob({ successfulJobsHistoryLimit: 2 }));
    await here.pass(299);
    expect(jobs(here)).toEqual([]);
    await here.pass(1);
    expect(jobs(here)).toEqual(['26297285']);
    const [first] = here.list('jobs');
    expect(first.metadata.annotations).toEqual({
      'batch.kubernetes.io/cronjob-scheduled-timestamp': '2020-01-01T00:05:00Z',
    });
    expect(here.get(CRON).status).toMatchObject({
      active: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'task-26297285', uid: first.metadata.uid }],
      lastScheduleTime: '2020-01-01T00:05:00Z',
    });
    await here.pass(2);
    expect(here.get(CRON).status).toEqual({
      lastScheduleTime: '2020-01-01T00:05:00Z',
      lastSuccessfulTime: '2020-01-01T00:05:02Z',
    });
    await here.pass(1198);
    await here.pass(10);
    expect(jobs(here)).toEqual(['26297300', '26297305']);
  });

  it.each([
    ['Allow', ['26297285', '26297290', '26297295']],
    ['Forbid', ['26297285', '26297290']],
    ['Replace', ['26297295']],
  ])('with the concurrency policy %s', async (concurrencyPolicy, expected) => {
    await using here = await stage();
    await here.create(cronJob({ concurrencyPolicy }, slow));
    await here.pass(910);
    expect(jobs(here)).toEqual(expected);
  });

  it('does nothing while it is suspended, and makes up for one time at most', async () => {
    await using here = await stage();
    await here.create(cronJob({ suspend: true }));
    await here.pass(3000);
    expect(jobs(here)).toEqual([]);
    await here.cluster.patch(CRON, { spec: { suspend: false } });
    await here.pass(0);
    expect(jobs(here)).toEqual(['26297330']);
    await here.cluster.patch(CRON, { spec: { suspend: true, startingDeadlineSeconds: 10 } });
    await here.pass(320);
    await here.cluster.patch(CRON, { spec: { suspend: false } });
    await here.pass(0);
    expect(jobs(here)).toEqual(['26297330']);
  });

  it.each([
    ['*/15 * * * *', 'UTC', ['2020-01-01T00:15', '2020-01-01T00:30']],
    ['30 4 1,15 * 5', 'UTC', ['2020-01-01T04:30', '2020-01-03T04:30', '2020-01-10T04:30', '2020-01-15T04:30']],
    ['0 0 29 feb *', 'UTC', ['2020-02-29T00:00', '2024-02-29T00:00']],
    ['0 9-17/4 * * mon-fri', 'UTC', ['2020-01-01T09:00', '2020-01-01T13:00', '2020-01-01T17:00', '2020-01-02T09:00']],
    ['@weekly', 'UTC', ['2020-01-05T00:00', '2020-01-12T00:00']],
    ['@every 90m', 'UTC', ['2020-01-01T01:30', '2020-01-01T03:00']],
    ['0 6 * * *', 'America/New_York', ['2020-01-01T11:00', '2020-01-02T11:00']],
    ['0 0 30 2 *', 'UTC', []],
  ])('is due by %s in %s', (schedule, zone, expected) => {
    const next = scheduleOf(schedule, zone);
    const times: string[] = [];
    let time: number | undefined = Date.parse('2020-01-01T00:00:00Z');
    for (let count = 0; count < Math.max(1, expected.length); count++) {
      time = next(time as number);
      if (time !== undefined) times.push(new Date(time).toISOString().slice(0, 16));
    }
    expect(times).toEqual(expected);
  });

  it('is due once a day when clocks change, or not at all at times that do not exist', () => {
    const next = scheduleOf('30 2 * * *', 'America/New_York');
    // On the 8th of March 2020, there was no half past two.
    const before = Date.parse('2020-03-07T12:00:00Z');
    expect(new Date(next(before) as number).toISOString()).toBe('2020-03-09T06:30:00.000Z');
  });
});
