import { describe, expect, it } from 'vitest';
import { ContextError, PermanentError } from '../../src/errors.js';
import { runInContext } from '../../src/execution/context.js';
import { event, exception, info, warn } from '../../src/execution/handler-api/posting.js';
import type { KubeEvent } from '../../src/seams/poster.js';
import { type PostingSettings, settings } from '../../src/settings.js';

function posted(fn: () => void, posting: Partial<PostingSettings> = {}): KubeEvent[] {
  const events: KubeEvent[] = [];
  const poster = { post: (event: KubeEvent) => void events.push(event) };
  runInContext({ poster, settings: settings({ posting }) }, fn);
  return events;
}

const about = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } };
const other = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'y' } };
const what = { reason: 'Reason', message: 'Message.' };

const CALLS = {
  event: () => event(about, { type: 'Special', ...what }),
  info: () => info(about, what),
  warn: () => warn(about, what),
  exception: () => exception(about, { ...what, error: new Error('boo') }),
};

describe('Events posted by handlers', () => {
  it.each([
    ['event', 'Special', 'Message.'],
    ['info', 'Normal', 'Message.'],
    ['warn', 'Warning', 'Message.'],
    ['exception', 'Error', 'Message. boo'],
  ] as const)('by %s() are of the type %s', (name, type, message) => {
    expect(posted(CALLS[name])).toEqual([{ about, type, reason: 'Reason', message }]);
  });

  it.each([
    ['debug', ['event', 'info', 'warn', 'exception']],
    ['info', ['event', 'info', 'warn', 'exception']],
    ['warn', ['event', 'warn', 'exception']],
    ['error', ['event', 'exception']],
  ] as const)('at the lowest level of "%s" are those by %j', (level, names) => {
    for (const name of Object.keys(CALLS) as (keyof typeof CALLS)[]) {
      expect(posted(CALLS[name], { level })).toHaveLength(names.includes(name as never) ? 1 : 0);
    }
  });

  it.each(['event', 'info', 'warn', 'exception'] as const)('by %s() are not posted if disabled', (name) => {
    expect(posted(CALLS[name], { enabled: false })).toEqual([]);
  });

  it.each([true, false])('do not depend on whether logs are posted (%s)', (loggers) => {
    expect(posted(CALLS.info, { loggers })).toHaveLength(1);
  });

  it.each(['a text', 5, new Date(0)])('are not about what cannot be an object of a cluster: %o', (strange) => {
    expect(() => posted(() => info([about, strange as object], what))).toThrow('K8s object class is not supported');
  });

  it('are about one object or any nested lists of them', () => {
    const many = posted(() => info([about, [other, null, new Set([about])], undefined], what));
    expect(many.map(({ about }) => about)).toEqual([about, other, about]);
  });

  it('can have neither a reason nor a message', () => {
    expect(posted(() => info(about))).toMatchObject([{ reason: '', message: '' }]);
  });

  class CustomError extends Error {}
  it.each([
    [{ error: new TypeError('boo') }, 'TypeError', 'boo'],
    [{ error: new PermanentError('boo') }, 'PermanentError', 'boo'],
    [{ error: new CustomError('boo') }, 'CustomError', 'boo'],
    [{ error: new Error() }, 'Error', 'Error()'],
    [{ error: 'a mere text' }, 'Error', 'a mere text'],
    [{ message: 'only a message' }, 'Error', 'only a message'],
    [{ message: 'a message and', error: new Error('an error') }, 'Error', 'a message and an error'],
    [{ reason: 'Mine', error: new TypeError('boo') }, 'Mine', 'boo'],
    [{}, 'Error', ''],
  ])('by exception(%o) have the reason %s and the text "%s"', (options, reason, message) => {
    expect(posted(() => exception(about, options))).toMatchObject([{ type: 'Error', reason, message }]);
  });

  it.each(['event', 'info', 'warn', 'exception'] as const)('by %s() need an operator around', (name) => {
    expect(CALLS[name]).toThrow(ContextError);
    expect(CALLS[name]).toThrow(`${name}() is called outside of any handler`);
    for (const context of [{}, { settings: settings() }, { poster: { post: () => {} } }]) {
      expect(() => runInContext(context, CALLS[name])).toThrow(ContextError);
      expect(() => runInContext(context, CALLS[name])).toThrow('nothing posts events');
    }
  });

  it('can be posted from what a handler has started, after it has ended', async () => {
    const events: KubeEvent[] = [];
    const poster = { post: (event: KubeEvent) => void events.push(event) };
    let resume: () => void = () => {};
    const started = runInContext({ poster, settings: settings() }, async () => {
      await new Promise<void>((resolve) => (resume = resolve));
      info(about, what);
    });
    resume();
    await started;
    expect(events).toHaveLength(1);
  });
});
