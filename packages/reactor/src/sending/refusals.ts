/** Finds the handlers whose requests make the cluster refuse a common patch. */
import {
  ApiError,
  deepCopy,
  ensureField,
  type FieldPath,
  isMapping,
  KopfError,
  type Logger,
  Patch,
  resolveField,
} from '@kopf-ts/core';
import {
  type Address,
  type AnyHandler,
  type Asked,
  backoffOf,
  describeError,
  type HandlerState,
  isTooLarge,
  judgeError,
  type Outcome,
  retryable,
} from '@kopf-ts/core/engine';
import type { OperatorParts } from '../parts.js';
import type { ApplyFn, ApplyOptions } from './apply.js';

/** A handler requested a change that the cluster refuses. */
export interface Refusal {
  readonly asked: Asked;
  /** With the fields and the message of the server. */
  readonly error: Error;
}

/** Whether the cluster refuses the content of the patch: the same patch would be refused again. */
export function isRefusal(error: unknown): error is Error {
  return error instanceof Error && !isTooLarge(error) && retryable(error) === 'never';
}

export interface JudgingOptions {
  readonly handler: AnyHandler;
  /** Before the call; absent for handlers without stored progress. */
  readonly state: HandlerState | undefined;
  readonly parts: Pick<OperatorParts, 'settings' | 'random'>;
  readonly logger: Logger;
}

/** A refusal counts as a failure of the handler, by its own policy. */
export function judgeRefusal(error: Error, { handler, state, parts, logger }: JudgingOptions): Outcome {
  const { retries = 0, runtime = 0, subrefs = [] } = state ?? {};
  const backoff = backoffOf(handler.backoff ?? parts.settings.execution.defaultBackoff, retries, parts.random);
  const { level, text, outcome } = judgeError(error, { handler, runtime, retries, backoff });
  logger[level](text);
  return { ...outcome, subrefs };
}

export interface CulpritsOptions extends Omit<ApplyOptions, 'patch'> {
  readonly apply: ApplyFn;
  readonly asked: Patch;
  readonly askedBy: readonly Asked[];
  readonly marks: Patch;
  readonly error: Error;
  readonly last: Address;
}

/**
 * Of the handlers that have asked for what the server names, or of all if it names nothing: those whose own share is
 * refused when it is sent alone. A single one needs no trial: if our marks go through without its share, it was the
 * culprit.
 */
export async function findCulprits(options: CulpritsOptions): Promise<readonly Refusal[]> {
  const { error, askedBy } = options;
  const fields = fieldsIn(error);
  const named = askedBy.filter(({ paths }) => fields.some((field) => paths.some((path) => overlap(field, path))));
  const suspects = named.length > 0 ? named : askedBy;
  // If the deletion is what is refused, the marks go through without its permission: that proves nothing.
  const isProven = named.length > 0 || options.marks.fns.length === 0;
  if (suspects.length === 1 && isProven) return suspects.map((asked) => refusalOf(asked, error, fields));

  // Of bad labels, the server names only `metadata.labels`: not everybody who has written one is to blame.
  const refusals: Refusal[] = [];
  for (const asked of suspects) {
    try {
      await options.apply({ ...options, patch: shareOf(asked, options.asked) });
    } catch (refused) {
      if (!isRefusal(refused)) throw refused;
      refusals.push(refusalOf(asked, refused, fieldsIn(refused)));
    }
  }
  return refusals;
}

function refusalOf(asked: Asked, error: Error, fields: readonly FieldPath[]): Refusal {
  const named = fields.filter((field) => asked.paths.some((path) => overlap(field, path)));
  const paths = [...new Set((named.length > 0 ? named : asked.paths).map((path) => path.join('.')))];
  const what = paths.length > 0 ? paths.join(', ') : 'a function of its patch';
  return { asked, error: refusalError(`The cluster refuses what it asks for in ${what}`, error) };
}

/** The error that the handler fails with: the message of the server without a stack, which would be of no use. */
export function refusalError(text: string, cause: Error): KopfError {
  return new KopfError(`${text}: ${describeError(cause)}`, { code: 'KOPF_REFUSED', cause });
}

/** The share of one handler. */
function shareOf({ paths, fns }: Asked, whole: Patch): Patch {
  const share = new Patch(undefined, { body: whole.body, fns });
  for (const path of paths) {
    const value = resolveField(whole.merge, path);
    if (value !== undefined) ensureField(share.merge, path, deepCopy(value));
  }
  return share;
}

/** `spec.containers[0].image` is `spec`, `containers`: lists are patched as a whole. */
function fieldsIn(error: Error): readonly FieldPath[] {
  const details = error instanceof ApiError ? error.details : undefined;
  const causes: readonly unknown[] = Array.isArray(details?.causes) ? details.causes : [];
  return causes.flatMap((cause) => {
    const field: unknown = isMapping(cause) ? cause.field : undefined;
    return typeof field === 'string' && field !== '' && field !== '<nil>' ? [parsed(field)] : [];
  });
}

function parsed(field: string): FieldPath {
  const keys: string[] = [];
  for (const [, name, key] of field.matchAll(/([^.[\]]+)|\[([^\]]*)\]/g)) {
    if (key !== undefined && /^\d+$/.test(key)) break;
    keys.push(name ?? key ?? '');
  }
  return keys;
}

function overlap(one: FieldPath, two: FieldPath): boolean {
  const length = Math.min(one.length, two.length);
  return length > 0 && one.slice(0, length).every((key, index) => key === two[index]);
}
