/** Being a member of one peering object: telling that we are alive, looking at the others, and leaving in the end. */
import {
  type AnyObject,
  ApiConflictError,
  ApiForbiddenError,
  type PauseReason,
  type PeeringScope,
  type Resource,
  type Seconds,
  type Settings,
} from '@kopf-ts/core';
import { childController, describeError, onAbort, sleepAmong, watch, watchTarget } from '@kopf-ts/core/engine';
import { impatient, urgent, withinTime } from '../urgent-requests.js';
import { membershipLog } from './membership-log.js';
import { removeRecords, touch } from './peering-records.js';
import { describePeers, type Judgement, judge, look, type Sightings } from './peers.js';

/** Whether the operator may work, as far as this one peering is concerned. */
export type Ruling = 'work' | 'pause';

export interface MembershipOptions {
  readonly scope: Pick<PeeringScope, 'client' | 'clock' | 'logger'>;
  readonly resource: Resource;
  /** Absent for the peerings of the whole cluster. */
  readonly namespace: string | undefined;
  readonly identity: string;
  readonly settings: Settings;
  readonly random: () => number;
  /** Called for the first ruling, and then whenever it changes. */
  readonly onRuling: (ruling: Ruling, why?: PauseReason) => void;
  /** We leave when it aborts. */
  readonly signal: AbortSignal;
}

/** How long leaving may take: the operator has other things to do before its time is over. */
const LEAVING_LIMIT: Seconds = 5;
/** How long to wait for an answer to a keep-alive before the next attempt. */
const TOUCHING_LIMIT: Seconds = 10;
/**
 * How long those of lower priorities have to notice us when we come, and to finish what they are doing. They do not
 * tell when they are done; but what they finish by then is not done again by us.
 */
const HAND_OVER_TIME: Seconds = 1;
/** When to try again if a keep-alive has failed. */
const RETRY_DELAY: Seconds = 3;

/**
 * Takes part in the peering until aborted, and then removes itself from there, so that the others take over at once.
 * Never fails: whatever the cluster answers, it goes on trying, and the ruling stays as it was.
 */
export async function takePart(options: MembershipOptions): Promise<void> {
  const { scope, resource, namespace, identity, settings, random, onRuling, signal } = options;
  const { clock, logger } = scope;
  const name = settings.peering.name;
  const at = { client: impatient(scope.client), resource, namespace, name };
  const log = membershipLog(logger, at, settings.peering);

  let sightings: Sightings | undefined;
  let newest: AnyObject | undefined;
  let presence: 'unknown' | 'present' | 'absent' = 'unknown';
  let isToldOf = false;
  let access = { canRead: true, canWrite: true };
  let ruling: Ruling | undefined;
  let judgement: Judgement = { dead: [], higher: [], same: [], lower: [], nextExpiry: undefined };
  let handedOverAt: Seconds | undefined;
  let renewAt = clock.now();
  let alarm = new AbortController();
  let cleaning: Promise<void> | undefined;

  // What is under way when we are told to leave is not cut off: else it could come to the server after our removal.
  const grace = childController();
  const forgetLeaving = onAbort(signal, () => {
    alarm.abort();
    clock.sleep(LEAVING_LIMIT, { signal: grace.signal }).then(
      () => grace.abort(new Error(`Leaving takes longer than ${LEAVING_LIMIT} seconds.`)),
      () => {},
    );
  });

  const us = () => {
    const { priority, lifetime } = settings.peering;
    return { identity, priority, lifetime, lastseen: clock.utc() };
  };

  const conclude = (): void => {
    if (signal.aborted || !isToldOf) return;
    judgement = judge(sightings ?? new Map(), us(), clock.now());
    alarm.abort();
    if (judgement.dead.length > 0 && presence === 'present' && access.canWrite)
      cleaning ??= clean().finally(() => (cleaning = undefined));
    const isBlind = presence === 'unknown' && !access.canRead && !access.canWrite;
    if (presence === 'unknown' && !isBlind) return;
    const isRequired = settings.peering.mandatory && presence !== 'present';
    const mustPause = isRequired || judgement.higher.length > 0 || judgement.same.length > 0;
    log.ruling({ ...judgement, isBlind, isRequired });
    const next = mustPause ? 'pause' : 'work';
    if (ruling === next) return;
    if (ruling === undefined && next === 'work' && isBeingHandedOver()) return;
    ruling = next;
    onRuling(next, mustPause ? whyPaused(judgement, isRequired) : undefined);
  };

  const isBeingHandedOver = (): boolean => {
    if (handedOverAt === undefined) {
      const delay = judgement.lower.length > 0 ? HAND_OVER_TIME : 0;
      handedOverAt = clock.now() + delay;
      if (delay > 0) clock.sleep(delay, { signal: grace.signal }).then(conclude, () => {});
    }
    return clock.now() < handedOverAt;
  };

  const observe = (body: AnyObject): void => {
    if (isOlder(body, newest)) return;
    newest = body;
    presence = 'present';
    const seen = look(body.status, { now: clock.now(), utc: clock.utc() }, sightings);
    sightings = seen.sightings;
    log.malformedRecords(seen.malformed);
    conclude();
  };

  // The records stay known: their owners may still be there, and have until the end of their lifetimes.
  const lose = (): void => {
    presence = 'absent';
    newest = undefined;
    conclude();
  };

  const clean = async (): Promise<void> => {
    const dead = judgement.dead.map((peer) => peer.identity);
    const version = newest?.metadata?.resourceVersion;
    try {
      const request = (own: AbortSignal) => removeRecords(at, dead, { version, signal: own });
      const written = await withinTime(clock, TOUCHING_LIMIT, grace.signal, request);
      if (written !== undefined && !signal.aborted) observe(written.body);
    } catch (error) {
      // A change of the object meanwhile makes us look at it again.
      if (!(error instanceof ApiConflictError)) logger.debug(`Could not remove dead peers: ${describeError(error)}`);
    }
  };

  const keepAlive = async (): Promise<void> => {
    const { lifetime } = settings.peering;
    try {
      const written = await withinTime(clock, TOUCHING_LIMIT, grace.signal, (own) => touch(at, us(), own));
      isToldOf = true;
      access = { ...access, canWrite: true };
      log.keepAlive(written !== undefined);
      renewAt = clock.now() + renewalDelay(lifetime, random);
      if (written === undefined) lose();
      else observe(written.body);
    } catch (error) {
      isToldOf = true;
      access = { ...access, canWrite: !(error instanceof ApiForbiddenError) };
      const delay = renewalDelay(lifetime, random);
      renewAt = clock.now() + (access.canWrite ? Math.min(RETRY_DELAY, delay) : delay);
      if (signal.aborted) return;
      log.keepAliveFailure(error);
      // If we may not write, there will be no better knowledge than what the stream has brought.
      if (!access.canWrite || presence === 'unknown') conclude();
    }
  };

  const keepAliveForLong = async (): Promise<void> => {
    while (!signal.aborted) {
      alarm = new AbortController();
      // A peer is believed to be dead only if the newest state of the object says so: hence a keep-alive and its answer.
      const isFailing = log.isFailing && access.canWrite;
      const lookAt = isFailing ? renewAt : Math.min(renewAt, judgement.nextExpiry ?? renewAt);
      const delay = lookAt - clock.now();
      if (delay > 0) await sleepAmong(clock, delay, { wakeup: alarm.signal });
      else await keepAlive();
    }
  };

  const followOthers = async (): Promise<void> => {
    const events = watch(urgent(scope.client), watchTarget(resource, { namespace }), {
      settings,
      clock,
      logger,
      signal,
      random,
      onTrouble(error) {
        access = { ...access, canRead: !(error instanceof ApiForbiddenError) };
        if (presence === 'unknown') conclude();
      },
    });
    let isListed = false;
    for await (const event of events) {
      if (event.type === 'LISTED') {
        if (!isListed && presence === 'unknown') lose();
        isListed = true;
      } else if (event.type === 'REWOUND') {
        newest = undefined;
      } else if (event.object.metadata?.name === name) {
        if (event.type === 'DELETED') {
          lose();
          continue;
        }
        if (presence === 'absent') renewAt = clock.now();
        observe(event.object);
      }
    }
  };

  const leave = async (): Promise<void> => {
    if (presence === 'absent') return;
    try {
      const request = (own: AbortSignal) => removeRecords(at, [identity], { signal: own });
      await withinTime(clock, LEAVING_LIMIT, grace.signal, request);
    } catch (error) {
      logger.warn(`Couldn't remove self from the peering ${log.title}: ${describeError(error)}`, { error });
    }
  };

  try {
    if (signal.aborted) return;
    await keepAlive();
    await Promise.all([keepAliveForLong(), followOthers()]);
    await leave();
  } finally {
    forgetLeaving();
    grace.abort();
  }
}

/** The time until the next keep-alive: some seconds before the end of the lifetime, and not in step with the others. */
export function renewalDelay(lifetime: Seconds, random: () => number): Seconds {
  const early = 5 + Math.floor(random() * 6);
  return Math.max(1, Math.min(lifetime, Math.max(1, lifetime - early)));
}

const DIGITS = /^\d+$/;

/** The answers to our own writes come ahead of the stream; and what the stream brings after them can be older. */
function isOlder(body: AnyObject, than: AnyObject | undefined): boolean {
  const [one, two] = [body.metadata, than?.metadata];
  if (one?.uid === undefined || one.uid !== two?.uid) return false;
  const [version, known] = [one.resourceVersion ?? '', two.resourceVersion ?? ''];
  return DIGITS.test(version) && DIGITS.test(known) && BigInt(version) < BigInt(known);
}

function whyPaused({ higher, same }: Judgement, isRequired: boolean): PauseReason {
  return isRequired ? { kind: 'absent' } : { kind: 'peer', by: describePeers(higher.length > 0 ? higher : same) };
}
