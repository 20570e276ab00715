import { allAtOnce } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { type Operated, operated } from '../support/operated.js';

function declare({ registry }: Operated, calls: string[]): void {
  const { on } = registry;
  const note =
    (id: string) =>
    ({ name, reason, initial }: { name: string; reason: string; initial: boolean }) =>
      void calls.push(`${id} ${name} ${reason}${initial ? ' initially' : ''}`);
  on.create('kopfexamples', { id: 'create' }, note('create'));
  on.update('kopfexamples', { id: 'update' }, note('update'));
  on.delete('kopfexamples', { id: 'delete' }, note('delete'));
  on.resume('kopfexamples', { id: 'resume' }, note('resume'));
  on.resume('kopfexamples', { id: 'unmodified', only: 'unmodified' }, note('unmodified'));
}

describe('After a restart', () => {
  it('handlers know what has happened while there was no operator', async () => {
    const before: string[] = [];
    await using first = await operated();
    declare(first, before);
    await first.start();
    for (const name of ['changed', 'deleted', 'untouched']) await first.create(name, { spec: { size: 1 } });
    await first.advance(10);
    await first.stop();
    expect(before).toEqual(['create changed create', 'create deleted create', 'create untouched create']);

    const calls: string[] = [];
    await using second = await operated({ after: first });
    declare(second, calls);
    await second.create('created');
    await second.edit('changed', { spec: { size: 2 } });
    await second.remove('deleted');
    await second.start();
    await second.advance(10);
    expect(calls.splice(0).sort()).toEqual([
      'create created create initially',
      'delete deleted delete initially',
      'resume changed update initially',
      'resume untouched resume initially',
      'unmodified untouched resume initially',
      'update changed update initially',
    ]);

    await second.edit('untouched', { spec: { size: 3 } });
    await second.create('later');
    await second.advance(10);
    expect(calls.sort()).toEqual(['create later create', 'update untouched update']);
  });

  it('what is changed while it is being resumed is not unmodified any more', async () => {
    await using first = await operated();
    declare(first, []);
    await first.start();
    await first.create('one', { spec: { size: 1 } });
    await first.stop();

    const calls: string[] = [];
    await using second = await operated({ after: first });
    second.registry.on.resume('kopfexamples', { id: 'r', only: 'unmodified', backoff: 10 }, ({ retry }) => {
      calls.push(`resume ${retry}`);
      throw new Error('Not now.');
    });
    second.registry.on.update('kopfexamples', { id: 'u' }, () => void calls.push('update'));
    await second.start();
    await second.advance(10);
    await second.edit('one', { spec: { size: 2 } });
    await second.advance(100);
    expect(calls).toEqual(['resume 0', 'resume 1', 'update']);
  });
});

describe('A handler that returns when the operator stops', () => {
  const stopped = (signal: AbortSignal) => new Promise((resolve) => signal.addEventListener('abort', resolve));

  it('is called again, as it may have left its work undone; those before it are not', async () => {
    await using first = await operated({ lifecycle: allAtOnce });
    const calls: string[] = [];
    first.registry.on.create('kopfexamples', { id: 'a' }, async () => void calls.push('a'));
    first.registry.on.create('kopfexamples', { id: 'b' }, async ({ signal }) => {
      calls.push('b');
      await stopped(signal);
    });
    await first.start();
    await first.create('one');
    await first.stop();
    expect(first.logger.messages('warn').filter((text) => text.includes("'b'"))).toEqual([
      "Handler 'b' ended after its signal was aborted. It counts as interrupted and will be called again.",
    ]);
    await using second = await operated({ after: first });
    second.registry.on.create('kopfexamples', { id: 'a' }, () => void calls.push('a again'));
    second.registry.on.create('kopfexamples', { id: 'b', retries: 1 }, ({ retry }) => void calls.push(`b ${retry}`));
    await second.start();
    await second.advance(10);
    expect(calls).toEqual(['a', 'b', 'b 0']);
  });

  it('has succeeded, if it has never asked for the signal: so it was not interrupted', async () => {
    await using first = await operated();
    const calls: string[] = [];
    let finish: (value?: unknown) => void = () => {};
    const waiting = new Promise((resolve) => (finish = resolve));
    first.registry.on.create('kopfexamples', { id: 'a' }, async () => {
      calls.push('a');
      await waiting;
    });
    await first.start();
    await first.create('one');
    const stopping = first.stop();
    await first.settle();
    finish();
    await stopping;
    await using second = await operated({ after: first });
    second.registry.on.create('kopfexamples', { id: 'a' }, () => void calls.push('a again'));
    await second.start();
    await second.advance(10);
    expect(calls).toEqual(['a']);
  });
});
