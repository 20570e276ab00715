import type { Peering, PeeringScope } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { type ManualClock, manualClock, type PeeringUnderTest, peeringCases } from '../../src/index.js';
import { complaint, failures } from './failures.js';

/** What all operators of the world see: who of them works. It stands for a cluster. */
interface Board {
  holder: string | undefined;
  answers: boolean;
}

type Parts = { [Part in 'step' | 'leave']?: (board: Board, me: string, scope: PeeringScope) => void } & {
  readonly join?: (scope: PeeringScope, good: Peering) => Promise<void>;
};

/** A right peering by the board, the first one works; and ways to spoil it. */
function peeringBy(board: Board, me: string, parts: Parts = {}): Peering {
  let users = 0;
  const step = (scope: PeeringScope): void => {
    if (!board.answers) return;
    board.holder ??= me;
    scope.paused.turn(board.holder !== me);
  };
  const good: Peering = {
    async join(scope) {
      const { clock, signal } = scope;
      if (signal.aborted) return;
      let isIn = true;
      users += 1;
      scope.guardWrites(() => isIn && board.holder === me);
      try {
        for (;;) {
          (parts.step ? () => parts.step?.(board, me, scope) : () => step(scope))();
          await clock.sleep(5, { signal });
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        isIn = false;
        users -= 1;
        const leave = parts.leave ?? (() => (board.holder = board.holder === me ? undefined : board.holder));
        if (users === 0) leave(board, me, scope);
      }
    },
  };
  return parts.join === undefined ? good : { join: (scope) => parts.join?.(scope, good) ?? Promise.resolve() };
}

function world(parts: Parts = {}): () => PeeringUnderTest {
  return () => {
    const clock: ManualClock = manualClock();
    const board: Board = { holder: undefined, answers: true };
    return {
      clock,
      peering: peeringBy(board, 'me', parts),
      successor: peeringBy(board, 'successor'),
      elder: () => {
        board.holder = 'elder';
        return { leave: () => (board.holder = undefined) };
      },
      usurp: () => {
        board.holder = 'usurper';
      },
      outage: () => {
        board.answers = false;
        return () => {
          board.answers = true;
        };
      },
    };
  };
}

const good = world();
const allCases = peeringCases(good).map(({ name }) => name);

const broken: [sin: string, caught: string, create: () => PeeringUnderTest][] = [
  ['never gives a verdict', 'lets the operator work if it is alone', world({ step: () => {} })],
  [
    'keeps the write guard closed',
    'lets the operator work if it is alone',
    world({ join: (scope, right) => right.join({ ...scope, guardWrites: () => scope.guardWrites(() => false) }) }),
  ],
  [
    'ends after the first verdict',
    'stays until it is aborted',
    world({
      join: async ({ clock, paused, signal }) => {
        paused.turn(false);
        await clock.sleep(100, { signal }).catch(() => undefined);
      },
    }),
  ],
  [
    'takes the abort for an error',
    'ends in time and without an error when aborted',
    world({
      join: async (scope, right) => {
        await right.join(scope);
        scope.signal.throwIfAborted();
      },
    }),
  ],
  [
    'does not hear that it is to leave',
    'ends in time and without an error when aborted',
    world({ join: (scope, right) => right.join({ ...scope, signal: new AbortController().signal }) }),
  ],
  [
    'works first and asks later',
    'does nothing if already aborted',
    world({
      join: (scope, right) => {
        scope.paused.turn(false);
        return right.join(scope);
      },
    }),
  ],
  [
    'sleeps on after it has left',
    'leaves no timers and no listeners behind',
    world({
      join: async (scope, right) => {
        void scope.clock.sleep(100_000);
        await right.join(scope);
      },
    }),
  ],
  [
    'listens on after it has left',
    'leaves no timers and no listeners behind',
    world({
      join: async (scope, right) => {
        const idle = new AbortController();
        const listen = (): void => scope.signal.addEventListener('abort', () => undefined, { signal: idle.signal });
        await right.join(scope);
        listen();
      },
    }),
  ],
  [
    'has a write guard that is always open',
    'with a write guard, forbids writing after it has left',
    world({ join: (scope, right) => right.join({ ...scope, guardWrites: () => scope.guardWrites(() => true) }) }),
  ],
  [
    'leaves all namespaces at once',
    'can be joined for several namespaces, and left for one of them',
    (() => {
      return () => {
        const all = new AbortController();
        const spoiled = world({
          join: (scope, right) => {
            scope.signal.addEventListener('abort', () => all.abort(), { once: true });
            return right.join({ ...scope, signal: all.signal });
          },
        });
        return spoiled();
      };
    })(),
  ],
  [
    'can be used only once',
    'can be joined again after it was left',
    () => {
      let isUsed = false;
      return world({
        join: async (scope, right) => {
          if (isUsed) return;
          await right.join(scope);
          isUsed = true;
        },
      })();
    },
  ],
  [
    'fails if the cluster does',
    'survives a cluster that is unreachable at first',
    world({
      step: (board, me, { paused }) => {
        if (!board.answers) throw new Error('There is no answer.');
        board.holder ??= me;
        paused.turn(board.holder !== me);
      },
    }),
  ],
  [
    'fails if the cluster does',
    'survives a cluster that is unreachable for a while',
    world({
      step: (board, me, { paused }) => {
        if (!board.answers) throw new Error('There is no answer.');
        board.holder ??= me;
        paused.turn(board.holder !== me);
      },
    }),
  ],
  [
    'does not leave without a word to the cluster',
    'ends in time even if the cluster is unreachable',
    () => {
      const target = world()();
      let isOut = false;
      const peering: Peering = {
        join: async (scope) => {
          await target.peering.join(scope);
          if (isOut) await new Promise(() => {});
        },
      };
      const outage = async () => {
        isOut = true;
        return (await target.outage?.()) ?? (() => undefined);
      };
      return { ...target, peering, outage };
    },
  ],
  [
    'works until it knows better',
    'never lets the operator work while another one has precedence, not even for a moment',
    world({
      join: async (scope, right) => {
        if (!scope.signal.aborted) scope.paused.turn(false);
        await right.join(scope);
      },
    }),
  ],
  [
    'knows of nobody else',
    'never lets the operator work while another one has precedence, not even for a moment',
    world({ step: (_board, _me, { paused }) => paused.turn(false) }),
  ],
  [
    'never looks again',
    'lets the operator work once the other one is gone',
    () => {
      let isDecided = false;
      return world({
        step: (board, me, { paused }) => {
          if (isDecided) return;
          isDecided = true;
          board.holder ??= me;
          paused.turn(board.holder !== me);
        },
      })();
    },
  ],
  [
    'believes that it works for ever',
    'pauses the operator when another one takes over',
    world({
      step: (board, me, { paused }) => {
        board.holder ??= me;
        if (board.holder === me) paused.turn(false);
      },
    }),
  ],
  ['leaves its mark behind', 'makes way for another one when it leaves', world({ leave: () => {} })],
];

describe('the suite of peerings', () => {
  it('passes a good one', async () => {
    expect(await failures(peeringCases(good))).toEqual([]);
  });

  it('passes one that knows of no others', async () => {
    const alone = (): PeeringUnderTest => {
      const { clock, peering } = good();
      return { clock, peering };
    };
    expect(await failures(peeringCases(alone))).toEqual([]);
  });

  it.each(broken)('rejects the one that %s', async (_sin, caught, create) => {
    expect(await failures(peeringCases(create))).toContain(caught);
  });

  it.each(allCases)('has a reason for the case: %s', (name) => {
    expect(broken.map(([, caught]) => caught)).toContain(name);
  });

  it('expects verdicts in the time it is told', async () => {
    const slow = world({
      join: async (scope, right) => {
        await scope.clock.sleep(40, { signal: scope.signal }).catch(() => undefined);
        await right.join(scope);
      },
    });
    expect(await failures(peeringCases(slow))).not.toEqual([]);
    expect(await failures(peeringCases(slow, { promptness: 50 }))).toEqual([]);
  });

  it('cleans up after each case', async () => {
    let cleanUps = 0;
    const cases = peeringCases(() => ({ ...good(), cleanUp: () => cleanUps++ }));
    await failures(cases);
    expect(cleanUps).toBe(cases.length);
  });

  it('says what is wrong in words', async () => {
    const cases = peeringCases(world({ step: () => {} }));
    expect(await complaint(cases, 'lets the operator work if it is alone')).toBe(
      'the operator is paused, and should work',
    );
  });
});
