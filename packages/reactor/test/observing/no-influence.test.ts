import { type Observer, subhandler, TemporaryError, type Tracing } from '@kopf-ts/core';
import { safeTracing } from '@kopf-ts/core/engine';
import { recordingLogger, recordingObserver } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { type OperatedOptions, operated } from '../support/operated.js';

/** All that can be seen from outside: who is called, what is sent, and what is logged. */
async function lifeOfObjects(options: OperatedOptions) {
  await using operator = await operated({ random: () => 0.5, ...options });
  const { registry } = operator;
  const calls: string[] = [];
  const note = (what: string, name: string | undefined): void => void calls.push(`${what} ${name}`);
  const attempts = new Map<string, number>();
  registry.on.create('kopfexamples', { id: 'create' }, ({ name = '', patch }) => {
    note('create', name);
    attempts.set(name, (attempts.get(name) ?? 0) + 1);
    if (attempts.get(name) === 1) throw new TemporaryError('later', { delay: 10 });
    patch.status['created'] = attempts.get(name);
    subhandler('sub', () => note('sub', name));
  });
  registry.on.update('kopfexamples', { id: 'size', field: 'spec.size' }, ({ name, new: size }) => {
    note(`size ${String(size)}`, name);
    return { size };
  });
  registry.on.update('kopfexamples', { id: 'labelled', labels: { app: 'yes' } }, async ({ name, patch }) => {
    await Promise.resolve();
    note('labelled', name);
    patch.fns.push(function failing() {
      throw new Error('boo');
    });
    patch.spec['bad'] = 10n;
  });
  registry.on.update('kopfexamples', { id: 'counter', when: ({ name }) => name === 'flapping' }, ({ spec, patch }) => {
    note(`counter ${String(spec['count'])}`, 'flapping');
    patch.spec['count'] = ((spec['count'] as number | undefined) ?? 0) + 1;
  });
  registry.on.event('kopfexamples', { id: 'event' }, ({ type, name }) => note(`event ${type}`, name));
  registry.on.delete('kopfexamples', { id: 'delete' }, ({ name }) => note('delete', name));
  registry.timer('kopfexamples', { id: 'timer', interval: 7 }, ({ name }) => note('timer', name));
  registry.daemon('kopfexamples', { id: 'daemon', labels: { app: 'yes' } }, async ({ name, stopped }) => {
    note('daemon', name);
    await operator.clock.sleep(3600, { wakeup: stopped });
    note('daemon stopped', name);
  });

  await operator.start();
  await operator.create('one', { metadata: { labels: { app: 'yes' } } });
  await operator.create('flapping', { spec: { count: 0 } });
  await operator.advance(10);
  await operator.edit('one', { spec: { size: 1 } });
  await operator.edit('one', { spec: { size: 2 }, metadata: { labels: { app: 'no' } } });
  await operator.edit('flapping', { spec: { count: 1 } });
  for (let second = 0; second < 8; second++) await operator.advance(1);
  operator.control.pause({ name: 'one' });
  await operator.edit('one', { spec: { size: 3 } });
  await operator.advance(7);
  operator.control.resume({ name: 'one' });
  await operator.settle();
  await operator.remove('one');
  await operator.remove('flapping');
  await operator.advance(60);
  const sent = operator.patches.map(({ path, contentType, body }) => `${contentType} ${path} ${JSON.stringify(body)}`);
  const logged = operator.logger.messages().filter((line) => !line.startsWith('An observer failed'));
  return { calls, sent: sent.map(withoutUids), logged: logged.map(withoutUids) };
}

/** Each cluster makes its own. */
function withoutUids(text: string): string {
  return text.replace(/[\da-f]{8}-[\da-f-]{27}/g, 'uid');
}

const throwing: Observer = {
  wants: 'all',
  observe() {
    throw new Error('from an observer');
  },
};
const meddling: Observer = {
  wants: 'all',
  observe(fact) {
    Object.assign(fact, { kind: 'nothing', object: undefined });
  },
};
const rejecting = { wants: 'all', observe: () => Promise.reject(new Error('from an observer')) } as unknown as Observer;
const brokenTracing: Tracing = {
  around(work, fn) {
    if (work.kind === 'cycle') throw new Error('from a tracing');
    fn();
    return fn();
  },
  headers: () => ({}),
};

describe('What the operator does is the same', async () => {
  const alone = await lifeOfObjects({});

  it('and it does a lot in this test', () => {
    expect(alone.sent.length).toBeGreaterThan(10);
    expect(new Set(alone.calls.map((call) => call.split(' ')[0]))).toEqual(
      new Set(['create', 'sub', 'size', 'labelled', 'counter', 'event', 'delete', 'timer', 'daemon']),
    );
  });

  it.each<[string, readonly Observer[]]>([
    ['all is observed', [recordingObserver()]],
    ['an observer throws at each fact', [throwing]],
    ['an observer tries to change the facts', [meddling]],
    ['an observer rejects each fact', [rejecting]],
    ['all of them observe', [throwing, meddling, rejecting, recordingObserver()]],
  ])('if %s', async (_, observers) => {
    expect(await lifeOfObjects({ observers })).toEqual(alone);
  });

  it('if a broken tracing is around it', async () => {
    const tracing = safeTracing({ tracing: brokenTracing, logger: recordingLogger() });
    expect(await lifeOfObjects({ tracing })).toEqual(alone);
  });
});
