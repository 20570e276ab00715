/**
 * One registrar, shaped into all of them: a kind of handlers, its known options, and how to make a handler of these.
 * Everything is checked when it is declared, so that a mistake points at the line which made it.
 */

import { functionName, type HandlerId, handlerIdOf } from '../values/ids.js';
import { isMapping } from '../values/json.js';
import { EVERYTHING, parseSelector, type Selector, type SelectorSpec } from '../values/selector.js';
import type { Activity, AnyHandler, HandlerFn } from './handlers.js';
import type { Env } from './kwargs.js';
import type { MethodContext, MethodDeclarations } from './methods.js';
import {
  CHANGE_FILTERS,
  definedOnly,
  EXECUTION,
  executionFrom,
  FILTERS,
  filtersFrom,
  IDENTITY,
  mistake,
  type ParsedFilters,
  type RawOptions,
  refuseUnknown,
  requireDuration,
  type Title,
} from './options.js';
import type { On, Registrars } from './registrars.js';

/** What the registrars need of a registry. */
export interface RegistrationTarget {
  readonly methods: MethodDeclarations;
  add(handler: AnyHandler, hints?: { readonly isNameless?: boolean }): void;
}

/** What all handlers have in common. */
interface Common {
  readonly id: HandlerId;
  readonly fn: HandlerFn;
  readonly param: unknown;
}

/** One row of the table of kinds. */
interface Kind {
  /** Besides `id` and `param`. */
  readonly options: readonly string[];
  /** Whether the field becomes a part of the id. */
  readonly fieldInId?: boolean;
  make(
    common: Common & { readonly selector?: Selector } & ParsedFilters,
    options: RawOptions,
    title: Title,
  ): AnyHandler;
}

const CHANGING = [...EXECUTION, ...FILTERS];
const DAEMON = ['cancellationBackoff', 'cancellationTimeout', 'cancellationPolling'] as const;
const TIMER = ['interval', 'idle'] as const;
const ADMISSION = [
  'operations',
  'subresource',
  'persistent',
  'sideEffects',
  'ignoreFailures',
  'timeoutSeconds',
  'namespaceSelector',
  'objectSelector',
  'matchConditions',
] as const;
const OPERATIONS: readonly unknown[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];

type ResourceKindName = Exclude<keyof On<Env>, Activity>;

const KINDS: Readonly<Record<ResourceKindName, Kind>> = {
  create: {
    options: CHANGING,
    make: (common) => ({ kind: 'change', ...common, reason: 'create' }),
  },
  update: {
    options: [...CHANGING, ...CHANGE_FILTERS],
    make: (common) => ({ kind: 'change', ...common, reason: 'update', fieldNeedsChange: true }),
  },
  delete: {
    options: [...CHANGING, 'optional'],
    make: (common, { optional }) => ({ kind: 'change', ...common, reason: 'delete', requiresFinalizer: !optional }),
  },
  resume: {
    options: [...CHANGING, 'deleted'],
    make: (common, { deleted }) => ({ kind: 'change', ...common, initial: true, deleted: Boolean(deleted) }),
  },
  field: {
    options: [...CHANGING, ...CHANGE_FILTERS],
    make: (common, _options, title) => {
      if (common.field === undefined)
        throw mistake(title, 'the field is mandatory; say which one it is for: { field: … }');
      return { kind: 'change', ...common, fieldNeedsChange: true };
    },
  },
  event: {
    options: FILTERS,
    make: (common) => ({ kind: 'watch', ...common }),
  },
  index: {
    options: CHANGING,
    // The id is the name of the index, and it is the user who chooses it.
    fieldInId: false,
    make: (common) => ({ kind: 'index', ...common }),
  },
  daemon: {
    options: [...CHANGING, 'initialDelay', ...DAEMON],
    make: (common, options, title) => {
      requireInitialDelay(title, options);
      for (const name of DAEMON) requireDuration(title, options, name);
      return { kind: 'daemon', ...common, ...definedOnly(options, ['initialDelay', ...DAEMON]) };
    },
  },
  timer: {
    options: [...CHANGING, 'initialDelay', ...TIMER, 'sharp'],
    make: (common, options, title) => {
      requireInitialDelay(title, options);
      for (const name of TIMER) requireDuration(title, options, name);
      return { kind: 'timer', ...common, ...definedOnly(options, ['initialDelay', ...TIMER, 'sharp']) };
    },
  },
  validate: {
    options: [...FILTERS, ...ADMISSION],
    make: (common, options, title) => ({
      kind: 'webhook',
      ...common,
      reason: 'validating',
      ...admissionFrom(title, options),
    }),
  },
  mutate: {
    options: [...FILTERS, ...ADMISSION],
    make: (common, options, title) => ({
      kind: 'webhook',
      ...common,
      reason: 'mutating',
      ...admissionFrom(title, options),
    }),
  },
};

function requireInitialDelay(title: Title, options: RawOptions): void {
  if (typeof options['initialDelay'] !== 'function') requireDuration(title, options, 'initialDelay');
}

function admissionFrom(title: Title, options: RawOptions): Record<string, never> {
  const { operations } = options;
  const isFine =
    Array.isArray(operations) && operations.length > 0 && operations.every((name) => OPERATIONS.includes(name));
  if (operations !== undefined && !isFine) {
    throw mistake(
      title,
      `operations must be a non-empty list of ${OPERATIONS.join(', ')}; leave it out for all of them`,
    );
  }
  return definedOnly(options, ADMISSION);
}

/** The registrars of a registry; the target is asked for at each declaration, as the default registry may be replaced. */
export function registrars<E extends Env>(target: () => RegistrationTarget): Registrars<E> {
  const activities = ['startup', 'cleanup', 'login', 'probe'] satisfies Activity[];
  const on = {
    ...Object.fromEntries(activities.map((activity) => [activity, activityRegistrar(target, activity)])),
    ...Object.fromEntries(
      (Object.keys(KINDS) as ResourceKindName[]).map((name) => [name, resourceRegistrar(target, name)]),
    ),
  } as unknown as On<E>;
  return { on, daemon: on.daemon, timer: on.timer, index: on.index };
}

/** Makes a handler of a function, and says what is wrong if it cannot. */
type Declare = (fn: HandlerFn, ofClass?: string) => { readonly handler: AnyHandler; readonly isNameless: boolean };

function resourceRegistrar(target: () => RegistrationTarget, name: ResourceKindName) {
  return (spec: SelectorSpec, ...rest: unknown[]): unknown => {
    const declaration = titled(name, describeSelector(spec));
    const [options, fn] = optionsAndHandler(declaration, rest);
    const declare: Declare = (given, ofClass) => {
      const title = titledWithHandler(declaration, given, options);
      const kind = KINDS[name];
      refuseUnknown(title, options, [...IDENTITY, ...kind.options]);
      const selector = parseSelector(spec);
      const filters = filtersFrom(title, options);
      const field = kind.fieldInId === false ? undefined : filters.field;
      const { id, isNameless } = identify(given, options, { fallback: `${name}.${nameOf(selector)}`, field, ofClass });
      const common = { id, fn: given, param: options['param'], selector, ...executionFrom(title, options), ...filters };
      return { handler: kind.make(common, options, title), isNameless };
    };
    if (fn === undefined) return decorator(target, declaration, declare);
    const handler = add(target(), declare(fn));
    return name === 'index' ? Object.freeze({ id: handler.id }) : fn;
  };
}

function activityRegistrar(target: () => RegistrationTarget, activity: Activity) {
  return (...args: unknown[]): unknown => {
    const declaration = titled(activity);
    if (isMethodContext(args[1])) throw mistake(declaration, `as a decorator, it needs parentheses: @on.${activity}()`);
    const [options, fn] = optionsAndHandler(declaration, args);
    const declare: Declare = (given, ofClass) => {
      const title = titledWithHandler(declaration, given, options);
      refuseUnknown(title, options, [...IDENTITY, ...EXECUTION]);
      const { id, isNameless } = identify(given, options, { fallback: activity, ofClass });
      const common = { id, fn: given, param: options['param'], ...executionFrom(title, options) };
      return { handler: { kind: 'activity', ...common, activity }, isNameless };
    };
    if (fn === undefined) return decorator(target, declaration, declare);
    add(target(), declare(fn));
    return fn;
  };
}

/** The options and the handler are both optional, and are told by what they are. */
function optionsAndHandler(title: Title, args: readonly unknown[]): [options: RawOptions, fn: HandlerFn | undefined] {
  const given = args.filter((arg) => arg !== undefined);
  const fn = given.find((arg) => typeof arg === 'function') as HandlerFn | undefined;
  const options = given.filter((arg) => arg !== fn);
  const isFine = options.length <= 1 && options.every(isMapping) && (fn === undefined || given.at(-1) === fn);
  if (!isFine) throw mistake(title, 'expected (selector, options?, handler); the handler is a function and comes last');
  return [(options[0] as RawOptions | undefined) ?? {}, fn];
}

function decorator(target: () => RegistrationTarget, title: Title, declare: Declare) {
  return (fn: unknown, context?: unknown): unknown => {
    if (typeof fn !== 'function') throw mistake(title, 'only functions and methods of classes can be handlers');
    if (context === undefined) {
      add(target(), declare(fn as HandlerFn));
      return fn;
    }
    if (!isMethodContext(context)) {
      throw mistake(
        title,
        'only methods can be decorated, by standard decorators (no experimentalDecorators in tsconfig.json)',
      );
    }
    const registry = target();
    // What is wrong with the options is told now, at the class, and not when (or if) it is constructed.
    declare(fn as HandlerFn);
    registry.methods.declare(title, context, (method) => {
      const named = Object.defineProperty(method.fn, 'name', { value: method.methodName });
      return add(registry, declare(named as HandlerFn, method.className)).id;
    });
    return fn;
  };
}

function isMethodContext(context: unknown): context is MethodContext {
  return isMapping(context) && context['kind'] === 'method' && typeof context['addInitializer'] === 'function';
}

function add(target: RegistrationTarget, { handler, isNameless }: ReturnType<Declare>): AnyHandler {
  target.add(handler, { isNameless });
  return handler;
}

function identify(
  fn: HandlerFn,
  options: RawOptions,
  hints: { fallback: string; field?: readonly string[] | undefined; ofClass?: string | undefined },
): { id: HandlerId; isNameless: boolean } {
  const given = options['id'] as string | undefined;
  return {
    id: handlerIdOf({ id: given, fn, ...hints }),
    isNameless: given === undefined && functionName(fn) === undefined,
  };
}

/** The declaration as the user sees it in the code. */
function titled(name: string, selector?: string): Title {
  const isTopLevel = name === 'daemon' || name === 'timer' || name === 'index';
  return `${isTopLevel ? '' : 'on.'}${name}(${selector ?? ''})`;
}

function titledWithHandler(declaration: Title, fn: HandlerFn, options: RawOptions): Title {
  const name = options['id'] ?? functionName(fn);
  return name === undefined ? declaration : `${declaration} of ${String(name)}`;
}

function describeSelector(spec: unknown): string {
  if (typeof spec === 'string') return `'${spec}'`;
  if (spec === EVERYTHING) return 'EVERYTHING';
  if (isMapping(spec)) return JSON.stringify(isMapping(spec['selector']) ? spec['selector'] : spec);
  return typeof spec === 'function' ? `${spec.name || 'function'}` : String(spec);
}

/** The resource part of a nameless handler's id. */
function nameOf({ anyName, plural, kind, singular, shortcut, category, fn }: Selector): string {
  if (anyName === EVERYTHING) return 'everything';
  return anyName ?? plural ?? kind ?? singular ?? shortcut ?? category ?? (fn?.name || 'resources');
}
