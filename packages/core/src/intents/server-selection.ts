/**
 * The common requirements of all handlers of a kind, as selectors for the server. Pure.
 *
 * It never leaves out what some handler wants; what it lets in is still matched by each handler. There is none for kinds
 * with handlers that hold the deletion, since objects with our finalizer must be seen until they are released; nor for
 * kinds with handlers of events, since coming into a selection and leaving it are other events than changes are; nor for
 * those that belong to others, or have what belongs to them; nor for those with handlers of resuming.
 */
import { isLabelKey, isLabelValue } from '../values/objects/labels.js';
import type { Resource } from '../values/resources/resource.js';
import { ABSENT, PRESENT } from './filters.js';
import type { Handlers } from './handler-set.js';
import type { ResourceHandler } from './handlers.js';

/** The selectors as in the requests. */
export interface ServerSelection {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

const EVERYTHING: ServerSelection = Object.freeze({});

/** The common requirement of all handlers on one key: one of these values, any value, or none. */
type Requirement = ReadonlySet<string> | typeof PRESENT | typeof ABSENT;

export function serverSelection(handlers: Handlers, resource: Resource): ServerSelection {
  const changing = handlers.changing.of(resource);
  const isHeld =
    handlers.spawning.of(resource).length > 0 || changing.some(({ requiresFinalizer }) => requiresFinalizer);
  // Objects that existed at the start are resumed when they first match, however late.
  const isResumed = changing.some(({ initial }) => initial);
  if (isHeld || isResumed || handlers.watching.of(resource).length > 0) return EVERYTHING;
  // Handlers of other kinds look at objects with children or parents, too.
  const { related, relations } = handlers;
  const isRelated = relations.ofParent(resource).length > 0 || relations.ofChild(resource).length > 0;
  if (isRelated || related.of(resource).length > 0) return EVERYTHING;
  const all: readonly ResourceHandler[] = [...handlers.indexing.of(resource), ...changing];
  const [first] = all;
  if (first === undefined) return EVERYTHING;
  const labelSelector = Object.keys(first.labels ?? {})
    .flatMap((key) => labelTerm(key, agreed(all.map(({ labels }) => requirementOf(own(labels, key))))) ?? [])
    .sort()
    .join(',');
  const name = agreed(all.map(nameOf));
  const [only, ...others] = name instanceof Set ? [...name] : [];
  const hasOneName = only !== undefined && others.length === 0;
  return {
    ...(labelSelector === '' ? {} : { labelSelector }),
    ...(hasOneName ? { fieldSelector: `metadata.name=${only}` } : {}),
  };
}

/** The common requirement; nothing if one handler has no requirement, or if they have nothing in common. */
function agreed(requirements: readonly (Requirement | undefined)[]): Requirement | undefined {
  let common: Requirement | undefined;
  for (const [index, requirement] of requirements.entries()) {
    common = index === 0 ? requirement : either(common, requirement);
    if (common === undefined) return undefined;
  }
  return common;
}

function either(one: Requirement | undefined, other: Requirement | undefined): Requirement | undefined {
  if (one === undefined || other === undefined) return undefined;
  if (one === ABSENT || other === ABSENT) return one === other ? ABSENT : undefined;
  if (one === PRESENT || other === PRESENT) return PRESENT;
  return new Set([...one, ...other]);
}

function requirementOf(filter: unknown): Requirement | undefined {
  if (filter === PRESENT || filter === ABSENT) return filter;
  return typeof filter === 'string' && isLabelValue(filter) ? new Set([filter]) : undefined;
}

/** Names never change, so it does not matter that change handlers look at old values, too. */
function nameOf({ field, value }: ResourceHandler): Requirement | undefined {
  const isName = field?.length === 2 && field[0] === 'metadata' && field[1] === 'name';
  return isName && typeof value === 'string' && OBJECT_NAME.test(value) ? new Set([value]) : undefined;
}

function labelTerm(key: string, requirement: Requirement | undefined): string | undefined {
  if (requirement === undefined || !isLabelKey(key)) return undefined;
  if (requirement === PRESENT) return key;
  if (requirement === ABSENT) return `!${key}`;
  const values = [...requirement].sort();
  return values.length === 1 ? `${key}=${values[0]}` : `${key} in (${values.join(',')})`;
}

function own(labels: ResourceHandler['labels'], key: string): unknown {
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** The server would refuse a whole request with an invalid name or label. In that case, each handler filters by itself. */
const OBJECT_NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;
