/** What the breaker learns of a cycle, and what it answers. */
import { type Body, diff, type FieldPath, Patch, type PatchFn, resolveField, type Seconds } from '@kopf-ts/core';
import { asJsonPatch, type Ledger, NO_FACTS, parsePointer, quoteId } from '@kopf-ts/core/engine';
import { afterPatch, type Breaker, type PatchedField } from '../objects/breaker.js';
import type { NotedWrite } from '../objects/news.js';
import { tellTripped } from '../observing/object-facts.js';
import type { Scene } from './scene.js';

export interface Broken {
  readonly breaker: Breaker;
  /** How long the change handlers are to be left alone from now on. */
  readonly delay: Seconds | undefined;
}

export function afterSending(scene: Scene, ledger: Ledger, writes: readonly NotedWrite[], now: Seconds): Broken {
  const { known, parts, body, localLogger } = scene;
  const byVerbs = scene.subject.writes.filter((write) => write.by !== undefined && !known.writes.includes(write));
  const unchanged: Broken = { breaker: known.breaker, delay: undefined };
  if (writes.length === 0 && byVerbs.length === 0) return unchanged;
  const patched = [...patchedFields(ledger, writes), ...byVerbs.flatMap((write) => fieldsWritten(scene, write))];
  const isOwnDoing = known.breaker.version !== undefined && known.breaker.version === body.metadata?.resourceVersion;
  const version = (writes.at(-1) ?? byVerbs.at(-1))?.after.metadata?.resourceVersion;
  const { breaker, tripping } = afterPatch(known.breaker, { now, patched, isOwnDoing, version });
  if (tripping === undefined) return { breaker, delay: undefined };
  const { facts = NO_FACTS } = parts;
  if (facts.wants['breaker.tripped']) tellTripped(facts, scene, tripping);
  if (tripping.isFirst) {
    const handlers = tripping.handlers.map(quoteId).join(', ');
    localLogger.warn(
      `Handlers ${handlers} change the same fields of the object again and again: ${tripping.fields.join(', ')}. ` +
        'Either they are called for their own changes, or somebody else undoes them. They are slowed down: ' +
        `called in ${tripping.delay} s, then less and less often, up to every 5 minutes, until it is quiet.`,
    );
  }
  return { breaker, delay: tripping.delay };
}

/** Those fields that change handlers have asked for of their own accord, and that were really changed. */
function patchedFields(ledger: Ledger, writes: readonly NotedWrite[]): readonly PatchedField[] {
  const [first, last] = [writes[0], writes.at(-1)];
  if (first === undefined || last === undefined) return [];
  return ledger.asked.flatMap(({ handler, paths, fns, isRetry }) => {
    if (handler.kind !== 'change' || isRetry) return [];
    const fields = [...paths, ...pathsOfFns(fns, first.before)].map((path) => ({
      field: path.join('.'),
      handler: handler.id,
      before: JSON.stringify(resolveField(first.before, path)),
      after: JSON.stringify(resolveField(last.after, path)),
    }));
    return fields.filter(({ before, after }) => before !== after);
  });
}

/** Those that a change handler has changed by a verb. */
function fieldsWritten({ essenceOf }: Scene, { before, after, by }: NotedWrite): readonly PatchedField[] {
  return diff(essenceOf(before), essenceOf(after)).map(([, path, old, now]) => ({
    field: path.join('.'),
    handler: by ?? '',
    before: JSON.stringify(old),
    after: JSON.stringify(now),
  }));
}

/** What functions change is known only by what they do. */
function pathsOfFns(fns: readonly PatchFn[], before: Body): readonly FieldPath[] {
  if (fns.length === 0) return [];
  try {
    return asJsonPatch(new Patch({}, { fns }), before).map(({ path }) => untilList(before, path));
  } catch {
    // It was broken, and so it was not sent.
    return [];
  }
}

/** Lists are values as a whole: their items have no paths of their own. */
function untilList(body: Body, pointer: string): FieldPath {
  const path = parsePointer(pointer);
  const end = path.findIndex((_key, index) => Array.isArray(resolveField(body, path.slice(0, index))));
  return end < 0 ? path : path.slice(0, end);
}
