/** Whether an operator is at rest: it calls nobody and writes nothing, until somebody else changes something. */
import { AssertionError } from 'node:assert';
import type { Clock, Fact, FactOf, HandlerId, ObservedObject, Observer, Seconds } from '@kopf-ts/core';
import { isManual, passUntil } from '../stopping.js';
import { keyOf, titleOf } from './objects.js';

/**
 * For how long an operator is to be at rest, and who may go on meanwhile.
 *
 * ```ts
 * import type { QuiescenceOptions } from 'kopf-ts/testing';
 * const options: QuiescenceOptions = { during: 3600, except: ['check_disk'] };
 * ```
 */
export interface QuiescenceOptions {
  /** By the clock of the operator. Default: 600 seconds of a manual clock; 1 second of a real one. */
  readonly during?: Seconds | undefined;
  /** Handlers that are called again and again by their nature, such as timers. */
  readonly except?: readonly HandlerId[] | undefined;
}

export interface Resting {
  readonly observer: Observer;
  /** Throws unless the operator is at rest. */
  expect(options?: QuiescenceOptions): Promise<void>;
  /** Those that the operator has done something for, the latest first. */
  readonly objects: readonly ObservedObject[];
}

interface RestingParts {
  readonly clock: Clock;
  settled(): Promise<void>;
  /** What is known of the object, in sentences; or nothing. */
  why(object: ObservedObject): string | undefined;
}

type Deed = FactOf<'call.began' | 'patch.sent'>;

/** Of silence. */
const MOMENT: Seconds = 0.5;
const MAX_MOMENTS = 20;

/** How many deeds are told in a failure. */
const MAX_TOLD = 10;

export function resting({ clock, settled, why }: RestingParts): Resting {
  const deeds: Deed[] = [];
  const waiting = new Map<string, FactOf<'object.waiting'>>();
  const observe = (fact: Fact): void => {
    if (fact.kind === 'call.began' || fact.kind === 'patch.sent') deeds.push(fact);
    else if (fact.kind === 'object.waiting') waiting.set(keyOf(fact.object), fact);
    else if (fact.kind === 'object.woken' || fact.kind === 'object.gone') waiting.delete(keyOf(fact.object));
  };

  const expect = async ({ during, except = [] }: QuiescenceOptions = {}): Promise<void> => {
    const period = during ?? (isManual(clock) ? 600 : 1);
    await settled();
    // Nobody can tell when a real cluster has settled: a moment of silence has to do. Who is never silent is told so below.
    for (let known = -1, tries = 0; !isManual(clock) && known !== deeds.length && tries < MAX_MOMENTS; tries++) {
      known = deeds.length;
      await clock.sleep(MOMENT);
    }
    const [before, since] = [deeds.length, clock.now()];
    const deadline = since + period;
    const isCounted = (deed: Deed): boolean => deed.kind === 'call.began' && !except.includes(deed.handler.id);
    // What is wrong already does not become right by waiting.
    while (clock.now() < deadline && !deeds.slice(before).some(isCounted)) {
      await passUntil(deadline, clock);
      await settled();
    }
    const excused = excusedBy(deeds, except);
    const done = deeds
      .slice(before)
      .filter((deed) => (deed.kind === 'call.began' ? isCounted(deed) : !excused.has(keyOf(deed.object))));
    const late = [...waiting.values()].filter((fact) => fact.why === 'delay' && !excused.has(keyOf(fact.object)));
    if (done.length === 0 && late.length === 0) return;
    const told = [
      ...done.slice(0, MAX_TOLD).map((deed) => `${shown(deed)}, after ${seconds(deed.at - since)}`),
      ...(done.length > MAX_TOLD ? [`… and ${done.length - MAX_TOLD} more`] : []),
      ...(done.length > 0
        ? []
        : late.map(({ object }) => `${titleOf(object)} waits for the next attempts of its handlers`)),
    ];
    const [culprit] = [...done, ...late];
    const reason = culprit?.object === undefined ? undefined : why(culprit.object);
    throw new AssertionError({
      message: [
        `The operator is not at rest, though nobody has changed anything for ${seconds(period)}:`,
        ...told.map((line) => `  - ${line}`),
        ...(hasTimers(done) ? ['Timers and daemons that are meant to go on can be left out: { except: […] }.'] : []),
        ...(reason === undefined ? [] : ['', reason]),
      ].join('\n'),
      stackStartFn: expect,
    });
  };

  return {
    observer: { wants: ['call.began', 'patch.sent', 'object.waiting', 'object.woken', 'object.gone'], observe },
    expect,
    get objects() {
      const latest = new Map(deeds.flatMap(({ object }) => (object === undefined ? [] : [[keyOf(object), object]])));
      return [...latest.values()].toReversed();
    },
  };
}

/** The objects of those who may go on: who has asked for a patch is not known, so none of theirs counts. */
function excusedBy(deeds: readonly Deed[], except: readonly HandlerId[]): ReadonlySet<string> {
  const keys = deeds.flatMap((deed) => {
    const isExcused = deed.kind === 'call.began' && except.includes(deed.handler.id);
    return isExcused && deed.object !== undefined ? [keyOf(deed.object)] : [];
  });
  return new Set(keys);
}

function hasTimers(deeds: readonly Deed[]): boolean {
  return deeds.some((deed) => deed.kind === 'call.began' && ['timer', 'daemon'].includes(deed.handler.kind));
}

function shown(deed: Deed): string {
  if (deed.kind === 'patch.sent') {
    const contents = deed.requests.map(({ content }) => JSON.stringify(content)).join(', ');
    return `${titleOf(deed.object)} was patched: ${contents.length > 500 ? `${contents.slice(0, 500)}…` : contents}`;
  }
  const { handler, object, retry } = deed;
  const of = object === undefined ? '' : ` of ${titleOf(object)}`;
  return `the ${handler.kind} handler '${handler.id}'${of} was called${retry > 0 ? ` (retry ${retry})` : ''}`;
}

function seconds(duration: Seconds): string {
  return `${Math.round(duration * 10) / 10} s`;
}
