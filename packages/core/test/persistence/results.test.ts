import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/execution/outcomes.js';
import { deliverResults } from '../../src/execution/progress/results.js';
import type { Mapping } from '../../src/values/json.js';
import { Patch } from '../../src/values/patches/patch.js';

function deliver(result: unknown, status?: Mapping, id = 'fn/spec.field'): unknown {
  const patch = new Patch(status === undefined ? undefined : { status });
  deliverResults({ outcomes: new Map<string, Outcome>([[id, { final: true, result, subrefs: [] }]]), patch });
  return patch.merge['status'];
}

describe('Results of handlers', () => {
  it.each([[undefined], [null]])('are not delivered if there are none: %s', (result) => {
    expect(deliver(result)).toBeUndefined();
  });

  it.each([['string'], [0], [''], [false], [[1, 2]]])('are put as they are under the whole id: %j', (result) => {
    expect(deliver(result)).toEqual({ 'fn/spec.field': result });
  });

  it('are merged, if they are mappings, over what the handlers have put there', () => {
    const existing = { fn: { kept: 1, replaced: { deep: 1 } }, other: 2 };
    expect(deliver({ replaced: { new: 2 }, added: 3 }, existing, 'fn')).toEqual({
      fn: { kept: 1, replaced: { new: 2 }, added: 3 },
      other: 2,
    });
  });

  it('replace what is not a mapping, and are replaced by what is not', () => {
    expect(deliver({ x: 1 }, { fn: 'text' }, 'fn')).toEqual({ fn: { x: 1 } });
    expect(deliver('text', { fn: { x: 1 } }, 'fn')).toEqual({ fn: 'text' });
  });

  it('are copied', () => {
    const result = { list: [1] };
    const status = deliver(result, undefined, 'fn');
    result.list.push(2);
    expect(status).toEqual({ fn: { list: [1] } });
  });

  it('become JSON if they know how', () => {
    expect(deliver(new Date(0), undefined, 'fn')).toEqual({ fn: '1970-01-01T00:00:00.000Z' });
  });

  it('never reach a prototype', () => {
    const status = deliver(JSON.parse('{"__proto__": {"polluted": true}}'), undefined, '__proto__') as object;
    expect(Object.keys(status)).toEqual(['__proto__']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(status)).toBe(Object.prototype);
  });

  it('are not there for failures and retries', () => {
    const patch = new Patch();
    const outcomes = new Map<string, Outcome>([
      ['a', { final: true, error: new Error('boo'), subrefs: [] }],
      ['b', { final: false, error: new Error('boo'), delay: 1, subrefs: [] }],
    ]);
    deliverResults({ outcomes, patch });
    expect(patch.isEmpty).toBe(true);
  });
});
