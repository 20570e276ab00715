/** Selectors: which resources of the cluster a handler is for, as the user has put it. */
import { RegistrationError } from '../../errors.js';
import type { Resource, ResourceToken } from './resource.js';
import { formatResource, uniqueResources } from './resource.js';

/**
 * Selects all resources there are, except for the events (of which handlers themselves cause more and more).
 *
 * ```ts
 * kopf.on.event(kopf.EVERYTHING, ({ resource, name, logger }) => logger.debug(`${resource.plural}: ${name}`));
 * ```
 */
export const EVERYTHING: unique symbol = Symbol.for('kopf-ts.EVERYTHING');

/**
 * Chooses resources by a function.
 *
 * ```ts
 * const isOurs: kopf.ResourcePredicate = ({ group }) => group.endsWith('.example.com');
 * kopf.on.event(isOurs, ({ body, logger }) => logger.info(`${body.kind} of ours`));
 * ```
 */
export type ResourcePredicate = (resource: Resource) => boolean;

/**
 * A selector by its fields; exactly one of the naming ones (that is, all but `group` and `version`) must be there.
 *
 * ```ts
 * const selector: kopf.SelectorFields = { group: 'apps', category: 'all' };
 * kopf.on.event(selector, ({ name, logger }) => logger.info(`${name}`));
 * ```
 */
export interface SelectorFields {
  /** Empty for the core resources; any group if absent. */
  readonly group?: string;
  /** The cluster's preferred version if absent. */
  readonly version?: string;
  readonly kind?: string;
  readonly plural?: string;
  readonly singular?: string;
  readonly shortcut?: string;
  readonly category?: string;
  /** Whichever it is: a kind, a plural or singular name, a shortcut; but not a category. */
  readonly name?: string | typeof EVERYTHING;
  /** Any resources that it answers `true` for, also of non-preferred versions. */
  readonly fn?: ResourcePredicate;
}

/**
 * All the ways to name resources. The strings are `name`, `name.version`, `name.version.group`, `name.group`,
 * `group/version/name`, `v1/name` (the core resources), `group/name`.
 *
 * ```ts
 * const selectors: kopf.SelectorSpec[] = ['pods', 'deployments.apps', 'batch/v1/jobs', { kind: 'KopfExample' }];
 * ```
 */
export type SelectorSpec =
  | string
  | typeof EVERYTHING
  | SelectorFields
  // biome-ignore lint/suspicious/noExplicitAny: a token of whatever object is a selector all the same
  | ResourceToken<any>
  | ResourcePredicate;

export interface Selector {
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
  readonly plural?: string;
  readonly singular?: string;
  readonly shortcut?: string;
  readonly category?: string;
  readonly anyName?: string | typeof EVERYTHING;
  readonly fn?: ResourcePredicate;
  /** Whether the objects are in namespaces, by the words of a token. It selects nothing: see {@link scopeMistake}. */
  readonly namespaced?: boolean;
  /** Does it mean one resource by its name, so that several matching ones would be a misunderstanding? */
  readonly isSpecific: boolean;
  /** Could the resource be meant by this selector, as far as this one resource is concerned? */
  check(resource: Resource): boolean;
  /** Those that are meant, with the core resources winning over the namesakes from other groups. */
  select(resources: Iterable<Resource>): ReadonlySet<Resource>;
  /** For logs: `Selector(group='kopf.dev', anyName='kopfexamples')`. */
  toString(): string;
}

type Criteria = Omit<Selector, 'namespaced' | 'isSpecific' | 'check' | 'select' | 'toString'>;

/** Understands a selector, or throws {@link RegistrationError} that says how to put it properly. */
export function parseSelector(spec: SelectorSpec): Selector {
  const namespaced = isToken(spec) ? spec.namespaced : undefined;
  return makeSelector(parseCriteria(spec), namespaced);
}

/** What is wrong if a token says of the resource that it is in namespaces, and the cluster says that it is not; or so. */
export function scopeMistake(selector: Selector, resource: Resource): string | undefined {
  const { namespaced } = selector;
  if (namespaced === undefined || resource.namespaced === undefined) return undefined;
  if (namespaced === resource.namespaced) return undefined;
  const [said, real] = namespaced
    ? ['in namespaces', 'of the whole cluster']
    : ['of the whole cluster', 'in namespaces'];
  return (
    `The token of ${formatResource(resource)} says that these objects are ${said}, but in this cluster they are ` +
    `${real}: write \`namespaced: ${!namespaced}\` in it, or define the resource as the token says.`
  );
}

// biome-ignore lint/suspicious/noExplicitAny: a token of whatever object
function isToken(spec: SelectorSpec): spec is ResourceToken<any> {
  return typeof spec === 'object' && spec !== null && 'selector' in spec;
}

function parseCriteria(spec: SelectorSpec): Criteria {
  if (typeof spec === 'string') return spec.includes('/') ? parseSlashed(spec) : parseDotted(spec);
  if (spec === EVERYTHING) return { anyName: EVERYTHING };
  if (typeof spec === 'function') return { fn: spec };
  if (typeof spec !== 'object' || spec === null || Array.isArray(spec)) throw notUnderstood(spec);
  return parseFields(isToken(spec) ? spec.selector : spec);
}

// The versions by the conventions of Kubernetes. Anything else after a dot can only be the beginning of a group.
const DOTTED_WITH_VERSION = /^([^.]*)\.(v\d+(?:(?:alpha|beta)\d+)?)(?:\.(.*))?$/;
const VERSION = /^v\d+(?:(?:alpha|beta)\d+)?$/;

function parseDotted(spec: string): Criteria {
  const versioned = DOTTED_WITH_VERSION.exec(spec);
  if (versioned) {
    const [, anyName = '', version = '', group] = versioned;
    return { ...(group === undefined ? {} : { group }), version, anyName };
  }
  const dot = spec.indexOf('.');
  return dot < 0 ? { anyName: spec } : { group: spec.slice(dot + 1), anyName: spec.slice(0, dot) };
}

function parseSlashed(spec: string): Criteria {
  const parts = spec.split('/');
  const [first = '', second = '', third] = parts;
  if (parts.length > 3) {
    throw badSelector(`Too many parts in the resource specification '${spec}': write 'group/version/name' at most.`);
  }
  if (third !== undefined) return { group: first, version: second, anyName: third };
  if (VERSION.test(second)) {
    throw badSelector(
      `Unspecific resource with no names in '${spec}': this is a group and a version; write '${spec}/<name>'.`,
    );
  }
  return first === 'v1' ? { group: '', version: first, anyName: second } : { group: first, anyName: second };
}

function parseFields(fields: SelectorFields): Criteria {
  const { name, ...rest } = fields;
  const given = { ...rest, anyName: name };
  // Optional fields are often assigned from variables, so the absent ones may be there with nothing in them.
  return Object.fromEntries(CRITERIA.filter((key) => given[key] != null).map((key) => [key, given[key]]));
}

const NAMING = ['kind', 'plural', 'singular', 'shortcut', 'category', 'fn', 'anyName'] as const;
const CRITERIA = ['group', 'version', ...NAMING] as const;

function makeSelector(criteria: Criteria, namespaced: boolean | undefined): Selector {
  validate(criteria);
  const isSpecific = criteria.category === undefined && criteria.fn === undefined && criteria.anyName !== EVERYTHING;
  const check = (resource: Resource): boolean => matches(criteria, resource);
  return Object.freeze({
    ...criteria,
    ...(namespaced === undefined ? {} : { namespaced }),
    isSpecific,
    check,
    select(resources: Iterable<Resource>): ReadonlySet<Resource> {
      const found = uniqueResources([...resources].filter(check));
      // Someone's "pods" in a group of their own (e.g. metrics) must not make the well-known "pods" ambiguous.
      const ofCore = isSpecific ? [...found].filter((resource) => resource.group === '') : [];
      return ofCore.length > 0 ? new Set(ofCore) : found;
    },
    toString: () => format(criteria),
  });
}

function validate(criteria: Criteria): void {
  const named = NAMING.filter((key) => criteria[key] !== undefined);
  if (named.length > 1) {
    throw badSelector(
      `Ambiguous resource specification in ${format(criteria)}: keep one of ${named.map(optionOf).join(', ')}.`,
    );
  }
  if (named.length === 0) {
    throw badSelector(
      `Unspecific resource with no names in ${format(criteria)}: add one of ${NAMING.map(optionOf).join(', ')}; ` +
        'if all resources are meant, use EVERYTHING as the name.',
    );
  }
  if (named.some((key) => criteria[key] === '') || criteria.version === '') {
    throw badSelector(
      `Names must not be empty in ${format(criteria)}: put the name there, or leave the field out entirely; ` +
        'only the group can be empty, which means the core resources.',
    );
  }
}

function matches(selector: Criteria, resource: Resource): boolean {
  const { group, version, kind, plural, singular, shortcut, category, anyName, fn } = selector;
  if (group !== undefined && group !== resource.group) return false;
  if (version !== undefined && version !== resource.version) return false;
  // Without a version, the cluster's choice is meant; a predicate makes its own choice.
  if (version === undefined && fn === undefined && !resource.preferred) return false;
  if (kind !== undefined && kind !== resource.kind) return false;
  if (plural !== undefined && plural !== resource.plural) return false;
  if (singular !== undefined && singular !== resource.singular) return false;
  if (shortcut !== undefined && !resource.shortcuts.has(shortcut)) return false;
  if (category !== undefined && !resource.categories.has(category)) return false;
  if (anyName === EVERYTHING) return !isEvents(resource);
  if (anyName !== undefined && !hasName(resource, anyName)) return false;
  // Events go first: the predicates should not be bothered with what they can never get.
  return fn === undefined || (!isEvents(resource) && fn(resource));
}

function hasName(resource: Resource, name: string): boolean {
  const { kind, plural, singular, shortcuts } = resource;
  return name === kind || name === plural || name === singular || shortcuts.has(name);
}

/** Handling an event usually makes one more event. To handle them nevertheless, select them by their name. */
function isEvents({ group, version, plural }: Resource): boolean {
  return plural === 'events' && ((group === '' && version === 'v1') || group === 'events.k8s.io');
}

function format(criteria: Criteria): string {
  const fields = CRITERIA.filter((key) => criteria[key] !== undefined);
  return `Selector(${fields.map((key) => `${key}=${formatValue(criteria[key])}`).join(', ')})`;
}

function formatValue(value: unknown): string {
  if (value === EVERYTHING) return 'EVERYTHING';
  if (typeof value === 'function') return value.name === '' ? '<function>' : `<function ${value.name}>`;
  return `'${String(value)}'`;
}

/** The criteria by the words of the user: what is `anyName` here is `name` there. */
function optionOf(criterion: (typeof NAMING)[number]): string {
  return criterion === 'anyName' ? 'name' : criterion;
}

function notUnderstood(spec: unknown): RegistrationError {
  const what = spec === null ? 'null' : Array.isArray(spec) ? 'an array' : `of type ${typeof spec}`;
  return badSelector(
    `A resource specification must be a string, an object with fields, a resource token, EVERYTHING, ` +
      `or a function, but it is ${what}. For a group, a version and a name, write 'group/version/name'.`,
  );
}

function badSelector(message: string): RegistrationError {
  return new RegistrationError(message, { code: 'KOPF_BAD_SELECTOR' });
}
