/**
 * Peers by their records: who they are, which of them are alive, and which of them matter to us.
 *
 * The records are Kopf's: `status` of the peering object is a map of identities to `priority`, `lifetime`, `lastseen`.
 * But whether a peer is alive is told by our own clock: by how long its record has not changed since we saw it.
 * The clocks of the peers are trusted only where there is nothing else, and with a generous allowance.
 */
import { formatTimestamp, isMapping, type Mapping, parseTimestamp, type Seconds } from '@kopf-ts/core';

export interface Peer {
  readonly identity: string;
  readonly priority: number;
  readonly lifetime: Seconds;
  /** By the clock of the peer. */
  readonly lastseen: Date;
  /** Why it is there, if a person has put it there. */
  readonly message?: string | undefined;
}

/** A moment by both clocks: the monotonic one is for judging, the wall clock is for reading what others have written. */
export interface Moment {
  readonly now: Seconds;
  readonly utc: Date;
}

/** A record as we have seen it. */
interface Sighting {
  readonly peer: Peer;
  /** What the record was, literally: any difference is a sign of life. */
  readonly content: string;
  /** When it is dead unless it changes; by our monotonic clock. At this very moment it is dead already. */
  readonly expiresAt: Seconds;
}

export type Sightings = ReadonlyMap<string, Sighting>;

/** By how much the clocks of peers may be wrong before it matters. */
export const CLOCK_SKEW: Seconds = 600;

const DEFAULT_LIFETIME: Seconds = 60;

/** The time as it is written in the records: without the fraction if there is none, as Python does. */
export function formatLastseen(date: Date): string {
  return formatTimestamp(date).replace('.000000', '');
}

/** The record of a peer, to be stored under its identity. */
export function recordOf(peer: Omit<Peer, 'identity'>): Mapping {
  const { priority, lifetime, lastseen, message } = peer;
  return {
    priority,
    lifetime,
    lastseen: formatLastseen(lastseen),
    ...(message === undefined ? {} : { message }),
  };
}

/** A peer in the logs. */
export function describePeer({ identity, priority, lifetime, lastseen, message }: Peer): string {
  const reason = message === undefined ? '' : ` (${message})`;
  return `<Peer ${identity}: priority=${priority}, lifetime=${lifetime}, lastseen='${formatLastseen(lastseen)}'>${reason}`;
}

export function describePeers(peers: readonly Peer[]): string {
  return `[${peers.map(describePeer).join(', ')}]`;
}

/** The peer of a record; `undefined` if it is no record at all. What is absent or of no use is as Kopf presumes it. */
export function parsePeer(identity: string, record: unknown, utc: Date): Peer | undefined {
  if (!isMapping(record)) return undefined;
  const priority = wholeNumber(record.priority, 0);
  const lifetime = wholeNumber(record.lifetime, DEFAULT_LIFETIME);
  if (priority === undefined || lifetime === undefined) return undefined;
  const lastseen = typeof record.lastseen === 'string' ? parseTimestamp(record.lastseen) : undefined;
  const message = typeof record.message === 'string' ? record.message : undefined;
  return { identity, priority, lifetime, lastseen: lastseen ?? utc, message };
}

function wholeNumber(value: unknown, byDefault: number): number | undefined {
  if (value === undefined) return byDefault;
  const isNumeric = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '');
  const number = isNumeric ? Math.trunc(Number(value)) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}

/**
 * What is known of the peers after looking at the status of the peering object once more. `previous` is what was
 * known before; absent for the very first look, when there is no telling how old the records are.
 *
 * - A record as before: so is its end.
 * - A record that has changed or appeared while we were looking: its peer is alive, and will be so for its lifetime.
 * - A record at the first look: it may have been abandoned long ago. Its peer has no more than its lifetime to show
 *   a sign of life, and no more than is left of it by the clock of the peer, should that clock be late by
 *   {@link CLOCK_SKEW}. So a peer that was killed an hour ago holds up nobody.
 */
export function look(
  status: unknown,
  { now, utc }: Moment,
  previous: Sightings | undefined,
): { readonly sightings: Sightings; readonly malformed: readonly string[] } {
  const sightings = new Map<string, Sighting>();
  const malformed: string[] = [];
  for (const [identity, record] of Object.entries(isMapping(status) ? status : {})) {
    const peer = parsePeer(identity, record, utc);
    if (peer === undefined) {
      malformed.push(identity);
      continue;
    }
    const content = JSON.stringify(record);
    const known = previous?.get(identity);
    if (known?.content === content) {
      sightings.set(identity, known);
      continue;
    }
    const age = (utc.getTime() - peer.lastseen.getTime()) / 1000;
    const left = previous === undefined ? Math.max(0, peer.lifetime - age + CLOCK_SKEW) : peer.lifetime;
    sightings.set(identity, { peer, content, expiresAt: now + Math.min(peer.lifetime, left) });
  }
  return { sightings, malformed };
}

/** The peers, as far as they matter to one of them. */
export interface Judgement {
  /** Others that are not alive. */
  readonly dead: readonly Peer[];
  /** Others of a higher priority. */
  readonly higher: readonly Peer[];
  /** Others of the same priority. */
  readonly same: readonly Peer[];
  /** Others of a lower priority: they pause because of us. */
  readonly lower: readonly Peer[];
  /** When the first of those that matter will be dead unless it shows a sign of life. */
  readonly nextExpiry: Seconds | undefined;
}

/** Who of the others stands in our way. Those of lower priorities never do. */
export function judge(
  sightings: Sightings,
  us: { readonly identity: string; readonly priority: number },
  now: Seconds,
): Judgement {
  const others = [...sightings.values()].filter(({ peer }) => peer.identity !== us.identity);
  const dead = others.filter(({ expiresAt }) => expiresAt <= now).map(({ peer }) => peer);
  const living = others.filter(({ expiresAt }) => expiresAt > now);
  const rivals = living.filter(({ peer }) => peer.priority >= us.priority);
  const peers = rivals.map(({ peer }) => peer);
  return {
    dead,
    higher: peers.filter(({ priority }) => priority > us.priority),
    same: peers.filter(({ priority }) => priority === us.priority),
    lower: living.map(({ peer }) => peer).filter(({ priority }) => priority < us.priority),
    nextExpiry: rivals.length === 0 ? undefined : Math.min(...rivals.map(({ expiresAt }) => expiresAt)),
  };
}
