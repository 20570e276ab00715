/** Which errors are logged with their stacks. */
import { KopfError, type LogFields } from '@kopf-ts/core';
import { toError } from '@kopf-ts/core/engine';

/** Their texts say what is wrong with the surroundings and what to do; where in the framework it was noticed, does not help. */
const EXPLAINED: ReadonlySet<string> = new Set([
  // The errors of the handlers themselves are logged when they happen, with their stacks.
  'KOPF_ACTIVITY',
  'KOPF_BAD_ENDPOINT',
  'KOPF_CONNECTION',
  'KOPF_DISCOVERY_FORBIDDEN',
  'KOPF_LOGIN',
  'KOPF_TIMEOUT',
]);

/** What to log beside the text of the error: the error with its stack, unless the text says it all. */
export function stackOf(thrown: unknown): LogFields {
  const error = toError(thrown);
  return error instanceof KopfError && EXPLAINED.has(error.code) ? {} : { error };
}
