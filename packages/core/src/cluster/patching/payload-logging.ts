/** Patches as they may be logged: values of Secrets are not for logs. */
import type { Diff } from '../../values/diff.js';
import { type JsonPatchOp, parsePointer } from '../../values/patches/json-patch.js';
import { redactedSecret } from '../../values/redaction.js';
import type { Resource } from '../../values/resources/resource.js';

/** A merge-patch or a JSON-patch, as JSON. */
export function payloadForLog(resource: Resource, payload: object): string {
  if (!isOfSecrets(resource)) return JSON.stringify(payload);
  return JSON.stringify(Array.isArray(payload) ? payload.map(redactedOp) : redactedSecret(payload));
}

export function diffForLog(resource: Resource, items: Diff): string {
  const lines = items.map(([operation, field, ...values]) => {
    const shown = isOfSecrets(resource) ? values.map((value) => redactedSecret(value, field)) : values;
    return [operation, field.join('.'), ...shown];
  });
  return JSON.stringify(lines);
}

function isOfSecrets(resource: Resource): boolean {
  return resource.group === '' && resource.plural === 'secrets';
}

function redactedOp(op: JsonPatchOp): JsonPatchOp {
  return 'value' in op ? { ...op, value: redactedSecret(op.value, parsePointer(op.path)) } : op;
}
