import { EventEmitter } from 'node:events';
import { settings as defaultSettings, KopfError, type Settings } from '@kopf-ts/core';
import { runInContext } from '@kopf-ts/core/engine';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { StrayError, strayErrors } from '../../src/running/stray.js';
import { callOf } from './calls.js';

/** An operator with its listener running, on a process that is not real. */
function operatorOn(source: EventEmitter, onStray: 'exit' | 'log' = 'log') {
  const settings = defaultSettings({ process: { onStray } });
  const logger = recordingLogger();
  const strays = strayErrors({ settings, logger, source });
  const stopping = new AbortController();
  const ended = strays.service.run(stopping.signal).then(
    () => 'stopped',
    (error: unknown) => error,
  );
  const inHandler = <T>(fn: () => T, id = 'create_fn'): T =>
    runInContext({ settings, ...callOf(id, 'obj1', logger) }, fn);
  return { settings, logger, strays, stopping, ended, inHandler };
}

/** As Node does it, in the context of where the promise was made. */
const reject = (source: EventEmitter, reason: unknown): boolean => source.emit('unhandledRejection', reason);
/** As Node does it: the process lives on if this is true. */
const throwInCallback = (source: EventEmitter, error: unknown): boolean => {
  source.emit('uncaughtExceptionMonitor', error);
  return source.emit('uncaughtException', error);
};

const listeners = (source: EventEmitter): string[] => source.eventNames().map(String).sort();

describe('a stray error of a handler', () => {
  it.each([
    [
      'rejection',
      reject,
      "Handler 'create_fn' of KopfExample default/obj1 has failed in a promise that nobody awaits: boo. Await it",
    ],
    [
      'exception',
      throwInCallback,
      "Handler 'create_fn' of KopfExample default/obj1 has failed in a timer or a callback: boo. Catch it",
    ],
  ])('is logged for the handler and its object, and counted: as %s', (_what, happen, text) => {
    const source = new EventEmitter();
    const { inHandler, logger, strays } = operatorOn(source);
    const error = new Error('boo');
    expect(inHandler(() => happen(source, error))).toBe(true);
    expect(logger.lines).toEqual([
      {
        level: 'error',
        message: expect.stringContaining(text),
        fields: { error, object: expect.objectContaining({ name: 'obj1' }) },
      },
    ]);
    expect(strays.count).toBe(1);
  });

  it.each([
    ['a text', 'boo', 'boo'],
    ['nothing', undefined, 'undefined'],
    ['an object', { code: 5 }, '{"code":5}'],
  ])('may be no error at all: %s', (_what, reason, text) => {
    const source = new EventEmitter();
    const { inHandler, logger } = operatorOn(source);
    inHandler(() => reject(source, reason));
    expect(logger.messages('error')).toHaveLength(1);
    expect(logger.messages('error')[0]).toMatch(new RegExp(`nobody awaits: ${text}\\. Await it`));
    expect(logger.lines[0]?.fields.error).toBeInstanceOf(Error);
  });

  it('ends the operator if the settings say so, after that very error', async () => {
    const source = new EventEmitter();
    const { inHandler, ended } = operatorOn(source, 'exit');
    const error = new Error('boo');
    inHandler(() => reject(source, error));
    const failure = await ended;
    expect(failure).toBeInstanceOf(StrayError);
    expect(failure).toBeInstanceOf(KopfError);
    expect(failure).toMatchObject({
      name: 'StrayError',
      code: 'KOPF_STRAY',
      cause: error,
      message: "Handler 'create_fn' of KopfExample default/obj1 has left an error behind: boo",
    });
  });

  it('ends nothing if the settings say so, also if they say so only since recently', async () => {
    const source = new EventEmitter();
    const { inHandler, settings, stopping, ended, strays } = operatorOn(source, 'exit');
    settings.process.onStray = 'log';
    inHandler(() => reject(source, new Error('boo')));
    inHandler(() => throwInCallback(source, new Error('boo')));
    stopping.abort();
    expect(await ended).toBe('stopped');
    expect(strays.count).toBe(2);
  });

  it('is taken care of also after the first one, while the operator is stopping', async () => {
    const source = new EventEmitter();
    const { inHandler, ended, strays, stopping, logger } = operatorOn(source, 'exit');
    inHandler(() => reject(source, new Error('first')));
    await ended;
    expect(inHandler(() => throwInCallback(source, new Error('second')))).toBe(true);
    expect([strays.count, logger.messages('error').length]).toEqual([2, 2]);
    stopping.abort();
    expect(listeners(source)).toEqual([]);
  });

  it('is logged once, however often it comes', () => {
    const source = new EventEmitter();
    const { inHandler, logger, strays } = operatorOn(source);
    const error = new Error('boo');
    inHandler(() => reject(source, error));
    inHandler(() => reject(source, error));
    inHandler(() => throwInCallback(source, error));
    expect(logger.messages()).toHaveLength(1);
    expect(strays.count).toBe(1);
  });

  it('is only a warning if it comes of the cancellation of the handler', async () => {
    const source = new EventEmitter();
    const { settings, logger, strays, stopping, ended } = operatorOn(source, 'exit');
    const signal = AbortSignal.abort(new Error('The operator is stopping.'));
    runInContext({ settings, signal, ...callOf('create_fn', 'obj1', logger) }, () => reject(source, signal.reason));
    stopping.abort();
    expect(await ended).toBe('stopped');
    expect(logger.messages('warn')).toEqual([
      "Handler 'create_fn' of KopfExample default/obj1 was cancelled, and a part of it has ended on its own: " +
        'The operator is stopping.',
    ]);
    expect(strays.count).toBe(1);
  });
});

describe('a stray error of nobody', () => {
  it('ends the process as ever: the listener throws it on, or is not there', () => {
    const source = new EventEmitter();
    const { logger, strays } = operatorOn(source);
    const error = new Error('boo');
    expect(() => reject(source, error)).toThrow(error);
    expect(throwInCallback(source, error)).toBe(false);
    expect([logger.lines, strays.count]).toEqual([[], 0]);
  });

  it('becomes an error to be thrown, if it is none', () => {
    const source = new EventEmitter();
    operatorOn(source);
    expect(() => reject(source, 'a word')).toThrow(/not an error.*"a word"/);
    expect(() => reject(source, { toString: 5 })).toThrow(/not an error.*an object/);
  });

  it('is left to others who listen', () => {
    const source = new EventEmitter();
    operatorOn(source);
    const seen: unknown[] = [];
    source.on('unhandledRejection', (error) => seen.push(error));
    source.on('uncaughtException', (error) => seen.push(error));
    expect(reject(source, 'one')).toBe(true);
    expect(throwInCallback(source, 'two')).toBe(true);
    expect(seen).toEqual(['one', 'two']);
  });

  it('does not hide behind several operators who all listen', () => {
    const source = new EventEmitter();
    operatorOn(source);
    operatorOn(source);
    expect(() => reject(source, new Error('boo'))).toThrow('boo');
    expect(throwInCallback(source, new Error('boo'))).toBe(false);
  });

  it('is not kept from being fatal by one of a handler that somebody else has captured', () => {
    const source = Object.assign(new EventEmitter(), { hasUncaughtExceptionCaptureCallback: () => true });
    const { inHandler, strays } = operatorOn(source);
    // Then Node emits nothing more than this.
    inHandler(() => source.emit('uncaughtExceptionMonitor', new Error('ours')));
    expect(strays.count).toBe(1);
    expect(throwInCallback(source, new Error('of nobody'))).toBe(false);
  });

  it('is not kept from being fatal by an earlier one of a handler', () => {
    const source = new EventEmitter();
    const { inHandler } = operatorOn(source);
    inHandler(() => throwInCallback(source, new Error('ours')));
    expect(throwInCallback(source, new Error('of nobody'))).toBe(false);
  });
});

describe('several operators in one process', () => {
  it('have each their own errors', async () => {
    const source = new EventEmitter();
    const [one, two] = [operatorOn(source, 'exit'), operatorOn(source, 'exit')];
    two.inHandler(() => reject(source, new Error('of two')));
    expect(await two.ended).toBeInstanceOf(StrayError);
    expect([one.strays.count, two.strays.count]).toEqual([0, 1]);
    expect(one.logger.lines).toEqual([]);
    one.stopping.abort();
    expect(await one.ended).toBe('stopped');
  });

  it('listen only while they run', () => {
    const source = new EventEmitter();
    const [one, two] = [operatorOn(source), operatorOn(source)];
    expect(listeners(source)).toEqual(['uncaughtExceptionMonitor', 'unhandledRejection']);
    expect(source.listenerCount('unhandledRejection')).toBe(1);
    one.stopping.abort();
    expect(two.inHandler(() => reject(source, new Error('boo')))).toBe(true);
    expect(() => one.inHandler(() => reject(source, new Error('nobody listens')))).toThrow('nobody listens');
    two.stopping.abort();
    expect(source.eventNames()).toEqual([]);
    expect(Object.getOwnPropertySymbols(source).map(String)).not.toContain('Symbol(kopf-ts.stray.claims)');
  });

  it('are not installed at all if stopped before the start', async () => {
    const source = new EventEmitter();
    const strays = strayErrors({ settings: {} as Settings, logger: recordingLogger(), source });
    await strays.service.run(AbortSignal.abort());
    await manualClock().settle();
    expect(source.eventNames()).toEqual([]);
  });
});
