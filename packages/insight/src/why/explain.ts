/**
 * Why something happens to an object, or does not: from the journal of an operator, from what is on the object, or from
 * both, to sentences. Pure: it asks nobody, and decides nothing.
 */
import type { HandlerId, Seconds } from '@kopf-ts/core';
import type { ObjectJournal, OperatorJournal } from '../journal/entries.js';
import { type HandlerAnswer, handlerAnswers } from './handlers.js';
import type { ObjectMarks } from './marks.js';
import { plainText } from './plain-text.js';
import { aboutMarks } from './reasons/of-marks.js';
import { aboutObject } from './reasons/of-object.js';
import { aboutOperator } from './reasons/of-operator.js';
import { type Moment, timelineOf } from './timeline.js';
import { momentsOf } from './times.js';

/**
 * What is known for an answer: any part may be absent.
 *
 * ```ts
 * const known = (journal: kopf.insight.Journal): kopf.insight.WhyInput => {
 *   const object = { resource: 'kopfexamples', namespace: 'default', name: 'one' };
 *   return { object, journal: journal.find(object), operator: journal.operator() };
 * };
 * ```
 */
export interface WhyInput {
  readonly object: {
    /** As kubectl names it: `kopfexamples.kopf.dev`. */
    readonly resource: string;
    readonly kind?: string | undefined;
    readonly namespace?: string | undefined;
    readonly name: string;
  };
  readonly journal?: ObjectJournal | undefined;
  readonly operator?: OperatorJournal | undefined;
  /** What the operator does with it at this moment. */
  readonly live?: LiveState | undefined;
  /** What is on the object; `null` if there is no such object. */
  readonly marks?: ObjectMarks | null | undefined;
  /** The present time, if there is no operator to tell it. */
  readonly utc?: Date | undefined;
}

/**
 * What an operator does with an object at this moment, as `control.objects()` tells.
 *
 * ```ts
 * const live: kopf.insight.LiveState = { phase: 'running', isPaused: false, calls: ['create_fn'], daemons: [] };
 * ```
 */
export interface LiveState {
  readonly phase: 'idle' | 'waiting' | 'queued' | 'running';
  readonly isPaused: boolean;
  readonly until?: Seconds | undefined;
  readonly calls: readonly HandlerId[];
  readonly daemons: readonly HandlerId[];
  /** Whether the whole operator was paused by hand. */
  readonly isOperatorPaused?: boolean | undefined;
}

/**
 * One reason, as a code for programs, and as a sentence for people.
 *
 * ```ts
 * const isWaiting = ({ reason }: kopf.insight.WhyFinding): boolean => reason === 'retrying' || reason === 'throttled';
 * ```
 */
export interface WhyFinding {
  readonly reason: WhyReason;
  readonly text: string;
  /** If it is about one of them. */
  readonly handler?: HandlerId | undefined;
}

/**
 * Why handlers are called or not.
 *
 * ```ts
 * const ours: kopf.insight.WhyReason[] = ['paused', 'throttled', 'breaker'];
 * ```
 */
export type WhyReason =
  /** Of the operator: it does not serve the kind or the namespace, or does not work at all at the moment. */
  | 'kind-unserved'
  | 'out-of-scope'
  | 'paused-by-peer'
  | 'not-leader'
  | 'operator-paused'
  | 'forbidden'
  | 'stream-down'
  | 'starting'
  | 'indexing'
  /** Of the object: it is not there, or something keeps all its handlers from being called. */
  | 'missing'
  | 'gone'
  | 'unseen'
  | 'paused'
  | 'throttled'
  | 'breaker'
  | 'too-large'
  | 'finalizer'
  | 'patch-failed'
  | 'running'
  | 'queued'
  | 'superseded'
  | 'own-change'
  | 'unchanged'
  /** Of a handler. */
  | 'filtered'
  | 'retrying'
  | 'succeeded'
  | 'failed'
  /** There is nothing left to do; or nothing is known. */
  | 'done'
  | 'unknown';

/**
 * The answer.
 *
 * ```ts
 * const print = ({ title, findings }: kopf.insight.Explanation): string =>
 *   [title, ...findings.map(({ text }) => `- ${text}`)].join('\n');
 * ```
 */
export interface Explanation {
  /** `KopfExample default/one` */
  readonly title: string;
  /** The most important one goes first; there is always one. */
  readonly findings: readonly WhyFinding[];
  readonly handlers: readonly HandlerAnswer[];
  /** The oldest goes first. */
  readonly timeline: readonly Moment[];
  /** How many older moments are forgotten. */
  readonly lost: number;
  /** Who has told it; `undefined` if there was only the object itself. */
  readonly operator: string | undefined;
}

/**
 * Answers, why.
 *
 * ```ts
 * const journal = kopf.insight.journal({ clock: kopf.reactor.systemClock });
 * const object = { resource: 'kopfexamples', namespace: 'default', name: 'one' };
 * const why = kopf.insight.explain({ object, journal: journal.find(object), operator: journal.operator() });
 * console.log(why.findings[0]?.text);
 * ```
 */
export function explain(input: WhyInput): Explanation {
  const { journal, operator, marks } = input;
  const object = { ...input.object, resource: servedName(input) };
  const known: Known = { ...input, object, times: momentsOf(input) };
  const handlers = handlerAnswers(known);
  const findings = [...aboutOperator(known), ...aboutObject(known, handlers), ...aboutMarks(known, handlers)];
  const own = handlers.flatMap(({ reason, handler, text }): WhyFinding[] =>
    reason === undefined ? [] : [{ reason, handler, text }],
  );
  // What keeps everything from going on goes first, then each handler, then what is in order.
  const isCalm = ({ reason }: WhyFinding): boolean => CALM.has(reason);
  const all = [...findings.filter((one) => !isCalm(one)), ...own.filter((one) => !isCalm(one))];
  const calm = [...findings.filter(isCalm), ...own.filter(isCalm)];
  const answer = unique([...all, ...calm]);
  const { kind = journal?.kind ?? object.resource, namespace, name } = object;
  return {
    title: plainText(`${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`),
    findings: answer.length > 0 ? answer.map(shown) : [nothingKnown(operator !== undefined || marks !== undefined)],
    handlers: handlers.map((one) => ({ ...shown(one), handler: plainText(one.handler) })),
    timeline: timelineOf(known).map(shown),
    lost: journal?.lost ?? 0,
    operator: operator?.operator === undefined ? undefined : plainText(operator.operator),
  };
}

/** Whoever asks may leave the group out. */
function servedName({ object: { resource }, operator }: WhyInput): string {
  const served = operator?.resources ?? [];
  return served.includes(resource) ? resource : (served.find((one) => one.split('.', 1)[0] === resource) ?? resource);
}

/** With what all parts of the answer need. */
export interface Known extends WhyInput {
  readonly times: ReturnType<typeof momentsOf>;
}

/** These are no obstacles. */
const CALM: ReadonlySet<WhyReason> = new Set([
  'own-change',
  'unchanged',
  'succeeded',
  'done',
  'running',
  'queued',
  'unknown',
]);

function unique(findings: readonly WhyFinding[]): readonly WhyFinding[] {
  const texts = new Set<string>();
  return findings.filter(({ text }) => !texts.has(text) && texts.add(text) !== undefined);
}

function shown<T extends { readonly text: string }>(one: T): T {
  return { ...one, text: plainText(one.text) };
}

function nothingKnown(isAnythingAsked: boolean): WhyFinding {
  const text = isAnythingAsked
    ? 'There is nothing to be done for it.'
    : 'Nothing is known of it: there is neither an operator to be asked nor the object to be looked at.';
  return { reason: isAnythingAsked ? 'done' : 'unknown', text };
}
