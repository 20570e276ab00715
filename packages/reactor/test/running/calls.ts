/** Calls of handlers, as far as those need them who only name them. */
import type { Logger } from '@kopf-ts/core';
import { type AnyHandler, type Cause, objectLogger } from '@kopf-ts/core/engine';

/** A call of a handler with this id, for an object of this name. */
export function callOf(id: string, name: string, logger: Logger): { handler: AnyHandler; cause: Cause } {
  const body = { apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata: { namespace: 'default', name } };
  const handler = { kind: 'change', id, fn: () => {}, param: undefined };
  const cause = { kind: 'changing', reason: 'create', body, logger: objectLogger({ logger, body }) };
  return { handler, cause } as unknown as { handler: AnyHandler; cause: Cause };
}
