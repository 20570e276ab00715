import { describe, expect, it } from 'vitest';
import { type Operated, operated } from '../support/operated.js';

const warnings = ({ logger }: Operated) =>
  logger.messages('warn').filter((line) => line.includes('change the same fields of the object again and again'));

/** How many calls there are within so many seconds, second by second. */
async function callsWithin(operator: Operated, seconds: number, calls: unknown[]): Promise<number> {
  const before = calls.length;
  for (let second = 0; second < seconds; second++) await operator.advance(1);
  return calls.length - before;
}

describe('A handler that is called for its own changes', () => {
  it('is slowed down more and more, and is named with the field, once', async () => {
    await using operator = await operated();
    const calls: unknown[] = [];
    operator.registry.on.update('kopfexamples', { id: 'counter' }, ({ spec, patch }) => {
      calls.push(spec['count']);
      patch.spec['count'] = (spec['count'] as number) + 1;
    });
    await operator.start();
    await operator.create('name1', { spec: { count: 0 } });
    await operator.edit('name1', { spec: { count: 1 } });
    expect(calls).toHaveLength(11);
    expect(await callsWithin(operator, 64, calls)).toBeLessThanOrEqual(7);
    expect(await callsWithin(operator, 600, calls)).toBeLessThanOrEqual(5);
    expect(warnings(operator)).toEqual([expect.stringContaining("Handlers 'counter' change")]);
    expect(warnings(operator)[0]).toContain('spec.count');
  });

  it('is not slowed down in a deletion', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.update('kopfexamples', { id: 'counter' }, ({ spec, patch }) => {
      patch.spec['count'] = (spec['count'] as number) + 1;
    });
    operator.registry.on.delete('kopfexamples', { id: 'd' }, () => void calls.push('d'));
    await operator.start();
    await operator.create('name1', { spec: { count: 0 } });
    await operator.edit('name1', { spec: { count: 1 } });
    await callsWithin(operator, 40, []);
    await operator.remove('name1');
    expect(calls).toEqual(['d']);
    expect(operator.memories.size).toBe(0);
  });
});

describe('A handler of events that is called for its own changes', () => {
  it.each(['alone', 'beside handlers of changes'])(
    'is slowed down (%s), and is named with the field, once',
    async (how) => {
      await using operator = await operated();
      const calls: unknown[] = [];
      const changes: unknown[] = [];
      operator.registry.on.event('kopfexamples', { id: 'counter' }, ({ status, patch }) => {
        calls.push(status['count']);
        patch.status['count'] = ((status['count'] as number | undefined) ?? 0) + 1;
      });
      if (how !== 'alone') {
        operator.registry.on.update('kopfexamples', { id: 'u' }, ({ spec }) => void changes.push(spec['x']));
      }
      await operator.start();
      await operator.create('name1', { spec: { x: 0 } });
      await operator.settle();
      expect(calls.length).toBeLessThanOrEqual(15);
      expect(await callsWithin(operator, 64, calls)).toBeLessThanOrEqual(10);
      expect(await callsWithin(operator, 600, calls)).toBeLessThanOrEqual(5);
      expect(warnings(operator)).toEqual([expect.stringContaining("Handlers 'counter' change")]);
      expect(warnings(operator)[0]).toContain('status.count');
      if (how === 'alone') return;
      // The handlers of changes are none of its business.
      await operator.edit('name1', { spec: { x: 1 } });
      expect(changes).toEqual([1]);
    },
  );

  it('is told of all that has happened meanwhile, in order, and of the deletion at once', async () => {
    await using operator = await operated();
    const seen: unknown[] = [];
    operator.registry.on.event('kopfexamples', { id: 'counter' }, ({ status, spec, type, patch }) => {
      seen.push(type === 'DELETED' ? type : spec['x']);
      patch.status['count'] = ((status['count'] as number | undefined) ?? 0) + 1;
    });
    await operator.start();
    await operator.create('name1', { spec: { x: 0 } });
    await callsWithin(operator, 40, []);
    for (let x = 1; x <= 5; x++) await operator.edit('name1', { spec: { x } });
    expect(seen.at(-1)).toBe(0);
    await operator.remove('name1');
    expect([...new Set(seen)]).toEqual([0, 1, 2, 3, 4, 5, 'DELETED']);
    expect(operator.memories.size).toBe(0);
  });

  it('may be tried again at once by hand', async () => {
    await using operator = await operated();
    const calls: unknown[] = [];
    operator.registry.on.event('kopfexamples', { id: 'counter' }, ({ status, patch }) => {
      calls.push(status['count']);
      patch.status['count'] = ((status['count'] as number | undefined) ?? 0) + 1;
    });
    await operator.start();
    await operator.create('name1');
    await callsWithin(operator, 40, []);
    const before = calls.length;
    expect(operator.control.retry({ name: 'name1' })).toBe(1);
    await operator.settle();
    expect(calls.length).toBeGreaterThan(before);
  });
});

describe('A handler of events that answers each of many changes by others', () => {
  it('is not slowed down', async () => {
    await using operator = await operated();
    const calls: unknown[] = [];
    operator.registry.on.event('kopfexamples', { id: 'mirror' }, ({ spec, patch }) => {
      calls.push(spec['x']);
      patch.status['mirrored'] = spec['x'] as number;
    });
    await operator.start();
    await operator.create('name1', { spec: { x: 0 } });
    for (let x = 1; x <= 40; x++) await operator.edit('name1', { spec: { x } });
    expect(calls.at(-1)).toBe(40);
    expect(warnings(operator)).toEqual([]);
  });
});

describe('A writer that undoes at once what a handler writes', () => {
  it.each(['a person', 'another operator'])('(%s) is answered less and less often', async (who) => {
    await using operator = await operated();
    const calls: unknown[] = [];
    operator.registry.on.update('kopfexamples', { id: 'u', field: 'spec.mode' }, ({ patch }) => {
      calls.push('u');
      patch.spec['mode'] = 'ours';
    });
    await operator.start();
    await operator.create('name1', { spec: { mode: 'theirs' } });
    const undo = async (): Promise<void> => {
      const { spec } = (await operator.get('name1')) as { spec: { mode: string } };
      const value = who === 'a person' ? 'theirs' : `theirs-${calls.length}`;
      if (spec.mode === 'ours') await operator.edit('name1', { spec: { mode: value } });
    };
    await operator.edit('name1', { spec: { mode: 'theirs!' } });
    for (let n = 0; n < 40; n++) await undo();
    // Each time, it is called for what they have written, and for what it has written itself.
    expect(calls.length).toBeLessThanOrEqual(2 * 11);
    const before = calls.length;
    for (let second = 0; second < 100; second++) {
      await operator.advance(1);
      await undo();
    }
    expect(calls.length - before).toBeLessThanOrEqual(2 * 7);
    expect(warnings(operator)).toHaveLength(1);
  });
});

describe('A timer', () => {
  it('that writes each second does not trip the breaker, nor does it slow down the handlers of changes', async () => {
    await using operator = await operated();
    const calls: unknown[] = [];
    operator.registry.timer('kopfexamples', { id: 't', interval: 1 }, ({ patch }) => {
      patch.status['tick'] = operator.clock.now();
    });
    operator.registry.on.update('kopfexamples', { id: 'u' }, ({ spec }) => void calls.push(spec['x']));
    await operator.start();
    await operator.create('name1', { spec: { x: 0 } });
    for (let x = 1; x <= 30; x++) {
      await operator.edit('name1', { spec: { x } });
      await operator.advance(1);
    }
    expect(calls).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
    expect(warnings(operator)).toEqual([]);
  });
});

describe('A handler that answers each of many changes by others', () => {
  it.each(['by a patch', 'by a function'])('(%s) is not slowed down: nobody undoes what it writes', async (how) => {
    await using operator = await operated();
    const calls: unknown[] = [];
    operator.registry.on.field('kopfexamples', { id: 'f', field: 'spec.x' }, ({ spec, patch }) => {
      calls.push(spec['x']);
      const answer = `${spec['x']}`;
      if (how === 'by a patch') patch.metadata.labels['answer'] = answer;
      else
        patch.fns.push((body) => {
          body.metadata = { ...body.metadata, labels: { ...body.metadata?.labels, answer } };
        });
    });
    await operator.start();
    await operator.create('name1', { spec: { x: 0 } });
    for (let x = 1; x <= 40; x++) await operator.edit('name1', { spec: { x } });
    expect(calls.at(-1)).toBe(40);
    expect(warnings(operator)).toEqual([]);
  });
});

describe('Handlers that are retried', () => {
  it('may write the same field each time: their pace is their own', async () => {
    await using operator = await operated();
    let calls = 0;
    operator.registry.on.create('kopfexamples', { id: 'c', backoff: 0.1, retries: 40 }, ({ patch, retry }) => {
      calls += 1;
      patch.status['progress'] = retry;
      if (retry < 30) throw new Error('not yet');
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(5);
    expect(calls).toBe(31);
    expect(warnings(operator)).toEqual([]);
  });
});
