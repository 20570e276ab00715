/**
 * When authorities and certificates follow each other; no I/O.
 *
 * The life of an authority, in twelfths: at 6, its successor is made; at 7, callers are told to trust both; at 8,
 * certificates of servers are issued by the successor; at 12, the old one is forgotten. In between, everybody has
 * the time to learn what they need: the replicas, of the successor's existence; the callers, of whom to trust.
 * Everything follows from the times written in the authorities. So all replicas do the same at the same time.
 */
import type { Seconds } from '@kopf-ts/core';
import { type Authority, type Debut, type Leaf, leafEnd } from './making/authority.js';
import { BACKDATING } from './making/lifetimes.js';

/** The part of its life after which its successor is made. */
const SUCCESSION_AT = 1 / 2;

/** The parts of the common life of both after which the successor is published, and after which it is used. */
const PUBLISHED_AT = 1 / 6;
const USED_AT = 1 / 3;

/** The part of its life after which a certificate of a server is renewed. */
const RENEWAL_AT = 2 / 3;

/** The part of its life that must be left for an authority to issue the first certificate if there is another one. */
const WORTH_IT = 1 / 12;

/**
 * For short lives, that is not enough: a server cannot change to the other one before it has started up and announced
 * it. So long it may take, though never more than this part of a life.
 */
const START_UP: Seconds = 60;
const START_UP_PART = 1 / 5;

/** When an authority that is made now comes into play. At once, if there is nobody to take over from. */
export function debutAmong(authorities: readonly Authority[], now: number): Debut {
  const end = Math.max(now, ...alive(authorities, now).map(({ until }) => until));
  const together = end - now;
  const after = (part: number): number => now + Math.round(together * part);
  return { publishedFrom: after(PUBLISHED_AT), usedFrom: after(USED_AT) };
}

/** When the next authority is to be made; in the past, if there are none. */
export function successionTime(authorities: readonly Authority[], now: number): number {
  const newest = alive(authorities, now)
    .sort((a, b) => a.from - b.from)
    .at(-1);
  if (newest === undefined) return Number.NEGATIVE_INFINITY;
  return newest.from + (newest.until - newest.from) * SUCCESSION_AT;
}

/** Those that are valid now, in the order of taking over. Those made in the future are not: the clock was wrong then. */
export function alive(authorities: readonly Authority[], now: number): Authority[] {
  return authorities
    .filter(({ from, until }) => from - BACKDATING * 1000 <= now && now < until)
    .sort((a, b) => a.usedFrom - b.usedFrom || (a.id < b.id ? -1 : 1));
}

/**
 * The authorities to trust now, in an order that is the same for everybody. The issuer of the certificate in use is
 * always among them.
 */
export function published(authorities: readonly Authority[], now: number, serving: string | undefined): Authority[] {
  return alive(authorities, now).filter(({ id, publishedFrom }) => publishedFrom <= now || id === serving);
}

/**
 * Who is to issue the certificate in use. At first, the oldest one: callers may know of no other yet, e.g. if all
 * replicas were down for long. Then, the newest one whose time has come and that we have announced well before.
 */
export function issuerAmong(
  authorities: readonly Authority[],
  now: number,
  serving: string | undefined,
  isKnownToCallers: (id: string) => boolean,
): Authority | undefined {
  const candidates = alive(authorities, now);
  const current = candidates.find(({ id }) => id === serving);
  if (current === undefined) {
    const isWorthIt = ({ from, until }: Authority): boolean => {
      const life = until - from;
      return until - now > Math.max(life * WORTH_IT, Math.min(life * START_UP_PART, START_UP * 1000));
    };
    const known = candidates.filter(({ publishedFrom }) => publishedFrom <= now);
    return known.find(isWorthIt) ?? known.at(-1) ?? candidates[0];
  }
  const successors = candidates.slice(candidates.indexOf(current) + 1);
  return successors.findLast(({ id, usedFrom }) => usedFrom <= now && isKnownToCallers(id)) ?? current;
}

/** When a certificate is renewed by its own authority; never, if it would not live longer for that. */
export function renewalTime(leaf: Leaf, issuer: Authority, validity: Seconds): number {
  const time = leaf.from + (leaf.until - leaf.from) * RENEWAL_AT;
  return leafEnd(issuer, time, validity) > leaf.until ? time : leaf.until;
}

/** Whether another certificate is needed than the one in use. */
export function needsLeaf(leaf: Leaf | undefined, issuer: Authority, now: number, validity: Seconds): boolean {
  if (leaf === undefined || leaf.issuer !== issuer.id) return true;
  if (now < leaf.from - BACKDATING * 1000) return true;
  return now >= renewalTime(leaf, issuer, validity);
}
