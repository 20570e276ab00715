/** kubectl has applied objects by itself before servers could; it left what it had applied in an annotation. */
import { isMapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { ConflictsError } from '../../fields/conflicts.js';
import { difference, type FieldSet, isEmpty } from '../../fields/field-sets.js';
import type { Applied, Writing } from '../../fields/tracking.js';
import { appliedFields } from '../../fields/walks/applied-fields.js';
import { changesOf } from '../../fields/walks/comparison.js';
import { goJson } from '../../text/go-text.js';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const KUBECTL = 'kubectl';
/** As much as all annotations together may have. */
const MOST_OF_ANNOTATIONS = 256 * 1024;

type Apply = (writing: Writing, configuration: ServedObject, isForced: boolean) => Applied;

/** Applies; what kubectl has applied by itself and nobody has changed since, is no conflict for kubectl. */
export function appliedByKubectl(
  writing: Writing,
  configuration: ServedObject,
  isForced: boolean,
  apply: Apply,
): Applied {
  try {
    return apply(writing, configuration, isForced);
  } catch (error) {
    const allowed = writing.identity.manager === KUBECTL ? fieldsAppliedBefore(writing) : undefined;
    if (!(error instanceof ConflictsError) || allowed === undefined) throw error;
    const remaining = error.conflicts
      .map((conflict) => ({ ...conflict, fields: difference(conflict.fields, allowed) }))
      .filter(({ fields }) => !isEmpty(fields));
    if (remaining.length > 0) throw new ConflictsError(remaining);
    return apply(writing, configuration, true);
  }
}

/** The fields of the annotation that still are as it says. */
function fieldsAppliedBefore({ live, kind: { type } }: Writing): FieldSet | undefined {
  const text = live.metadata.annotations?.[LAST_APPLIED];
  if (typeof text !== 'string') return undefined;
  try {
    const last = JSON.parse(text) as unknown;
    if (!isMapping(last)) return undefined;
    const { changed, removed } = changesOf(last, live, type);
    return difference(difference(appliedFields(last, type), changed), removed);
  } catch {
    return undefined;
  }
}

/** Where the annotation is, it is kept up to date, so that one may go back to old ways. */
export function withLastApplied({ identity, live }: Writing, object: ServedObject, configuration: ServedObject): void {
  if (identity.manager !== KUBECTL || live.metadata.annotations?.[LAST_APPLIED] === undefined) return;
  const { managedFields: _managers, ...metadata } = configuration.metadata;
  const text = `${goJson({ ...configuration, metadata })}\n`;
  const annotations = { ...object.metadata.annotations };
  if (text.length <= MOST_OF_ANNOTATIONS) annotations[LAST_APPLIED] = text;
  else delete annotations[LAST_APPLIED];
  object.metadata.annotations = annotations;
}
