/** Parses the options about relations of objects, and reports mistakes in them. */
import type { FieldPath, FieldSpec } from '../../values/fields.js';
import { parseField } from '../../values/fields.js';
import { isMapping } from '../../values/json.js';
import { parseSelector, type Selector, type SelectorSpec } from '../../values/resources/selector.js';
import type { ReconcileHandler } from '../handlers.js';
import { BY_OWNER, type RelatedBy, type RelatingFn, type Relation, relationOf } from '../relations.js';
import { mistake, type RawOptions, requireAnswering, shown, type Title } from './options.js';

export const RECONCILING = ['owns', 'watches', 'cleanup'] as const;
export const RELATING = ['by'] as const;

/** `children` are the objects of that kind, related as told by `by`. */
export function relationFrom(title: Title, parent: Selector, kind: SelectorSpec, by: unknown): Relation {
  const child = selectorOf(title, kind);
  const way = wayFrom(title, by);
  if (way.kind === 'owner' && parent.namespaced === true && child.namespaced === false) {
    throw mistake(
      title,
      'objects of the whole cluster cannot be owned by objects in namespaces: the cluster would delete them; tell by a ' +
        "label or a function whose they are: { by: { label: '…' } }",
    );
  }
  return relationOf(parent, child, way);
}

function wayFrom(title: Title, by: unknown): RelatedBy {
  if (by === undefined || by === 'owner') return BY_OWNER;
  if (typeof by === 'function') {
    requireAnswering(title, 'by', by);
    return { kind: 'function', fn: by as RelatingFn };
  }
  if (isMapping(by) && typeof by['label'] === 'string' && by['label'] !== '' && Object.keys(by).length === 1) {
    return { kind: 'label', label: by['label'] };
  }
  throw mistake(title, `by must be 'owner', { label: '…' }, or a function that returns names, not ${shown(by)}`);
}

type Reconciled = Pick<ReconcileHandler, 'owns' | 'watches' | 'cleanup'>;

/** The options of `on.reconcile` alone. */
export function reconcilingFrom(
  title: Title,
  common: Omit<ReconcileHandler, 'kind' | 'owns' | 'watches' | 'cleanup'> & { readonly selector: Selector },
  options: RawOptions,
): Reconciled {
  const { owns = [], watches = [], cleanup } = options;
  if (!Array.isArray(owns)) throw mistake(title, `owns must be a list of kinds: [${shown(owns)}], even if it is one`);
  if (!Array.isArray(watches)) throw mistake(title, `watches must be a list of { kind, map }, not ${shown(watches)}`);
  const owned = owns.map((kind: unknown) => {
    const isSpelledOut = isMapping(kind) && 'by' in kind;
    if (!isSpelledOut) return relationFrom(title, common.selector, kind as SelectorSpec, undefined);
    refuseOthers(title, 'owns', kind, ['kind', 'by']);
    return relationFrom(title, common.selector, kind['kind'] as SelectorSpec, kind['by']);
  });
  const watched = watches.map((one: unknown) => {
    if (!isMapping(one) || one['kind'] === undefined || typeof one['map'] !== 'function') {
      throw mistake(title, 'watches must be a list of { kind, map }, where map is a function that returns names');
    }
    refuseOthers(title, 'watches', one, ['kind', 'map']);
    requireAnswering(title, 'map', one['map']);
    return relationFrom(title, common.selector, one['kind'] as SelectorSpec, one['map']);
  });
  if (cleanup === undefined) return { owns: owned, watches: watched };
  if (typeof cleanup !== 'function') throw mistake(title, `cleanup must be a function, not ${shown(cleanup)}`);
  const { id } = common;
  const fn = cleanup as ReconcileHandler['fn'];
  const own: ReconcileHandler = {
    ...common,
    kind: 'reconcile',
    id: `${id}/cleanup` as typeof id,
    fn,
    owns: [],
    watches: [],
  };
  return { owns: owned, watches: watched, cleanup: own };
}

function refuseOthers(
  title: Title,
  list: string,
  given: Readonly<Record<string, unknown>>,
  known: readonly string[],
): void {
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw mistake(title, `${list} has an unknown option: ${unknown}; there are ${known.join(', ')}`);
}

/** The chosen fields of children. */
export function fieldsFrom(title: Title, { fields }: RawOptions): { readonly fields?: readonly FieldPath[] } {
  if (fields === undefined) return {};
  if (!Array.isArray(fields) || fields.length === 0) {
    throw mistake(
      title,
      `fields must be a non-empty list of fields, not ${shown(fields)}; leave it out for all changes`,
    );
  }
  return { fields: fields.map((field: unknown) => parsed(title, field)) };
}

function parsed(title: Title, field: unknown): FieldPath {
  try {
    return parseField(field as FieldSpec);
  } catch (error) {
    throw mistake(title, `fields: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function selectorOf(title: Title, spec: SelectorSpec): Selector {
  try {
    return parseSelector(spec);
  } catch (error) {
    throw mistake(title, error instanceof Error ? error.message.replace(/\.$/, '') : String(error));
  }
}
