/** The last step of a cycle: what is known from now on, and when to look at the object again. */
import { type Body, deepEqual, type Seconds } from '@kopf-ts/core';
import {
  type ChangeHandler,
  decideNext,
  FINISHED,
  isDeletionBlocked,
  isDeletionOngoing,
  type Ledger,
  NO_FACTS,
} from '@kopf-ts/core/engine';
import { timeLeft } from '../objects/breaker.js';
import type { Known } from '../objects/known.js';
import { followWrites, type NotedWrite } from '../objects/news.js';
import { tellCause } from '../observing/object-facts.js';
import type { Sent } from '../sending/send.js';
import { afterSending, type Breakers } from './breaking.js';
import type { Conclusion } from './conclude.js';
import type { Compared, Decision } from './decide.js';
import { type Handling, INFORMATIONAL, newLedger, patienceWithLifecycle } from './handling.js';
import type { CycleResult, Scene } from './scene.js';

/** What was decided and done in the cycle so far. */
export interface Called {
  readonly ledger: Ledger;
  /** Of the event handlers, if the change handlers were called in an earlier cycle. */
  readonly ledgerOfEvents?: Ledger;
  readonly compared?: Compared;
  readonly decision?: Decision;
  readonly handling?: Handling | undefined;
  readonly daemonDelays?: readonly Seconds[];
  /** Change handlers are held back until the author of the latest change is known. */
  readonly isHeld?: boolean;
  /** Change handlers are to be called once all this is stored. */
  readonly isPostponed?: boolean;
  /** What the reconciling handlers have seen. */
  readonly related?: Known['related'] | undefined;
}

const CORRECTION_DELAY: Seconds = 1;

/** How to go on. */
export function next(
  scene: Scene,
  called: Called,
  conclusion: Conclusion,
  sent: Extract<Sent, { kind: 'sent' | 'missing' }>,
  writes: readonly NotedWrite[],
): CycleResult {
  const { parts, body, known: before, localLogger } = scene;
  const { handling, daemonDelays = [], isPostponed, decision } = called;
  // Whatever the stream still delivers is from before that.
  if (sent.kind === 'missing') return { known: { ...conclusion.known, unsent: undefined }, isVanishing: true };
  const { answer, isVanishing, remaining, unsavable } = sent;
  for (const state of conclusion.states) scene.subject.ownTimes.remember(state);
  const now = parts.clock.now();
  const isEmptyRound = handling?.kind === 'handled' && handling.handled.isEmptyRound;
  const emptyRounds = isEmptyRound ? before.emptyRounds + 1 : 0;
  const breakers = afterSending(scene, called.ledger, writes, now);
  const followed = followWrites(conclusion.known.seen, writes, scene.essenceOf);
  const isOverdue = before.correctionsDue !== undefined && before.correctionsDue <= now;
  const seen = isOverdue ? settled(followed) : followed;
  const correctionsDue = dueForCorrections(seen, before.correctionsDue, now);
  const known: Known = {
    ...conclusion.known,
    seen,
    ...breakers,
    emptyRounds,
    heldSince: called.isHeld ? (before.heldSince ?? now) : undefined,
    correctionsDue,
    unsavable,
    unsent: remaining && { handled: undefined, patch: remaining, ledger: newLedger(scene) },
  };

  const isPatched = answer !== undefined && answer.metadata?.resourceVersion !== body.metadata?.resourceVersion;
  const delays = [
    ...daemonDelays,
    ...(isEmptyRound ? [waitForLifecycle(scene, called, emptyRounds)] : conclusion.delays),
    ...(correctionsDue === undefined ? [] : [Math.max(0, correctionsDue - now)]),
    ...pausesOf(before, breakers, now),
    ...dueOfRelated(known.related, now),
  ];
  const compat = parts.settings.persistence.compat;
  const step = decideNext({ delay: nearest(delays), patched: isPatched, compat });
  if ('log' in step && step.log && (step.action !== 'finish' || handling !== undefined)) localLogger.debug(step.log);
  const common = { known, answer: isPatched ? answer : undefined, isVanishing };
  if (step.action === 'sleep') {
    return { ...common, delay: step.seconds, byTouching: step.awakening === 'touch' };
  }
  if (step.action === 'again' || step.action === 'touch') {
    return { ...common, delay: 0, byTouching: step.action === 'touch' };
  }
  // If there was nothing to send after all, no response will wake the object up. A vanished object needs nothing more.
  const isToGoOn = isPostponed || (decision?.finalizer === 'block' && unsavable !== undefined);
  const isStuck = isToGoOn && !isVanishing && !isPatched && remaining === undefined;
  if (isStuck) return { ...common, delay: 0, byTouching: false };
  const isSettled = isPatched && !isVanishing && delays.length === 0 && isNothingNew(scene, called, known, answer);
  if (!isSettled) return common;
  const { facts = NO_FACTS } = parts;
  const cause = decision?.changing;
  if (cause !== undefined && facts.wants['object.cause']) {
    tellCause(facts, { ...cause, reason: 'noop', body: answer, diff: [] });
  }
  cause?.logger.debug(INFORMATIONAL.noop);
  localLogger.debug(FINISHED);
  return { ...common, isSettled };
}

/**
 * Whether the response to our own patch contains nothing that any handler wants to know: all handlers are done, and the
 * object is as they left it. Then it need not go through another cycle, which saves every second one for most objects.
 */
function isNothingNew(scene: Scene, { handling, decision, isPostponed }: Called, known: Known, answer: Body): boolean {
  if (decision?.related !== undefined && handling === undefined) return isStillTheSame(scene, decision, known, answer);
  if (handling?.kind !== 'handled' || handling.handled.reason === 'delete' || decision === undefined) return false;
  const { handled, seen, unsent, unsavable, correctionsDue } = known;
  const isCramped = unsavable !== undefined || scene.known.unsavable !== undefined;
  const isLeft = isCramped || seen.size > 0 || unsent !== undefined || correctionsDue !== undefined;
  if (isLeft || isPostponed || scene.isCompat || handled === undefined || handled.digest !== undefined) return false;
  const { spawning, finalizer, isHeldUntilDone } = decision;
  if (spawning !== undefined || finalizer !== undefined || isHeldUntilDone) return false;
  if (isDeletionOngoing(answer)) return false;
  // A handler may have removed the finalizer by its patch or by a verb.
  const { finalizer: ours } = scene.parts.settings.persistence;
  if (isDeletionBlocked(answer, ours) !== isDeletionBlocked(scene.body, ours)) return false;
  // Whether to hold the deletion depends on filters, which depend on what was just written or on what preceded it.
  if (handling.handled.owned.some((handler) => handler.requiresFinalizer && isFiltered(handler))) return false;
  return deepEqual(scene.essenceOf(answer), handled.essence);
}

/** Includes the handlers whose requests were refused only now. */
function dueOfRelated(related: Known['related'], now: Seconds): readonly Seconds[] {
  if (related.size === 0) return [];
  return [...related.values()].flatMap(({ dueAt }) => (dueAt === undefined ? [] : [Math.max(0, dueAt - now)]));
}

/** A cheaper form for kinds whose handlers do not ask what happened: it only looks at the present state. */
function isStillTheSame(scene: Scene, decision: Decision, known: Known, answer: Body): boolean {
  const { spawning, changing } = scene.parts.registry.handlers;
  if (spawning.of(scene.resource).length > 0 || changing.of(scene.resource).length > 0) return false;
  const isCramped = known.unsavable !== undefined || scene.known.unsavable !== undefined || known.unsent !== undefined;
  if (isCramped || scene.isCompat || decision.isHeldUntilDone || isDeletionOngoing(answer)) return false;
  const { finalizer: ours } = scene.parts.settings.persistence;
  if (isDeletionBlocked(answer, ours) !== isDeletionBlocked(scene.body, ours)) return false;
  return deepEqual(scene.essenceOf(answer), scene.essenceOf(scene.body));
}

/** The deadline for storing the digests of what the handlers have seen, if no other patch comes before. */
function dueForCorrections(seen: Known['seen'], due: Seconds | undefined, now: Seconds): Seconds | undefined {
  const isPending = [...seen.values()].some(({ stored, digest, isSettled }) => stored !== digest && !isSettled);
  return isPending ? (due ?? now + CORRECTION_DELAY) : undefined;
}

/**
 * One attempt to store the digests alone is enough: a server that changes something with every write would make it
 * endless. If the operator restarts now, some handlers may be called once more.
 */
function settled(seen: Known['seen']): Known['seen'] {
  return new Map([...seen].map(([id, one]) => [id, { ...one, isSettled: true }]));
}

function waitForLifecycle({ localLogger }: Scene, { handling }: Called, rounds: number): Seconds {
  const delay = patienceWithLifecycle(rounds - 1);
  if (rounds === 1 && handling?.kind === 'handled') {
    const { handlers, state } = handling.handled.loaded;
    const due = handlers.filter(({ id }) => state.get(id)?.awakened).length;
    localLogger.warn(
      `The lifecycle has picked none of the handlers that are due (${due}). It is asked again, less and less often, ` +
        'until it picks some: a lifecycle must not return an empty list.',
    );
  }
  return delay;
}

/**
 * Retries of change handlers are awaited by the cycle that could not call them; those of event handlers, by the object.
 */
function pausesOf(before: Known, { breaker, eventBreaker }: Breakers, now: Seconds): readonly Seconds[] {
  const pause = breaker === before.breaker ? undefined : timeLeft(breaker, now);
  const eventPause = timeLeft(eventBreaker, now);
  return [pause, eventPause].filter((left) => left !== undefined);
}

export function nearest(delays: readonly Seconds[]): Seconds | undefined {
  return delays.length > 0 ? Math.min(...delays) : undefined;
}

function isFiltered({ labels, annotations, field, when }: ChangeHandler): boolean {
  return labels !== undefined || annotations !== undefined || field !== undefined || when !== undefined;
}
