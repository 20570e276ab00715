/** For how long certificates live. */
import { KopfError, type Seconds } from '@kopf-ts/core';

const DAY: Seconds = 24 * 60 * 60;

/** Of certificates of servers. */
export const DEFAULT_VALIDITY: Seconds = 90 * DAY;

/** Of authorities. */
export const DEFAULT_AUTHORITY_VALIDITY: Seconds = 365 * DAY;

/** Certificates are valid since a while before they are made: clocks of other machines may be behind ours. */
export const BACKDATING: Seconds = DAY;

/** From when to when a certificate is to be valid if its life begins now. */
export function lifetime(now: Date, validity: Seconds): { readonly notBefore: Date; readonly notAfter: Date } {
  return {
    notBefore: new Date(now.getTime() - BACKDATING * 1000),
    notAfter: new Date(now.getTime() + checkedValidity('validity', validity) * 1000),
  };
}

/** Shorter ones would end before anybody learns of them. */
const SHORTEST_VALIDITY: Seconds = 1;

/** Dates beyond that have five-digit years, which certificates do not have. */
const LONGEST_VALIDITY: Seconds = 1000 * 365 * DAY;

export function checkedValidity(option: string, validity: Seconds): Seconds {
  if (validity >= SHORTEST_VALIDITY && validity <= LONGEST_VALIDITY) return validity;
  throw new KopfError(
    `Certificates cannot be valid for ${validity} seconds: "${option}" must be between a second and 1000 years.`,
    { code: 'KOPF_CERTIFICATE_VALIDITY' },
  );
}
