/** Random scenarios. */
import fc from 'fast-check';
import type { Fault, Refusal, Rewriting } from './model-server.js';
import type { Deed, Edit, HandlerKind, HandlerSpec, Scenario } from './scenario.js';

const DEEDS: readonly Deed[] = [
  'label',
  'annotation',
  'own',
  'field',
  'phase',
  'list',
  'listed',
  'items',
  'box',
  'cpu',
  'unknown',
  'secret',
];
/** The server never makes something else of them: so they can be seen to be done already. */
const PLAIN_DEEDS: ReadonlySet<Deed> = new Set(['label', 'annotation', 'own', 'field', 'phase', 'list', 'listed']);

/** How far into the run things can happen: a few calls and PATCHes. */
const POINTS = 40;

/** Left out in so many of ten scenarios, so that each of them is about few things; and shrinks to being left out. */
function seldom<T>(left: number, others: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof(
    { withCrossShrink: true },
    { weight: left, arbitrary: fc.constant(undefined) },
    { weight: 10 - left, arbitrary: others },
  );
}

const work = {
  deeds: seldom(2, fc.subarray([...DEEDS], { minLength: 1, maxLength: 2 })),
  fails: seldom(6, fc.integer({ min: 1, max: 2 })),
  delay: seldom(7, fc.constantFrom(0.5, 3)),
  nap: seldom(7, fc.constantFrom(0.2, 2.5)),
  returns: seldom(7, fc.constant(true)),
  byVerbs: seldom(7, fc.constant(true)),
};

const handler: fc.Arbitrary<HandlerSpec> = fc
  .record({
    kind: fc.constantFrom<HandlerKind>(
      'create',
      'create',
      'create',
      'update',
      'update',
      'update',
      'field',
      'phase',
      'resume',
      'delete',
      'timer',
      'daemon',
    ),
    ...work,
    subs: seldom(7, fc.array(fc.record(work), { minLength: 1, maxLength: 3 })),
  })
  .map((spec) => {
    const hasSubs = spec.kind === 'create' || spec.kind === 'update';
    return compact({ ...spec, subs: hasSubs ? spec.subs?.map(compact) : undefined }) as unknown as HandlerSpec;
  });

const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('field' as const), to: fc.integer({ min: 0, max: 3 }) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('other', 'label', 'annotation', 'phase', 'foreign'),
      to: fc.integer({ min: 0, max: 3 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('undo' as const), handler: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.constant<Edit>({ do: 'strip' }) },
  { weight: 2, arbitrary: fc.constant<Edit>({ do: 'delete' }) },
  { weight: 1, arbitrary: fc.constant<Edit>({ do: 'recreate' }) },
);

const rewriting: fc.Arbitrary<Rewriting | undefined> = fc
  .record({
    mappings: seldom(6, fc.constant(true)),
    items: seldom(6, fc.constant(true)),
    pruning: seldom(6, fc.constant(true)),
    quantities: seldom(6, fc.constant(true)),
    stringData: seldom(6, fc.constant(true)),
    stamp: seldom(7, fc.constantFrom('label' as const, 'annotation' as const, 'spec' as const)),
  })
  .map((each) => {
    const some = compact(each) as Rewriting;
    return Object.keys(some).length === 0 ? undefined : some;
  });

export function scenarios(): fc.Arbitrary<Scenario> {
  return fc
    .record({
      storage: seldom(6, fc.constant('status' as const)),
      hasStatus: seldom(6, fc.constant(true)),
      lifecycle: seldom(5, fc.constantFrom('oneByOne' as const, 'allAtOnce' as const)),
      existsBefore: seldom(7, fc.constant(true)),
      lag: seldom(7, fc.constantFrom(0.05, 1, 7)),
      late: seldom(7, fc.constantFrom(0.05, 0.5)),
      latency: seldom(8, fc.constantFrom(0.03, 0.4)),
      startsDone: seldom(8, fc.constant(true)),
      rewriting,
      handlers: fc.array(handler, { minLength: 1, maxLength: 4 }),
      refusal: seldom(
        8,
        fc.record({
          handler: fc.oneof(fc.nat(3), fc.constant('all' as const)),
          how: fc.constantFrom<Refusal>('422 with causes', '422', '403'),
          seconds: fc.constantFrom(0.5, 4, 12),
        }),
      ),
      edits: seldom(3, fc.array(fc.record({ at: fc.nat(POINTS), edit }), { minLength: 1, maxLength: 4 })),
      kills: seldom(7, fc.array(fc.nat(POINTS), { minLength: 1, maxLength: 2 })),
      cuts: seldom(8, fc.array(fc.nat(POINTS), { minLength: 1, maxLength: 2 })),
      faults: seldom(
        7,
        fc.array(
          fc.record({
            patch: fc.integer({ min: 1, max: 8 }),
            fault: fc.constantFrom<Fault>('lost', 'reset', 500, 503),
          }),
          { minLength: 1, maxLength: 2 },
        ),
      ),
      later: seldom(5, fc.array(edit, { minLength: 1, maxLength: 2 })),
    })
    .map((each) => withoutSelfTriggering(compact(each) as unknown as Scenario));
}

/**
 * Where each write is stamped, a handler of changes whose write is sent each time, as it never looks done, would
 * trigger itself for ever. That is what the operator asks for, and another test's business.
 */
function withoutSelfTriggering(scenario: Scenario): Scenario {
  if (scenario.rewriting?.stamp === undefined) return scenario;
  const plain = (deeds: readonly Deed[] | undefined) => deeds?.filter((deed) => PLAIN_DEEDS.has(deed));
  const handlers = scenario.handlers.map((spec) => {
    const subs = spec.subs?.map((sub) => compact({ ...sub, deeds: plain(sub.deeds) }));
    return compact({ ...spec, deeds: plain(spec.deeds), subs }) as unknown as HandlerSpec;
  });
  return { ...scenario, handlers };
}

function compact<T extends object>(fields: T): T {
  const kept = Object.entries(fields).filter(
    ([, value]) => !(value === undefined || (Array.isArray(value) && value.length === 0)),
  );
  return Object.fromEntries(kept) as T;
}
