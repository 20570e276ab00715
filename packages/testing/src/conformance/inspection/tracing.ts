import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import type { Awaitable, TracedWork, Tracing } from '@kopf-ts/core';
import { makeResource } from '@kopf-ts/core/engine';
import { type ConformanceCase, declareCases, type TestRunner } from '../cases.js';

type Create = () => Awaitable<Tracing>;

const resource = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'kopfexamples', kind: 'KopfExample' });
const object = { resource, kind: 'KopfExample', namespace: 'default', name: 'one', uid: 'uid-1' };

/** New ones each time. */
const works = (): readonly TracedWork[] => [
  { kind: 'cycle', object },
  { kind: 'cycle', object, origin: { mark: 'of somebody else', age: 5 } },
  { kind: 'call', handler: { id: 'fn', kind: 'change' }, object, retry: 0 },
  { kind: 'call', handler: { id: 'startup', kind: 'activity' }, object: undefined, retry: 2 },
  { kind: 'request', method: 'PATCH', path: '/apis/kopf.dev/v1/namespaces/default/kopfexamples/one' },
  { kind: 'review', uid: 'uid-2', operation: 'CREATE', headers: { accept: 'application/json' } },
];

/**
 * What every tracing must hold. The operator does its work all the same, whatever a tracing does.
 *
 * ```ts
 * import { tracingCases } from 'kopf-ts/testing';
 * const nothing: kopf.Tracing = { around: (_work, fn) => fn(), headers: () => ({}) };
 * for (const { name, run } of tracingCases(() => nothing)) it(name, run);
 * ```
 */
export function tracingCases(create: Create): readonly ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const add = (name: string, run: (tracing: Tracing) => Promise<void> | void): void => {
    cases.push({ name, run: async () => run(await create()) });
  };
  const addForEach = (name: string, run: (tracing: Tracing, work: TracedWork) => Promise<void> | void): void => {
    add(name, async (tracing) => {
      for (const work of works()) await run(tracing, work);
    });
  };

  addForEach('does the work once, at once', (tracing, work) => {
    let calls = 0;
    const returned: unknown = tracing.around(work, () => {
      calls += 1;
    });
    assert.equal(calls, 1, `the function of a ${work.kind} is called ${calls} times before around() returns`);
    assert.equal(returned, undefined);
  });

  addForEach('returns what the work returns', (tracing, work) => {
    const result = {};
    assert.equal(
      tracing.around(work, () => result),
      result,
    );
    assert.equal(
      tracing.around(work, () => 0),
      0,
    );
  });

  addForEach('throws what the work throws', (tracing, work) => {
    const error = new Error('of the work');
    const failing = (): void => {
      const returned: unknown = tracing.around(work, () => {
        throw error;
      });
      // A wrong one may make a promise of it.
      if (returned instanceof Promise) returned.catch(() => {});
    };
    assert.throws(failing, (thrown) => thrown === error, 'something else is thrown');
  });

  addForEach('lets promises resolve as they do', async (tracing, work) => {
    const result = {};
    assert.equal(await tracing.around(work, () => Promise.resolve(result)), result);
  });

  addForEach('lets promises reject as they do', async (tracing, work) => {
    const error = new Error('of the work');
    const rejected = Promise.reject(error);
    rejected.catch(() => {});
    await assert.rejects(
      async () => await tracing.around(work, () => rejected),
      (thrown) => thrown === error,
    );
  });

  add('wraps nested work', async (tracing) => {
    const [cycle, , call, , request] = works() as [TracedWork, TracedWork, TracedWork, TracedWork, TracedWork];
    const order: string[] = [];
    const result = await tracing.around(cycle, async () => {
      order.push('cycle');
      return await tracing.around(call, async () => {
        order.push('call');
        await Promise.resolve();
        return tracing.around(request, () => {
          order.push('request');
          return 'the answer';
        });
      });
    });
    assert.equal(result, 'the answer');
    assert.deepEqual(order, ['cycle', 'call', 'request']);
  });

  add('keeps concurrent work apart', async (tracing) => {
    const releases: (() => void)[] = [];
    const running = works().map((work, index) =>
      tracing.around(work, async () => {
        await new Promise<void>((resolve) => releases.push(resolve));
        return index;
      }),
    );
    for (const release of releases.toReversed()) release();
    assert.deepEqual(await Promise.all(running), [...works().keys()]);
  });

  add('returns headers with text values inside and outside of work', (tracing) => {
    const check = (): void => {
      const headers: unknown = tracing.headers();
      assert.ok(typeof headers === 'object' && headers !== null, 'there must be a mapping, if only an empty one');
      for (const [name, value] of Object.entries(headers)) {
        assert.match(name, /^[!#$%&'*+.^_`|~\w-]+$/, 'the name of a header is none');
        assert.equal(typeof value, 'string', `the header ${name} is no text`);
        assert.doesNotMatch(String(value), /[\r\n]/, `the header ${name} has more than one line`);
      }
    };
    check();
    for (const work of works()) tracing.around(work, check);
    check();
  });

  add('returns marks for objects, if at all, as short texts', (tracing) => {
    if (tracing.mark === undefined) return;
    const check = (): void => {
      const mark: unknown = tracing.mark?.();
      if (mark === undefined) return;
      assert.equal(typeof mark, 'string', 'the mark is no text');
      assert.ok(String(mark).length <= 512, `the mark is too long: ${String(mark).length} characters`);
    };
    check();
    for (const work of works()) tracing.around(work, check);
  });

  addForEach('changes nothing in what it is told', (tracing, work) => {
    const before = inspect(work, { depth: 10 });
    tracing.around(work, () => {});
    assert.equal(inspect(work, { depth: 10 }), before, `it has changed the ${work.kind}`);
  });

  return cases;
}

/**
 * Declares the cases above as tests.
 *
 * ```ts
 * import { testTracing } from 'kopf-ts/testing';
 * testTracing(() => ({ around: (_work, fn) => fn(), headers: () => ({}) }), { describe, it });
 * ```
 */
export function testTracing(create: Create, runner?: TestRunner): void {
  declareCases('Tracing', tracingCases(create), runner);
}
