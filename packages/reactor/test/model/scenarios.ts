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

/** Options that are left out when they are as usual, so that what is printed is short. */
function mostly<T>(usual: T, others: fc.Arbitrary<T>, weight = 3): fc.Arbitrary<T | undefined> {
  return fc.option(others, { nil: undefined, freq: weight }).map((value) => (value === usual ? undefined : value));
}

const work = {
  deeds: mostly<readonly Deed[]>([], fc.subarray([...DEEDS], { maxLength: 2 }), 5),
  fails: mostly(0, fc.integer({ min: 0, max: 2 }), 1),
  delay: mostly(0, fc.constantFrom(0, 0.5, 3), 1),
  nap: mostly(0, fc.constantFrom(0, 0.2, 2.5), 1),
  returns: mostly(false, fc.boolean(), 1),
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
    subs: mostly<readonly HandlerSpec[]>([], fc.array(fc.record(work) as never, { maxLength: 3 }), 1),
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
    mappings: mostly(false, fc.boolean(), 1),
    items: mostly(false, fc.boolean(), 1),
    pruning: mostly(false, fc.boolean(), 1),
    quantities: mostly(false, fc.boolean(), 1),
    stringData: mostly(false, fc.boolean(), 1),
    stamp: fc.option(fc.constantFrom('label' as const, 'annotation' as const, 'spec' as const), {
      nil: undefined,
      freq: 1,
    }),
  })
  .map((each) => {
    const some = compact(each) as Rewriting;
    return Object.keys(some).length === 0 ? undefined : some;
  });

export function scenarios(): fc.Arbitrary<Scenario> {
  return fc
    .record({
      storage: mostly('annotations', fc.constantFrom('annotations' as const, 'status' as const), 1),
      hasStatus: mostly(false, fc.boolean(), 1),
      lifecycle: mostly('asap', fc.constantFrom('asap' as const, 'oneByOne' as const, 'allAtOnce' as const), 1),
      existsBefore: mostly(false, fc.boolean(), 1),
      lag: mostly(0, fc.constantFrom(0, 0.05, 1, 7), 1),
      rewriting,
      handlers: fc.array(handler, { minLength: 1, maxLength: 4 }),
      refusal: fc.option(
        fc.record({
          handler: fc.oneof(fc.nat(3), fc.constant('all' as const)),
          how: fc.constantFrom<Refusal>('422 with causes', '422', '403'),
          seconds: fc.constantFrom(0.5, 4, 12),
        }),
        { nil: undefined, freq: 1 },
      ),
      edits: mostly<Scenario['edits']>([], fc.array(fc.record({ at: fc.nat(POINTS), edit }), { maxLength: 4 })),
      kills: mostly<Scenario['kills']>([], fc.array(fc.nat(POINTS), { maxLength: 2 }), 1),
      cuts: mostly<Scenario['cuts']>([], fc.array(fc.nat(POINTS), { maxLength: 2 }), 1),
      faults: mostly<Scenario['faults']>(
        [],
        fc.array(
          fc.record({ patch: fc.integer({ min: 1, max: 8 }), fault: fc.constantFrom<Fault>('lost', 'reset', 500, 503) }),
          { maxLength: 2 },
        ),
        1,
      ),
      later: mostly<Scenario['later']>([], fc.array(edit, { maxLength: 2 })),
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
  const kept = Object.entries(fields).filter(([, value]) => !(value === undefined || (Array.isArray(value) && value.length === 0)));
  return Object.fromEntries(kept) as T;
}
