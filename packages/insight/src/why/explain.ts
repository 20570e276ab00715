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
 * The input of an answer. Any part may be absent.
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
  /** What the operator is doing with the object right now. */
  readonly live?: LiveState | undefined;
  /** The marks on the object; `null` if there is no such object. */
  readonly marks?: ObjectMarks | null | undefined;
  /** The present time if there is no operator to report it. */
  readonly utc?: Date | undefined;
}

/**
 * What an operator is doing with an object right now, as reported by `control.objects()`.
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
 * One reason: a code for programs, and a sentence for people.
 *
 * ```ts
 * const isWaiting = ({ reason }: kopf.insight.WhyFinding): boolean => reason === 'retrying' || reason === 'throttled';
 * ```
 */
export interface WhyFinding {
  readonly reason: WhyReason;
  readonly text: string;
  /** The handler that the reason is about. */
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
  /** Of the operator: it does not serve the kind or the namespace, or is not working at the moment. */
  | 'kind-unserved'
  | 'out-of-scope'
  | 'paused-by-peer'
  | 'not-leader'
  | 'operator-paused'
  | 'forbidden'
  | 'stream-down'
  | 'starting'
  | 'indexing'
  /** Of the object: it does not exist, or something holds up all its handlers. */
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
  /** The most important first; never empty. */
  readonly findings: readonly WhyFinding[];
  readonly handlers: readonly HandlerAnswer[];
  /** The oldest first. */
  readonly timeline: readonly Moment[];
  /** The number of older moments that were dropped. */
  readonly lost: number;
  /** The identity of the operator; `undefined` if only the object itself was available. */
  readonly operator: string | undefined;
}

/**
 * Explains why handlers are called or not.
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
  // Obstacles for all handlers go first, then single handlers, then findings that are no problems.
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

/** The group of the resource may be left out. */
function servedName({ object: { resource }, operator }: WhyInput): string {
  const served = operator?.resources ?? [];
  return served.includes(resource) ? resource : (served.find((one) => one.split('.', 1)[0] === resource) ?? resource);
}

/** The input of all parts of the answer. */
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
    ? 'There is nothing to do for this object.'
    : 'Nothing is known about this object: neither an operator nor the object itself is available.';
  return { reason: isAnythingAsked ? 'done' : 'unknown', text };
}
