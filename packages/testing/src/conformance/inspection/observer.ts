import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import type { Awaitable, Fact, Observer } from '@kopf-ts/core';
import { type ConformanceCase, declareCases, type TestRunner } from '../cases.js';
import { sampleFacts, sparseFacts } from './sample-facts.js';

type Create = () => Awaitable<Observer>;

/**
 * What every observer must hold. The operator survives observers that do not; but what they show is not worth much.
 *
 * ```ts
 * import { observerCases, recordingObserver } from 'kopf-ts/testing';
 * for (const { name, run } of observerCases(() => recordingObserver())) it(name, run);
 * ```
 */
export function observerCases(create: Create): readonly ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const add = (name: string, run: (observer: Observer) => void): void => {
    cases.push({ name, run: async () => run(await create()) });
  };

  add('wants only existing kinds of facts', ({ wants }) => {
    if (wants === 'all') return;
    assert.ok(Array.isArray(wants), '`wants` must be a list of kinds, or `all`');
    assert.ok(wants.length > 0, 'it wants nothing, and so is never told anything');
    const known = new Set<string>(sampleFacts().map(({ kind }) => kind));
    assert.deepEqual(
      wants.filter((kind) => !known.has(kind)),
      [],
      'it wants kinds of facts that do not exist',
    );
  });

  add('accepts all facts that it wants', (observer) => {
    for (const fact of wantedOf(observer, sampleFacts())) tell(observer, fact);
  });

  add('accepts facts without their optional parts', (observer) => {
    for (const fact of wantedOf(observer, sparseFacts())) tell(observer, fact);
  });

  add('accepts facts in any order, and repeatedly', (observer) => {
    const facts = wantedOf(observer, sampleFacts());
    for (let round = 0; round < 100; round++) {
      for (const fact of round % 2 === 0 ? facts : facts.toReversed()) tell(observer, fact);
    }
  });

  add('accepts facts of several operators', (observer) => {
    for (const fact of wantedOf(observer, sampleFacts())) {
      for (const operator of ['one', 'two']) tell(observer, { ...fact, operator });
    }
  });

  add('accepts facts of unknown kinds if it wants all', (observer) => {
    if (observer.wants !== 'all') return;
    tell(observer, { kind: 'future.fact', operator: 'sample', at: 1 } as unknown as Fact);
  });

  add('accepts facts synchronously: it returns no promise', (observer) => {
    for (const fact of wantedOf(observer, sampleFacts())) {
      const returned: unknown = observer.observe(Object.freeze(fact));
      if (returned instanceof Promise) returned.catch(() => {});
      assert.equal(returned, undefined, `it returns something for '${fact.kind}', and nobody waits for it`);
    }
  });

  add('does not modify facts or their contents', (observer) => {
    for (const fact of wantedOf(observer, sampleFacts())) {
      const before = shown(fact);
      try {
        observer.observe(fact);
      } catch {
        // It is another mistake.
      }
      assert.equal(shown(fact), before, `it has changed a fact '${fact.kind}'`);
    }
  });

  add('never changes which facts it wants', (observer) => {
    const before = shown(observer.wants);
    for (const fact of wantedOf(observer, sampleFacts())) tell(observer, fact);
    assert.equal(shown(observer.wants), before, 'it wants something else now; but it is asked only once');
  });

  return cases;
}

/**
 * Declares the cases above as tests.
 *
 * ```ts
 * import { recordingObserver, testObserver } from 'kopf-ts/testing';
 * testObserver(() => recordingObserver(['call.ended']), { describe, it });
 * ```
 */
export function testObserver(create: Create, runner?: TestRunner): void {
  declareCases('Observer', observerCases(create), runner);
}

function wantedOf({ wants }: Observer, facts: readonly Fact[]): readonly Fact[] {
  return wants === 'all' ? facts : facts.filter(({ kind }) => wants.includes(kind));
}

function tell(observer: Observer, fact: Fact): void {
  try {
    observer.observe(Object.freeze(fact));
  } catch (error) {
    assert.fail(`it throws at a fact '${fact.kind}': ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** All of it, but for what loggers remember. */
function shown(value: unknown): string {
  const { logger: _, ...rest } = Object(value) as { readonly logger?: unknown };
  return inspect(typeof value === 'object' && !Array.isArray(value) ? rest : value, { depth: 20 });
}
