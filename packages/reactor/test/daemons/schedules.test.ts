import { createRegistry, PermanentError, TemporaryError } from '@kopf-ts/core';
import type { TimerHandler } from '@kopf-ts/core/engine';
import { beforeAll, describe, expect, it } from 'vitest';
import { scheduleCheck } from '../../src/daemons/schedules.js';
import { type Operated, operated } from '../support/operated.js';

beforeAll(async () => {
  // It is loaded when it is needed, and that takes real time.
  await import('../../src/daemons/calendar.js');
});

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** When the timer is called. */
async function called(operator: Operated, options: object, fn?: () => Promise<void>): Promise<string[]> {
  const calls: string[] = [];
  operator.registry.timer('kopfexamples', { id: 't', ...options }, async () => {
    calls.push(operator.clock.utc().toISOString().replace('.000Z', 'Z'));
    await fn?.();
  });
  await operator.start();
  await operator.create('one');
  return calls;
}

describe('A timer with a schedule', () => {
  it.each([
    ['*/5 * * * *', ['12:05:00', '12:10:00', '12:15:00']],
    ['0 */10 * * * *', ['12:10:00', '12:20:00', '12:30:00']],
    ['15,45 * * * * *', ['12:00:45', '12:01:15', '12:01:45']],
    ['@hourly', ['13:00:00', '14:00:00', '15:00:00']],
  ])('is called at these times: %s', async (schedule, times) => {
    await using operator = await operated({ start: '2021-06-01T12:00:30.250Z' });
    const calls = await called(operator, { schedule });
    await operator.advance(4 * HOUR);
    expect(calls.slice(0, 3)).toEqual(times.map((time) => `2021-06-01T${time}Z`));
  });

  it.each([
    { what: 'the gap of spring', start: '2021-03-27T00:00:00Z', schedule: '30 2 * * *' },
    { what: 'the second hour of autumn', start: '2021-10-30T00:00:00Z', schedule: '30 2 * * *' },
  ])('is called once a day in its time zone, through $what', async ({ start, schedule }) => {
    await using operator = await operated({ start });
    const calls = await called(operator, { schedule, timeZone: 'Europe/Berlin' });
    await operator.advance(3 * DAY);
    const spring = ['2021-03-27T01:30:00Z', '2021-03-28T01:00:00Z', '2021-03-29T00:30:00Z'];
    const autumn = ['2021-10-30T00:30:00Z', '2021-10-31T00:30:00Z', '2021-11-01T01:30:00Z'];
    expect(calls).toEqual(start.includes('-03-') ? spring : autumn);
  });

  it('is by UTC, unless told otherwise; and hours are hours when clocks are put back', async () => {
    await using operator = await operated({ start: '2021-10-30T23:30:00Z' });
    const calls = await called(operator, { schedule: '0 * * * *', timeZone: 'Europe/Berlin' });
    await operator.advance(4 * HOUR);
    expect(calls).toEqual(['00', '01', '02', '03'].map((hour) => `2021-10-31T${hour}:00:00Z`));
    await using other = await operated({ start: '2021-03-28T00:00:00Z' });
    const inUtc = await called(other, { schedule: '30 2 * * *' });
    await other.advance(DAY);
    expect(inUtc).toEqual(['2021-03-28T02:30:00Z']);
  });

  it.each([
    ['skip', ['12:05:00', '12:20:00', '12:35:00']],
    [undefined, ['12:05:00', '12:20:00', '12:35:00']],
    ['once', ['12:05:00', '12:17:00', '12:29:00', '12:41:00']],
  ])('does not catch up with what it has missed during a long call, or only once: %s', async (missed, times) => {
    await using operator = await operated({ start: '2021-06-01T12:00:00Z' });
    const work = (): Promise<void> => operator.clock.sleep(12 * MINUTE).then(() => {});
    const calls = await called(operator, { schedule: '*/5 * * * *', ...(missed && { missed }) }, work);
    await operator.advance(48 * MINUTE);
    expect(calls).toEqual(times.map((time) => `2021-06-01T${time}Z`));
  });

  it.each([
    ['skip', ['13', '14', '18']],
    ['once', ['13', '14', '17', '18']],
  ] as const)('after a suspended process: %s', async (missed, hours) => {
    let skew = 0;
    await using operator = await operated({ start: '2021-06-01T12:00:00Z', skew: () => skew });
    const calls: number[] = [];
    operator.registry.timer('kopfexamples', { id: 't', schedule: '0 * * * *', missed }, () => {
      calls.push(new Date(operator.clock.utc().getTime() + skew * 1000).getUTCHours());
    });
    await operator.start();
    await operator.create('one');
    await operator.advance(2.5 * HOUR);
    // From half past two until half past five.
    skew = 3 * HOUR;
    await operator.advance(HOUR);
    expect(calls).toEqual(hours.map(Number));
  });

  it('is tried again as any other, and goes on by the schedule', async () => {
    await using operator = await operated({ start: '2021-06-01T12:00:00Z' });
    const calls: [string, number][] = [];
    operator.registry.timer('kopfexamples', { id: 't', schedule: '0 * * * *' }, ({ retry }) => {
      calls.push([operator.clock.utc().toISOString().slice(11, 19), retry]);
      if (retry < 2) throw new TemporaryError('Not yet.', { delay: 10 });
    });
    await operator.start();
    await operator.create('one');
    await operator.advance(2 * HOUR + MINUTE);
    expect(calls).toEqual([
      ['13:00:00', 0],
      ['13:00:10', 1],
      ['13:00:20', 2],
      ['14:00:00', 0],
      ['14:00:10', 1],
      ['14:00:20', 2],
    ]);
  });

  it('stops for an object when it has failed for good, when it is never due, and when the object is deleted', async () => {
    await using operator = await operated({ start: '2021-06-01T12:00:00Z' });
    const calls: string[] = [];
    const { timer } = operator.registry;
    timer('kopfexamples', { id: 'bad', schedule: '0 * * * *' }, () => {
      calls.push('bad');
      throw new PermanentError('Never.');
    });
    // It cannot be declared so; but not all that never come can be told from the others.
    const [declared] = operator.registry.handlers.spawning;
    const never = { id: 'never', schedule: '0 0 31 2 *', fn: () => void calls.push('never') };
    operator.registry.handlers.spawning.add({ ...declared, ...never } as TimerHandler);
    timer('kopfexamples', { id: 'good', schedule: '0 * * * *' }, () => void calls.push('good'));
    await operator.start();
    await operator.create('one');
    await operator.advance(2.5 * HOUR);
    expect(calls.toSorted()).toEqual(['bad', 'good', 'good']);
    await operator.remove('one');
    await operator.advance(3 * HOUR);
    expect(calls).toHaveLength(3);
    expect(operator.clock.sleepers).toBeLessThan(10);
    expect(operator.patches.filter(({ body }) => JSON.stringify(body).includes('status'))).toEqual([]);
  });
});

describe('When the operator starts', () => {
  it('schedules that nobody understands are told with their timers', async () => {
    const registry = createRegistry();
    const broken = { kind: 'timer', id: 'odd', fn: () => {}, param: undefined, schedule: '61 * * * *' } as TimerHandler;
    registry.handlers.spawning.add(broken);
    await expect(scheduleCheck({ registry }).run(AbortSignal.timeout(1))).rejects.toThrow(
      "Timer 'odd' has a schedule that cannot be understood, '61 * * * *' in UTC: ",
    );
  });
});
