import {
  ActivityError,
  apiError,
  settings as defaultSettings,
  KopfError,
  LoginError,
  type Service,
} from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Plan, supervise } from '../../src/running/supervisor.js';

/** Everything that happens, in order: in the plan, as told by the plan itself. */
function supervising(changes: (told: string[]) => Partial<Plan> = () => ({}), signal?: AbortSignal) {
  const [clock, logger, settings] = [manualClock(), recordingLogger(), defaultSettings()];
  const told: string[] = [];
  const plan: Plan = {
    startup: async () => void told.push('startup'),
    underlying: [obedient('logins', told)],
    services: [obedient('watchers', told), obedient('killer', told)],
    cleanup: async () => void told.push('cleanup'),
    dispose: () => void told.push('dispose'),
    ...changes(told),
  };
  const operator = supervise(plan, { logger, settings, clock, signal });
  return { operator, clock, logger, settings, told };
}

/** Runs until told to end, and ends as most do: with the reason. */
function obedient(name: string, told: string[]): Service {
  return {
    name,
    run: (signal) => {
      told.push(`${name} begin`);
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          told.push(`${name} end`);
          reject(signal.reason);
        });
      });
    },
  };
}

/** Ends when told by the test. */
function manual(name: string) {
  let [end, fail] = [(): void => {}, (_error: unknown): void => {}];
  let signal: AbortSignal | undefined;
  const service: Service = {
    name,
    run: (given) => {
      signal = given;
      return new Promise((resolve, reject) => {
        end = resolve;
        fail = reject;
      });
    },
  };
  return { service, end: () => end(), fail: (error: unknown) => fail(error), isAborted: () => signal?.aborted };
}

/** What has become of the promise so far. */
function watched(promise: Promise<void>): { state: 'pending' | 'resolved' | 'rejected'; error?: unknown } {
  const seen: ReturnType<typeof watched> = { state: 'pending' };
  promise.then(
    () => Object.assign(seen, { state: 'resolved' }),
    (error: unknown) => Object.assign(seen, { state: 'rejected', error }),
  );
  return seen;
}

const unhandled: unknown[] = [];
const onUnhandled = (error: unknown): void => void unhandled.push(error);
beforeEach(() => void process.on('unhandledRejection', onUnhandled));
afterEach(() => {
  process.off('unhandledRejection', onUnhandled);
  expect(unhandled.splice(0)).toEqual([]);
});

describe('the life of an operator', () => {
  it('goes in order: startup, services; stopping: services, credentials, cleanup, disposal', async () => {
    const { operator, told } = supervising();
    await operator.ready;
    expect(told).toEqual(['startup', 'logins begin', 'watchers begin', 'killer begin']);
    told.length = 0;
    await operator.stop();
    expect(told).toEqual(['watchers end', 'killer end', 'logins end', 'cleanup', 'dispose']);
  });

  it('begins nothing before the startup is over', async () => {
    const startup = manual('startup');
    const { operator, told, clock } = supervising(() => ({ startup: startup.service.run }));
    const ready = watched(operator.ready);
    await clock.advance(1000);
    expect([told, ready.state]).toEqual([[], 'pending']);
    startup.end();
    await operator.ready;
    expect(told).toEqual(['logins begin', 'watchers begin', 'killer begin']);
    await operator.stop();
  });

  it('is ready only when the work has begun', async () => {
    const working = manual('working');
    const { operator, clock } = supervising(() => ({ working: working.service.run }));
    const ready = watched(operator.ready);
    await clock.settle();
    expect(ready.state).toBe('pending');
    working.end();
    await clock.settle();
    expect(ready.state).toBe('resolved');
    await operator.stop();
  });

  it('fails if the work cannot begin', async () => {
    const { operator, told, logger } = supervising(() => ({ working: () => Promise.reject(new Error('no way')) }));
    await expect(operator.ready).rejects.toThrow('no way');
    await expect(operator.done).rejects.toThrow('no way');
    expect(told.slice(-2)).toEqual(['cleanup', 'dispose']);
    expect(logger.messages('error')).toEqual(['The operator has failed to begin its work: no way']);
  });

  it('lets those live through all of it who are there for all of it', async () => {
    const { operator, told } = supervising((told) => ({ lifelong: [obedient('listener', told)] }));
    await operator.ready;
    expect(told.slice(0, 2)).toEqual(['listener begin', 'startup']);
    await operator.stop();
    expect(told.slice(-3)).toEqual(['cleanup', 'listener end', 'dispose']);
  });

  it('cancels services only when their turn comes', async () => {
    const [watchers, logins] = [manual('watchers'), manual('logins')];
    const { operator, clock, told } = supervising(() => ({
      services: [watchers.service],
      underlying: [logins.service],
    }));
    await operator.ready;
    void operator.stop();
    await clock.settle();
    expect([watchers.isAborted(), logins.isAborted()]).toEqual([true, false]);
    watchers.end();
    await clock.settle();
    expect([logins.isAborted(), told.includes('cleanup')]).toEqual([true, false]);
    logins.end();
    await operator.done;
    expect(told).toContain('cleanup');
  });

  it('is stopped at the end of its scope', async () => {
    let told: string[];
    {
      const started = supervising();
      await using _operator = started.operator;
      told = started.told;
      await started.operator.ready;
    }
    expect(told.at(-1)).toBe('dispose');
  });

  it('leaves nothing behind: neither sleepers nor listeners', async () => {
    const controller = new AbortController();
    let added = 0;
    const { signal } = controller;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      added += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      added -= 1;
      remove(...args);
    };
    const { operator, clock } = supervising(undefined, signal);
    await operator.ready;
    expect(added).toBe(1);
    await operator.stop();
    expect([added, clock.sleepers]).toEqual([0, 0]);
  });
});

describe('stopping', () => {
  it.each([
    ['nothing', undefined, 'Stop-flag is raised. Operator is stopping.'],
    ['null', null, 'Stop-flag is raised. Operator is stopping.'],
    ['a value', 'lunch time', 'Stop-flag is set to lunch time. Operator is stopping.'],
    ['a yes', true, 'Stop-flag is set to true. Operator is stopping.'],
    ['an error', new Error('too hot'), 'Stop-flag is set to too hot. Operator is stopping.'],
    ['a signal', 'SIGTERM', 'Signal SIGTERM is received. Operator is stopping.'],
  ])('tells of %s as the reason', async (_what, reason, line) => {
    const { operator, logger } = supervising();
    await operator.ready;
    await operator.stop(reason);
    expect(logger.messages('info')).toEqual([line]);
  });

  it.each([
    ['without a reason', undefined, 'Stop-flag is raised. Operator is stopping.'],
    ['with a reason', 'lunch time', 'Stop-flag is set to lunch time. Operator is stopping.'],
  ])('is done by the signal as well: %s', async (_what, reason, line) => {
    const controller = new AbortController();
    const { operator, logger, told } = supervising(undefined, controller.signal);
    await operator.ready;
    controller.abort(reason);
    await operator.done;
    expect(logger.messages('info')).toEqual([line]);
    expect(told.at(-1)).toBe('dispose');
  });

  it('can be asked for many times, in any phase, and is done once', async () => {
    const { operator, told, logger } = supervising();
    await operator.ready;
    const stops = [operator.stop('one'), operator.stop('two')];
    await Promise.all(stops);
    await operator.stop('three');
    expect(told.filter((line) => line === 'cleanup')).toHaveLength(1);
    expect(logger.messages('info')).toEqual(['Stop-flag is set to one. Operator is stopping.']);
  });

  it('at once does not even start', async () => {
    const { operator, told } = supervising();
    await operator.stop();
    expect(told).toEqual(['dispose']);
    await expect(operator.ready).rejects.toMatchObject({ code: 'KOPF_STOPPED' });
  });

  it('by a signal that is aborted already does not even start', async () => {
    const { operator, told, logger } = supervising(undefined, AbortSignal.abort('closed'));
    await operator.done;
    expect(told).toEqual(['dispose']);
    expect(logger.messages()).toContain('Stop-flag is set to closed. Operator is stopping.');
  });

  it('tells of the cancelled services in the debug log only', async () => {
    const polite = {
      name: 'polite one',
      run: (signal: AbortSignal) => new Promise<void>((end) => signal.addEventListener('abort', () => end())),
    };
    const { operator, logger } = supervising((told) => ({ services: [obedient('watchers', told), polite] }));
    await operator.ready;
    await operator.stop();
    expect(logger.messages('debug')).toEqual([
      'Operator is starting.',
      'Watchers is cancelled.',
      'Polite one is cancelled.',
      'Logins is cancelled.',
      'Operator has ended.',
    ]);
    expect(logger.messages('warn')).toEqual([]);
  });
});

describe('a stop in the middle of the startup', () => {
  const warning = 'Startup activity is only partially executed due to cancellation.';

  it('cancels it, and there is nothing to clean up', async () => {
    const { operator, told, logger, clock } = supervising((told) => ({ startup: obedient('startup', told).run }));
    await clock.settle();
    await operator.stop();
    expect(told).toEqual(['startup begin', 'startup end', 'dispose']);
    expect(logger.messages('warn')).toEqual([warning]);
    await expect(operator.ready).rejects.toMatchObject({ code: 'KOPF_STOPPED' });
  });

  it('does not wait for it longer than it would for services', async () => {
    const { operator, told, logger, clock } = supervising(() => ({ startup: manual('startup').service.run }));
    await clock.settle();
    const done = watched(operator.stop());
    await clock.advance(17);
    expect(done.state).toBe('pending');
    await clock.advance(1);
    expect(done.state).toBe('resolved');
    expect(told).toEqual(['dispose']);
    expect(logger.messages('warn')).toEqual([warning]);
  });

  it('cleans up if the startup was done nevertheless', async () => {
    const startup = manual('startup');
    const { operator, told, logger, clock } = supervising(() => ({ startup: startup.service.run }));
    await clock.settle();
    void operator.stop();
    startup.end();
    await operator.done;
    expect(told).toEqual(['cleanup', 'dispose']);
    expect(logger.messages('warn')).toEqual([]);
  });
});

describe('a failed startup', () => {
  it('ends the operator with its error, without services and without the cleanup', async () => {
    const error = new Error('boo');
    const { operator, told, logger } = supervising(() => ({ startup: () => Promise.reject(error) }));
    await expect(operator.done).rejects.toBe(error);
    await expect(operator.ready).rejects.toBe(error);
    await expect(operator.stop()).rejects.toBe(error);
    expect(told).toEqual(['dispose']);
    expect(logger.find('Startup activity has failed: boo')).toMatchObject({ level: 'error', fields: { error } });
  });

  it.each([
    ['handlers, which are logged by themselves', new ActivityError('One or more.', { outcomes: new Map() })],
    ['credentials, which are explained', new LoginError('No credentials.')],
    ['the server, which says why', apiError({ status: 500 })],
    ['the liveness endpoint, which is explained', new KopfError('In use.', { code: 'KOPF_BAD_ENDPOINT' })],
  ])('because of %s, is logged without the stack', async (_title, error) => {
    const { operator, logger } = supervising(() => ({ startup: () => Promise.reject(error) }));
    await expect(operator.done).rejects.toBe(error);
    const line = logger.find(`Startup activity has failed: ${error.message}`);
    expect(line?.level).toBe('error');
    expect(line?.fields).not.toHaveProperty('error');
  });
});

describe('the first service to end', () => {
  it('by a failure stops the operator, and the operator fails with it', async () => {
    const failing = manual('multidimensional multitasker');
    const { operator, told, logger } = supervising((told) => ({
      services: [obedient('watchers', told), failing.service],
    }));
    await operator.ready;
    const error = new Error('boo');
    failing.fail(error);
    await expect(operator.done).rejects.toBe(error);
    await expect(operator.stop()).rejects.toBe(error);
    expect(told.slice(-4)).toEqual(['watchers end', 'logins end', 'cleanup', 'dispose']);
    const line = logger.find('Multidimensional multitasker has failed: boo');
    expect(line).toMatchObject({ level: 'error', fields: { error } });
    expect(logger.messages('info')).toEqual([]);
  });

  it('without any error stops the operator, and is warned about', async () => {
    const ending = manual('watchers');
    const { operator, told, logger } = supervising(() => ({ services: [ending.service] }));
    await operator.ready;
    ending.end();
    await operator.done;
    expect(told.slice(-2)).toEqual(['cleanup', 'dispose']);
    expect(logger.messages('warn')).toEqual(['Watchers has finished unexpectedly.']);
  });

  it('may be an underlying one', async () => {
    const logins = manual('logins');
    const { operator, told } = supervising(() => ({ underlying: [logins.service] }));
    await operator.ready;
    logins.fail(new Error('no credentials'));
    await expect(operator.done).rejects.toThrow('no credentials');
    expect(told.slice(-3)).toEqual(['killer end', 'cleanup', 'dispose']);
  });

  it('may be a lifelong one, also in the middle of the startup', async () => {
    const listener = manual('listener');
    const { operator, told, clock } = supervising((told) => ({
      lifelong: [listener.service],
      startup: obedient('startup', told).run,
    }));
    await clock.settle();
    listener.fail(new Error('stray'));
    await expect(operator.done).rejects.toThrow('stray');
    await expect(operator.ready).rejects.toThrow('stray');
    expect(told).toEqual(['startup begin', 'startup end', 'dispose']);
  });

  it('may be one that throws before it begins, or throws what is not an error', async () => {
    const hasty: Service = {
      name: 'hasty',
      run: () => {
        throw 'a word' as unknown;
      },
    };
    const { operator, logger } = supervising(() => ({ services: [hasty] }));
    await expect(operator.done).rejects.toThrow('a word');
    expect(logger.messages('error')).toEqual(['Hasty has failed: a word']);
  });

  it('before the operator is ready leaves it unready for ever', async () => {
    const ending = manual('watchers');
    const { operator, clock } = supervising((told) => ({
      services: [ending.service],
      working: obedient('working', told).run,
    }));
    await clock.settle();
    ending.end();
    await expect(operator.ready).rejects.toMatchObject({ code: 'KOPF_STOPPED' });
    await operator.done;
  });

  it('is the one whose error counts; the others are logged', async () => {
    const [one, two] = [manual('one'), manual('two')];
    const { operator, logger, clock } = supervising(() => ({ services: [one.service, two.service] }));
    await operator.ready;
    one.fail(new Error('first'));
    await clock.settle();
    two.fail(new Error('second'));
    await expect(operator.done).rejects.toThrow('first');
    expect(logger.messages('error')).toEqual(['One has failed: first', 'Two has failed: second']);
  });

  it('is no unhandled rejection if nobody looks', async () => {
    const failing = manual('watchers');
    const { operator, clock, told } = supervising(() => ({ services: [failing.service] }));
    await operator.ready;
    failing.fail(new Error('boo'));
    await clock.settle();
    expect(told.at(-1)).toBe('dispose');
  });
});

describe('the cleanup', () => {
  it('that fails makes the operator fail', async () => {
    const { operator, told, logger } = supervising(() => ({ cleanup: () => Promise.reject(new Error('boo')) }));
    await operator.ready;
    await expect(operator.stop()).rejects.toThrow('boo');
    expect(told.at(-1)).toBe('dispose');
    expect(logger.messages('error')).toEqual(['Cleanup activity has failed: boo']);
  });

  it('that fails never hides the first error', async () => {
    const failing = manual('watchers');
    const { operator, logger } = supervising(() => ({
      services: [failing.service],
      cleanup: () => Promise.reject(new Error('second')),
    }));
    await operator.ready;
    failing.fail(new Error('first'));
    await expect(operator.done).rejects.toThrow('first');
    expect(logger.messages('error')).toEqual(['Watchers has failed: first', 'Cleanup activity has failed: second']);
  });

  it('that does not end in time is cancelled', async () => {
    const { operator, logger, clock } = supervising((told) => ({ cleanup: obedient('cleanup', told).run }));
    await operator.ready;
    const done = watched(operator.stop());
    await clock.advance(22);
    expect(done.state).toBe('pending');
    await clock.advance(0.5);
    expect(done.state).toBe('resolved');
    expect(logger.messages('warn')).toEqual(['Cleanup activity is only partially executed due to cancellation.']);
  });

  it('that does not even obey is abandoned', async () => {
    const { operator, logger, told, clock } = supervising(() => ({ cleanup: manual('cleanup').service.run }));
    await operator.ready;
    const done = watched(operator.stop());
    await clock.advance(25);
    expect(done.state).toBe('resolved');
    expect(told.at(-1)).toBe('dispose');
    expect(logger.messages('warn')).toEqual(['Cleanup activity is only partially executed due to cancellation.']);
  });

  it('is not executed if there is no time for anything', async () => {
    const { operator, settings, told, logger } = supervising();
    await operator.ready;
    settings.process.ultimateExitingTimeout = 0;
    await operator.stop();
    expect(told).not.toContain('cleanup');
    expect(logger.messages('warn')).toEqual(['Cleanup activity is not executed at all due to cancellation.']);
  });
});

describe('those who do not end', () => {
  it('are named every 10 seconds, then abandoned, and the cleanup still has its time', async () => {
    const { operator, clock, logger, told } = supervising((told) => ({
      services: [manual('daemon killer').service, obedient('watchers', told), manual('poster of events').service],
    }));
    await operator.ready;
    const done = watched(operator.stop());
    logger.clear();
    await clock.advance(10);
    expect(logger.messages('info')).toEqual(['Still waiting for the end of: daemon killer, poster of events.']);
    expect(told).not.toContain('cleanup');
    await clock.advance(7.5);
    expect(logger.messages('warn')).toEqual([
      'Some services have not ended in time, and are abandoned: daemon killer, poster of events.',
    ]);
    expect(told.slice(-2)).toEqual(['cleanup', 'dispose']);
    expect(done.state).toBe('rejected');
  });

  it('all together never take more than the ultimate timeout, 25 seconds by default', async () => {
    const { operator, clock, logger } = supervising(() => ({
      lifelong: [manual('lifelong').service],
      services: [manual('services').service],
      underlying: [manual('underlying').service],
      cleanup: manual('cleanup').service.run,
      dispose: () => new Promise(() => {}),
    }));
    await operator.ready;
    const done = watched(operator.stop());
    await clock.advance(24.9);
    expect(done.state).toBe('pending');
    await clock.advance(0.1);
    expect(done.state).toBe('rejected');
    expect(logger.messages('warn')).toEqual([
      'Some services have not ended in time, and are abandoned: services.',
      'Some services have not ended in time, and are abandoned: underlying.',
      'Cleanup activity is only partially executed due to cancellation.',
      'Some services have not ended in time, and are abandoned: lifelong.',
      'The resources of the operator are not released in time, and are abandoned.',
    ]);
  });

  it('have as much time as is set at the moment of stopping', async () => {
    const { operator, clock, settings } = supervising(() => ({ services: [manual('watchers').service] }));
    await operator.ready;
    settings.process.ultimateExitingTimeout = 100;
    const done = watched(operator.stop());
    settings.process.ultimateExitingTimeout = 1;
    await clock.advance(69);
    expect(done.state).toBe('pending');
    await clock.advance(1);
    expect(done.state).toBe('rejected');
  });

  it('are waited for without any limit if it is set so', async () => {
    const slow = manual('watchers');
    const { operator, clock, settings, logger } = supervising(() => ({ services: [slow.service] }));
    await operator.ready;
    settings.process.ultimateExitingTimeout = undefined;
    const done = watched(operator.stop());
    await clock.advance(100);
    expect(done.state).toBe('pending');
    expect(logger.messages('info').filter((line) => line.startsWith('Still waiting'))).toHaveLength(10);
    slow.end();
    await clock.settle();
    expect(done.state).toBe('resolved');
    expect(clock.sleepers).toBe(0);
  });

  it('are told of if they fail later', async () => {
    const late = manual('watchers');
    const { operator, clock, logger } = supervising(() => ({ services: [late.service] }));
    await operator.ready;
    operator.stop().catch(() => {});
    await clock.advance(25);
    late.fail(new Error('too late'));
    await clock.settle();
    expect(logger.messages('error')).toEqual(['Watchers has failed: too late']);
    await expect(operator.done).rejects.toThrow('have not ended in time, and are abandoned: watchers');
  });
});

describe('releasing the resources', () => {
  it('makes the operator fail if it fails', async () => {
    const { operator, logger } = supervising(() => ({ dispose: () => Promise.reject(new Error('boo')) }));
    await operator.ready;
    await expect(operator.stop()).rejects.toThrow('boo');
    expect(logger.messages('error')).toEqual(['The resources of the operator are not released: boo']);
  });
});
