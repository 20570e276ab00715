/** Values of Secrets are not for logs. */
import type { Diff } from '../values/diff.js';
import { isMapping } from '../values/json.js';
import type { JsonPatchOp } from '../values/json-patch.js';
import type { Resource } from '../values/resource.js';

const SECRET_FIELDS: ReadonlySet<string> = new Set(['data', 'stringData']);
const REDACTED = '***';

/** A payload as it can be logged: all of it as JSON, but the values of Secrets are hidden. */
export function payloadForLog(resource: Resource, payload: object): string {
  if (!isOfSecrets(resource)) return JSON.stringify(payload);
  if (Array.isArray(payload)) return JSON.stringify(payload.map((op: JsonPatchOp) => withoutSecretsInOp(op)));
  return JSON.stringify(withoutSecrets(payload));
}

/** A diff as it can be logged. */
export function diffForLog(resource: Resource, items: Diff): string {
  const lines = items.map(([operation, field, old, current]) => {
    const isSecret = isOfSecrets(resource) && SECRET_FIELDS.has(field[0] ?? '');
    const values = isSecret ? [hidden(old), hidden(current)] : [old, current];
    return [operation, field.join('.'), ...values];
  });
  return JSON.stringify(lines);
}

function isOfSecrets(resource: Resource): boolean {
  return resource.group === '' && resource.plural === 'secrets';
}

function withoutSecrets(payload: object): object {
  const entries = Object.entries(payload).map(([key, value]) => [key, SECRET_FIELDS.has(key) ? hidden(value) : value]);
  return Object.fromEntries(entries);
}

function withoutSecretsInOp(op: JsonPatchOp): JsonPatchOp {
  const field = op.path.split('/')[1] ?? '';
  return 'value' in op && SECRET_FIELDS.has(field) ? { ...op, value: hidden(op.value) } : op;
}

function hidden(value: unknown): unknown {
  if (value === null || value === undefined) return value;
  return isMapping(value)
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, hidden(item)]))
    : REDACTED;
}
