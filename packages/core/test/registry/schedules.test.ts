import { describe, expect, it } from 'vitest';
import { createRegistry } from '../../src/intents/registration/registry.js';

const declare = (options: object): unknown => createRegistry().timer('kopfexamples', { id: 't', ...options }, () => {});

describe('A schedule', () => {
  it.each([
    '* * * * *',
    '*/5 * * * *',
    '0 0,12 1-15/2 JAN-mar MON',
    '30 4 L * ?',
    '0 9 15W * *',
    '0 0 * * 5#2',
    '0 0 * * FRIL',
    '0 0 * * 7',
    '15 30 2 * * *',
    '  @daily ',
    '0 0 29 2 *',
    '0 0 31 */2 *',
    '0 0 30 2 MON',
    '0 0 L 2 *',
    '0 0 */15 FEB-MAR *',
  ])('is accepted: %s', (schedule) => {
    const registry = createRegistry();
    registry.timer('kopfexamples', { id: 't', schedule, timeZone: 'Europe/Berlin', missed: 'once' }, () => {});
    expect([...registry.handlers.spawning]).toMatchObject([{ schedule, timeZone: 'Europe/Berlin', missed: 'once' }]);
  });

  it.each([
    ['* * * *', 'it has 4 fields; five are needed: minute, hour, day, month, weekday'],
    ['', 'it has 0 fields'],
    ['60 * * * *', "'60' cannot be the minute, which is from 0 to 59"],
    ['* 24 * * *', "'24' cannot be the hour"],
    ['* * 0 * *', "'0' cannot be the day of the month"],
    ['* * * 13 *', "'13' cannot be the month"],
    ['* * * * FOO', "'FOO' cannot be the day of the week"],
    ['*/0 * * * *', "'*/0' cannot be the minute"],
    ['5-1 * * * *', "'5-1' goes backwards in the minute"],
    ['1-2-3 * * * *', "'1-2-3' cannot be the minute"],
    ['1/2/3 * * * *', "'1/2/3' cannot be the minute"],
    ['1, * * * *', "'' cannot be the minute"],
    ['TZ=UTC * * * * *', "'TZ=UTC' cannot be the second"],
    ['0 0 30 2 *', 'there is no day 30 in month 2, so it never occurs'],
    ['0 0 31 2,4,6,9,11 *', 'there is no day 31 in month 2,4,6,9,11'],
    ['0 0 0 30-31 FEB ?', 'there is no day 30 in month FEB'],
    ['@reboot', "there is no '@reboot'; known: @yearly"],
  ])('is refused where it is declared: %s', (schedule, message) => {
    expect(() => declare({ schedule })).toThrow(`timer('kopfexamples') of t: the schedule ${JSON.stringify(schedule)}`);
    expect(() => declare({ schedule })).toThrow(message);
  });

  it.each([
    [{ schedule: 5 }, 'the schedule 5 is invalid: it is not a string'],
    [{ schedule: '@daily', interval: 5 }, 'choose either schedule or interval'],
    [{ schedule: '@daily', idle: 5 }, 'choose either schedule or idle'],
    [{ schedule: '@daily', sharp: true }, 'choose either schedule or sharp'],
    [{ schedule: '@daily', timeZone: 'Europe/Berln' }, 'there is no time zone "Europe/Berln"; use a name such as'],
    [{ schedule: '@daily', missed: 'all' }, "missed must be 'skip' or 'once', not \"all\""],
    [{ timeZone: 'UTC', interval: 5 }, 'timeZone needs a schedule: add one'],
    [{ missed: 'once' }, 'missed needs a schedule: add one'],
  ])('does not go with other things: %j', (options, message) => {
    expect(() => declare(options)).toThrow(message);
  });
});
