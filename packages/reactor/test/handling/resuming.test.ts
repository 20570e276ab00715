import { PermanentError, TemporaryError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { type Operated, operated } from '../support/operated.js';

const LAST_HANDLED = 'kopf.zalando.org/last-handled-configuration';
const handledAs = (field: string) => ({ [LAST_HANDLED]: `{"spec":{"field":"${field}"}}\n` });

/** An object that was handled by an operator before, and was maybe changed since then. */
async function existing(operator: Operated, fields: { now: string; before: string; finalizers?: string[] }) {
  const { now, before, finalizers = [] } = fields;
  await operator.create('name1', { metadata: { annotations: handledAs(before), finalizers }, spec: { field: now } });
}

describe('Resuming handlers', () => {
  it('are called for what exists when the operator starts, once', async () => {
    await using operator = await operated();
    await existing(operator, { now: 'v', before: 'v' });
    const calls: unknown[] = [];
    operator.registry.on.resume('kopfexamples', { id: 'r' }, ({ name, reason }) => void calls.push([name, reason]));
    await operator.start();
    await operator.create('later');
    await operator.edit('name1', { spec: { field: 'w' } });
    await operator.edit('name1', { status: { x: 1 } });
    await operator.advance(1000);
    expect(calls).toEqual([['name1', 'resume']]);
  });

  it('are not called for what was never handled: it is created', async () => {
    await using operator = await operated();
    await operator.create('name1');
    const calls: unknown[] = [];
    operator.registry.on.resume('kopfexamples', { id: 'r' }, () => void calls.push('r'));
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => void calls.push('c'));
    await operator.start();
    expect(calls).toEqual(['c']);
  });

  it('are mixed into the update of what was changed in between', async () => {
    await using operator = await operated();
    await existing(operator, { now: 'w', before: 'v' });
    const calls: unknown[] = [];
    operator.registry.on.resume('kopfexamples', { id: 'r' }, ({ reason }) => void calls.push(['r', reason]));
    operator.registry.on.update('kopfexamples', { id: 'u' }, ({ reason }) => void calls.push(['u', reason]));
    await operator.start();
    await operator.advance(100);
    expect(calls).toEqual([
      ['r', 'update'],
      ['u', 'update'],
    ]);
  });

  it.each([
    [true, ['r', 'd']],
    [undefined, ['d']],
  ])('with deleted=%s, are called for what is being deleted: %j', async (deleted, expected) => {
    await using operator = await operated();
    await existing(operator, { now: 'v', before: 'v', finalizers: ['kopf.zalando.org/KopfFinalizerMarker'] });
    await operator.remove('name1');
    const calls: string[] = [];
    operator.registry.on.resume('kopfexamples', { id: 'r', deleted }, () => void calls.push('r'));
    operator.registry.on.delete('kopfexamples', { id: 'd' }, () => void calls.push('d'));
    await operator.start();
    await operator.advance(100);
    expect(calls).toEqual(expected);
    await expect(operator.get('name1')).rejects.toMatchObject({ status: 404 });
  });

  it('go on over several cycles until they are done, with everything that happens meanwhile', async () => {
    await using operator = await operated();
    await existing(operator, { now: 'v', before: 'v' });
    const calls: unknown[] = [];
    operator.registry.on.resume('kopfexamples', { id: 'r1' }, () => void calls.push('r1'));
    operator.registry.on.resume('kopfexamples', { id: 'r2' }, ({ retry }) => {
      calls.push(`r2 ${retry}`);
      if (retry < 2) throw new TemporaryError('not yet', { delay: 10 });
    });
    operator.registry.on.update('kopfexamples', { id: 'u' }, () => void calls.push('u'));
    await operator.start();
    await operator.advance(15);
    expect(calls).toEqual(['r1', 'r2 0', 'r2 1']);
    await operator.edit('name1', { metadata: { labels: { x: 'y' } } });
    await operator.advance(100);
    // It has changed, but whoever has resumed has resumed: once in the life of an operator.
    expect(calls).toEqual(['r1', 'r2 0', 'r2 1', 'u', 'r2 2']);
    await operator.edit('name1', { metadata: { labels: { x: 'z' } } });
    await operator.advance(100);
    expect(calls.slice(5)).toEqual(['u']);
  });
});

describe('Another operator process, after the first one', () => {
  async function restarted(first: Operated): Promise<Operated> {
    await first.stop();
    return await operated({ after: first });
  }

  it('goes on where the first one has stopped: with attempts, times and results', async () => {
    await using first = await operated();
    const seen: unknown[] = [];
    const declare = ({ registry, clock }: Operated, process: string) => {
      registry.on.create('kopfexamples', { id: 'c1' }, () => void seen.push(`${process} c1`));
      registry.on.create('kopfexamples', { id: 'c2', timeout: 1000 }, ({ retry, started, runtime }) => {
        seen.push([process, 'c2', retry, started.toISOString(), runtime, clock.now()]);
        if (retry < 2) throw new TemporaryError('not yet', { delay: 10 });
        return 'done';
      });
    };
    declare(first, 'A');
    await first.start();
    await first.create('name1');
    await first.advance(3);
    await using second = await restarted(first);
    const stoppedFor = second.clock.now() - 3;
    declare(second, 'B');
    await second.start();
    await second.advance(100);
    const started = '2020-01-01T00:00:00.000Z';
    const resumed = Math.max(10, 3 + stoppedFor);
    expect(seen).toEqual([
      'A c1',
      ['A', 'c2', 0, started, 0, 0],
      ['B', 'c2', 1, started, resumed, resumed],
      ['B', 'c2', 2, started, resumed + 10, resumed + 10],
    ]);
    const { metadata, status } = await second.get('name1');
    expect(status).toEqual({ c2: 'done' });
    expect(Object.keys(metadata?.annotations ?? {})).toEqual([LAST_HANDLED]);
  });

  it('calls again the handler in which the first one was killed, and only that one', async () => {
    await using first = await operated();
    const seen: string[] = [];
    first.registry.on.create('kopfexamples', { id: 'c1' }, () => void seen.push('A c1'));
    first.registry.on.create('kopfexamples', { id: 'c2' }, async () => {
      seen.push('A c2');
      await new Promise(() => {});
    });
    first.registry.on.create('kopfexamples', { id: 'c3' }, () => void seen.push('A c3'));
    await first.start();
    await first.create('name1');
    // It hangs there, and so it does nothing any more: as if it were killed.
    await using second = await operated({ after: first });
    for (const id of ['c1', 'c2', 'c3']) {
      second.registry.on.create('kopfexamples', { id }, () => void seen.push(`B ${id}`));
    }
    await second.start();
    await second.advance(100);
    expect(seen).toEqual(['A c1', 'A c2', 'B c2', 'B c3']);
    expect((await second.get('name1')).metadata?.annotations?.[LAST_HANDLED]).toBe('{"spec":{"field":"v"}}\n');
  });

  it('sees changes made in between as an update, and deletions as deletions', async () => {
    await using first = await operated();
    const declare = ({ registry }: Operated, calls: unknown[]) => {
      registry.on.create('kopfexamples', { id: 'c' }, ({ name }) => void calls.push(['c', name]));
      registry.on.update('kopfexamples', { id: 'u' }, ({ name, diff }) => void calls.push(['u', name, diff]));
      registry.on.resume('kopfexamples', { id: 'r' }, ({ name }) => void calls.push(['r', name]));
      registry.on.delete('kopfexamples', { id: 'd' }, ({ name }) => void calls.push(['d', name]));
    };
    declare(first, []);
    await first.start();
    for (const name of ['untouched', 'changed', 'deleted']) await first.create(name);
    await using second = await restarted(first);
    await second.edit('changed', { spec: { field: 'w' } });
    await second.remove('deleted');
    await second.create('new');
    const calls: unknown[] = [];
    declare(second, calls);
    await second.start();
    await second.advance(100);
    const byName = (name: string) => calls.filter((call) => (call as unknown[])[1] === name);
    expect(byName('untouched')).toEqual([['r', 'untouched']]);
    expect(byName('changed')).toEqual([
      ['u', 'changed', [['change', ['spec', 'field'], 'v', 'w']]],
      ['r', 'changed'],
    ]);
    expect(byName('deleted')).toEqual([['d', 'deleted']]);
    expect(byName('new')).toEqual([['c', 'new']]);
    await expect(second.get('deleted')).rejects.toMatchObject({ status: 404 });
  });

  it('does not try again what has failed for good', async () => {
    await using first = await operated();
    const calls: string[] = [];
    const declare = ({ registry }: Operated) => {
      registry.on.create('kopfexamples', { id: 'c' }, () => {
        calls.push('c');
        throw new PermanentError('no way');
      });
    };
    declare(first);
    await first.start();
    await first.create('name1');
    await using second = await restarted(first);
    declare(second);
    await second.start();
    await second.advance(1000);
    expect(calls).toEqual(['c']);
  });
});
