/** Feeds the breaker with the changes of a cycle, and applies its decision. */
import { type Body, diff, type FieldPath, Patch, type PatchFn, resolveField, type Seconds } from '@kopf-ts/core';
import { type AnyHandler, asJsonPatch, type Ledger, NO_FACTS, parsePointer, quoteId } from '@kopf-ts/core/engine';
import { afterPatch, type Breaker, type PatchedField, type Tripping } from '../objects/breaker.js';
import type { Known } from '../objects/known.js';
import type { NotedWrite } from '../objects/news.js';
import { tellTripped } from '../observing/object-facts.js';
import type { Scene } from './scene.js';

/** The new state of both breakers. */
export type Breakers = Pick<Known, 'breaker' | 'eventBreaker'>;

export function afterSending(scene: Scene, ledger: Ledger, writes: readonly NotedWrite[], now: Seconds): Breakers {
  const { known, body, events } = scene;
  const { breaker, eventBreaker } = known;
  const byVerbs = scene.subject.writes.filter((write) => write.by !== undefined && !known.writes.includes(write));
  if (writes.length === 0 && byVerbs.length === 0) return { breaker, eventBreaker };
  const versions = [...byVerbs, ...writes].flatMap(({ after }) => after.metadata?.resourceVersion ?? []);
  const isOurs = (made: Breaker, seen: Body): boolean => made.versions.includes(seen.metadata?.resourceVersion ?? '');
  const learn = (kind: 'change' | 'watch', before: Breaker, isOwnDoing: boolean): Breaker => {
    const patched = [
      ...patchedFields(kind, ledger, writes),
      ...byVerbs.flatMap((write) => (write.by?.kind === kind ? fieldsWritten(scene, write) : [])),
    ];
    const { breaker: after, tripping } = afterPatch(before, { now, patched, isOwnDoing, versions });
    if (tripping !== undefined) tell(scene, tripping);
    return after;
  };
  const isEventOurs = events.length > 0 && events.every(({ object }) => isOurs(eventBreaker, object));
  return {
    breaker: learn('change', breaker, isOurs(breaker, body)),
    eventBreaker: learn('watch', eventBreaker, isEventOurs),
  };
}

function tell(scene: Scene, tripping: Tripping): void {
  const { parts, localLogger } = scene;
  const { facts = NO_FACTS } = parts;
  if (facts.wants['breaker.tripped']) tellTripped(facts, scene, tripping);
  if (tripping.isFirst) {
    const handlers = tripping.handlers.map(quoteId).join(', ');
    localLogger.warn(
      `Handlers ${handlers} change the same fields of the object again and again: ${tripping.fields.join(', ')}. ` +
        'Either they react to their own changes, or someone else undoes them. Slowing them down: ' +
        `the next call is in ${tripping.delay} s, then less and less often, down to every 5 minutes, until the changes stop.`,
    );
  }
}

/** Handlers of changes to the object or its children, or handlers of events. */
function familyOf({ kind }: AnyHandler): string {
  return kind === 'reconcile' || kind === 'child' ? 'change' : kind;
}

/** The fields that handlers of this type requested on their own account and that really changed. */
function patchedFields(
  kind: 'change' | 'watch',
  ledger: Ledger,
  writes: readonly NotedWrite[],
): readonly PatchedField[] {
  const [first, last] = [writes[0], writes.at(-1)];
  if (first === undefined || last === undefined) return [];
  return ledger.asked.flatMap(({ handler, paths, fns, isRetry }) => {
    if (familyOf(handler) !== kind || isRetry) return [];
    const fields = [...paths, ...pathsOfFns(fns, first.before)].map((path) => ({
      field: path.join('.'),
      handler: handler.id,
      before: JSON.stringify(resolveField(first.before, path)),
      after: JSON.stringify(resolveField(last.after, path)),
    }));
    return fields.filter(({ before, after }) => before !== after);
  });
}

/** The fields that a handler changed by a verb. */
function fieldsWritten({ essenceOf }: Scene, { before, after, by }: NotedWrite): readonly PatchedField[] {
  return diff(essenceOf(before), essenceOf(after)).map(([, path, old, now]) => ({
    field: path.join('.'),
    handler: by?.id ?? '',
    before: JSON.stringify(old),
    after: JSON.stringify(now),
  }));
}

/** The effect of patch functions is known only by running them. */
function pathsOfFns(fns: readonly PatchFn[], before: Body): readonly FieldPath[] {
  if (fns.length === 0) return [];
  try {
    return asJsonPatch(new Patch({}, { fns }), before).map(({ path }) => untilList(before, path));
  } catch {
    // A broken function was not sent.
    return [];
  }
}

/** Lists are compared as a whole: their items have no paths of their own. */
function untilList(body: Body, pointer: string): FieldPath {
  const path = parsePointer(pointer);
  const end = path.findIndex((_key, index) => Array.isArray(resolveField(body, path.slice(0, index))));
  return end < 0 ? path : path.slice(0, end);
}
