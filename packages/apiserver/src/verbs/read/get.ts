/** Getting one object. */

import type { ApiAnswer } from '../../contracts/request.js';
import type { Revision } from '../../contracts/store.js';
import { textOf } from '../../http/object-encoding.js';
import { parseVersion } from '../../http/query-options.js';
import { notFound, StatusError } from '../../http/status-errors.js';
import { type Backend, type Call, jsonAnswer } from '../../routing/backend.js';

export function get(backend: Backend, call: Call): ApiAnswer {
  return jsonAnswer(200, textOf(call.served, find(backend, call)));
}

/** The current revision of what the request is about. */
export function find(backend: Backend, call: Call): Revision {
  requireReached(backend, call.query.get('resourceVersion') ?? '');
  const revision = backend.store.get(call.served.collection, call.namespace, call.name);
  if (revision === undefined) throw notFound(call.served, call.name);
  return revision;
}

function requireReached(backend: Backend, text: string): void {
  let version: number;
  try {
    version = parseVersion(text);
  } catch (error) {
    throw new StatusError(500, '', (error as Error).message);
  }
  if (version > backend.store.version) throw tooLarge(version, backend.store.version);
}

/** Of a version that is not reached yet. */
export function tooLarge(version: number, current: number): StatusError {
  const message = `Timeout: Too large resource version: ${version}, current: ${current}`;
  const details = {
    // biome-ignore lint/suspicious/noExplicitAny: this one has no field
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' } as any],
    retryAfterSeconds: 1,
  };
  return new StatusError(504, 'Timeout', message, details, { 'retry-after': '1' });
}
