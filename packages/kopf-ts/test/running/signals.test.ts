import { describe, expect, it } from 'vitest';
import { runIn } from '../../src/running/run.js';
import { fakeHost, running } from './fake-host.js';

describe('a signal of the process', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('%s stops the operator, which is a success', async (name) => {
    const { host, reasons, code } = running();
    host.send(name);
    expect(await code).toBe(0);
    expect(reasons).toEqual([name]);
    expect(host.exits).toEqual([]);
  });

  it.each([
    ['SIGINT', 'SIGINT', 130],
    ['SIGINT', 'SIGTERM', 143],
    ['SIGTERM', 'SIGTERM', 143],
    ['SIGTERM', 'SIGINT', 130],
  ] as const)('%s and then %s ends the process at once with the code %s', async (one, two, expected) => {
    const { host, logger, clock, code } = running({ isObedient: false });
    host.send(one);
    await clock.settle();
    expect(host.exits).toEqual([]);
    host.send(two);
    expect(host.exits).toEqual([expected]);
    expect(await code).toBe(expected);
    expect(logger.messages('warn')).toEqual([`Signal ${two} is received again. Exiting at once.`]);
  });

  it('is left to the process again when the operator has ended', async () => {
    const { host, clock, end, code } = running();
    expect(host.listeners).toBe(1);
    end();
    await code;
    expect(host.listeners).toBe(0);
    expect(clock.sleepers).toBe(0);
  });

  it('is left to the process again when the operator cannot even be started', async () => {
    const host = fakeHost();
    const { clock, logger, settings } = running();
    const start = () => {
      throw new TypeError('bad options');
    };
    expect(await runIn(host, start, { clock, logger, settings })).toBe(1);
    expect(logger.messages('error')).toEqual(['The operator failed: bad options']);
    expect(host.listeners).toBe(0);
  });

  it('does not come to where there are none, and that is warned of', async () => {
    const { host, logger, end, code } = running({ host: fakeHost({ hasSignals: false }) });
    expect(host.listeners).toBe(0);
    expect(logger.messages('warn')).toEqual(['OS signals are ignored: the operator does not run in the main thread.']);
    end();
    expect(await code).toBe(0);
  });
});

describe('an operator that does not stop', () => {
  it('is ended by force when its time is over, and it is told what it was waiting for', async () => {
    const host = fakeHost({ pending: ['Timeout', 'TCPSocketWrap', 'Timeout'] });
    const { clock, logger, code } = running({ host, isObedient: false });
    host.send('SIGTERM');
    await clock.advance(25.9);
    expect(host.exits).toEqual([]);
    await clock.advance(0.1);
    expect(host.exits).toEqual([1]);
    expect(await code).toBe(1);
    expect(logger.messages('error')).toEqual([
      'The operator did not stop within 25 seconds; forcing the process to exit. Still pending: Timeout (2), TCPSocketWrap.',
    ]);
  });

  it('has the time that the settings give it at that moment', async () => {
    const { host, clock, settings } = running({ isObedient: false });
    settings.process.ultimateExitingTimeout = 100;
    host.send('SIGTERM');
    await clock.advance(100.9);
    expect(host.exits).toEqual([]);
    await clock.advance(0.1);
    expect(host.exits).toEqual([1]);
  });

  it('is waited for, if the settings say so', async () => {
    const { host, clock, settings, end, code } = running({ isObedient: false });
    settings.process.ultimateExitingTimeout = undefined;
    host.send('SIGTERM');
    await clock.advance(1_000_000);
    expect(host.exits).toEqual([]);
    end();
    expect(await code).toBe(0);
  });

  it('is not ended by force if it was not a signal that stopped it', async () => {
    const controller = new AbortController();
    const { host, clock, reasons } = running({ isObedient: false, signal: controller.signal });
    controller.abort('enough');
    await clock.advance(1_000_000);
    expect(reasons).toEqual(['enough']);
    expect(host.exits).toEqual([]);
  });
});
