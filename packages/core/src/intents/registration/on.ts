/**
 * The implementation of all registrars.
 * Declarations are checked at once, so that a mistake points at the line that made it.
 */
import { RegistrationError } from '../../errors.js';
import { functionName, type HandlerId, handlerIdOf, looksMinified } from '../../values/ids.js';
import { isMapping } from '../../values/json.js';
import { EVERYTHING, parseSelector, type Selector, type SelectorSpec } from '../../values/resources/selector.js';
import type { Activity, AnyHandler, HandlerFn } from '../handlers.js';
import type { Env } from '../kwargs.js';
import type { Relation } from '../relations.js';
import { GROWING, KINDS, type ResourceKindName } from './kinds.js';
import type { MethodContext, MethodDeclarations } from './methods.js';
import {
  EXECUTION,
  executionFrom,
  FILTERS,
  filtersFrom,
  IDENTITY,
  mistake,
  type RawOptions,
  refuseUnknown,
  requireId,
  requireStorableId,
  shown,
  type Title,
} from './options.js';
import { placed, type Trace, traceOfCaller } from './places.js';
import type { On, Registrars } from './registrars.js';
import { fieldsFrom, RELATING, relationFrom } from './relating.js';

/** The origin of a handler's id. */
interface IdHints {
  /** There was neither an id nor a name, so the id comes from the purpose of the handler. */
  readonly isNameless?: boolean;
  /** The id comes from a name that looks minified. */
  readonly looksMinified?: boolean;
}

/** The parts of a registry that the registrars need. */
export interface RegistrationTarget {
  readonly methods: MethodDeclarations;
  /** Remembers a declaration without its function; until that comes, it declares nothing. */
  expect(title: Title, trace: Trace): { meet(): void };
  add(handler: AnyHandler, hints?: IdHints): void;
  relate(relation: Relation): void;
}

/** The registrars of a registry. The target is read at each declaration because the default registry may be replaced. */
export function registrars<E extends Env>(target: () => RegistrationTarget): Registrars<E> {
  const activities = ['startup', 'cleanup', 'login', 'probe'] satisfies Activity[];
  const on = {
    ...Object.fromEntries(activities.map((activity) => [activity, activityRegistrar(target, activity)])),
    ...Object.fromEntries(
      (Object.keys(KINDS) as ResourceKindName[]).map((name) => [name, resourceRegistrar(target, name)]),
    ),
    child: childRegistrar(target),
  } as unknown as On<E>;
  const owns = ownsRegistrar(target) as unknown as Registrars<E>['owns'];
  return { on, daemon: on.daemon, timer: on.timer, index: on.index, owns };
}

interface Declared {
  readonly handler: AnyHandler;
  readonly hints: IdHints;
}

/** Makes a handler of a function. Throws if it cannot. */
type Declare = (fn: HandlerFn, ofClass?: string) => Declared;

function resourceRegistrar(target: () => RegistrationTarget, name: ResourceKindName) {
  const registrar = (spec: SelectorSpec, ...rest: unknown[]): unknown => {
    const trace = traceOfCaller(registrar);
    const declaration = titled(name, isMethodContext(rest[0]) ? '' : describeSelector(spec));
    if (isMethodContext(rest[0])) {
      throw mistake(declaration, 'as a decorator, it needs parentheses with a selector');
    }
    refuseSeveralNames(declaration, name, [spec, ...rest]);
    const [options, fn] = optionsAndHandler(declaration, rest, '(selector, options?, handler)');
    const declare: Declare = (given, ofClass) => {
      const title = titledWithHandler(declaration, given, options);
      const kind = KINDS[name];
      refuseUnknown(title, options, [...IDENTITY, ...kind.options]);
      requireId(title, options);
      const selector = selectorFrom(title, spec);
      const filters = filtersFrom(title, options);
      const field = kind.fieldInId === false ? undefined : filters.field;
      const { id, hints } = identify(given, options, { fallback: `${name}.${nameOf(selector)}`, field, ofClass });
      const common = {
        id,
        fn: given,
        param: options['param'],
        selector,
        ...executionFrom(title, options, kind.errors),
        ...filters,
      };
      const handler = kind.make(common, options, title);
      if (handler.kind === 'change') requireStorableId(title, String(options['id'] ?? functionName(given) ?? ''));
      return { handler: placed(handler, trace), hints };
    };
    if (fn === undefined) return decorator(target, declaration, declare, trace);
    const handler = add(target(), declare(fn));
    return name === 'index' ? Object.freeze({ id: handler.id }) : fn;
  };
  return registrar;
}

/** Takes two kinds: that of the parents and that of the children. */
function childRegistrar(target: () => RegistrationTarget) {
  const registrar = (spec: SelectorSpec, child: SelectorSpec, ...rest: unknown[]): unknown => {
    const trace = traceOfCaller(registrar);
    const declaration = titled('child', `${describeSelector(spec)}, ${describeSelector(child)}`);
    const expected = '(parent, child, options?, handler)';
    refuseMissingChild(declaration, child, expected);
    const [options, fn] = optionsAndHandler(declaration, rest, expected);
    const declare: Declare = (given, ofClass) => {
      const title = titledWithHandler(declaration, given, options);
      refuseUnknown(title, options, [...IDENTITY, ...EXECUTION, ...FILTERS, ...RELATING, 'fields']);
      requireId(title, options);
      const selector = selectorFrom(title, spec);
      const relation = relationFrom(title, selector, child, options['by']);
      const filters = filtersFrom(title, options);
      const fallback = `child.${nameOf(selector)}.${nameOf(relation.child)}`;
      const { id, hints } = identify(given, options, { fallback, field: filters.field, ofClass });
      const common = { id, fn: given, param: options['param'], selector, relation, backoff: GROWING };
      const execution = executionFrom(title, options);
      const handler = { kind: 'child', ...common, ...execution, ...filters, ...fieldsFrom(title, options) } as const;
      return { handler: placed(handler, trace), hints };
    };
    if (fn === undefined) return decorator(target, declaration, declare, trace);
    add(target(), declare(fn));
    return fn;
  };
  return registrar;
}

/** Declares that objects of one kind belong to those of another kind, without any handler. */
function ownsRegistrar(target: () => RegistrationTarget) {
  return (spec: SelectorSpec, child: SelectorSpec, options: RawOptions = {}): void => {
    const title = `owns(${describeSelector(spec)}, ${describeSelector(child)})`;
    refuseMissingChild(title, child, '(parent, child, options?)');
    if (!isMapping(options)) throw mistake(title, 'expected (parent, child, options?)');
    refuseUnknown(title, options, RELATING);
    target().relate(relationFrom(title, selectorFrom(title, spec), child, options['by']));
  };
}

/** A function may be a selector, too, but here it is probably the handler, and the kind of children is missing. */
function refuseMissingChild(title: Title, child: unknown, expected: string): void {
  if (child !== undefined && typeof child !== 'function') return;
  throw mistake(title, `expected ${expected}: name the kind of the parents first, then the kind of the children`);
}

function activityRegistrar(target: () => RegistrationTarget, activity: Activity) {
  const registrar = (...args: unknown[]): unknown => {
    const trace = traceOfCaller(registrar);
    const declaration = titled(activity);
    if (isMethodContext(args[1])) throw mistake(declaration, 'as a decorator, it needs parentheses');
    const [options, fn] = optionsAndHandler(declaration, args, '(options?, handler)');
    const declare: Declare = (given, ofClass) => {
      const title = titledWithHandler(declaration, given, options);
      refuseUnknown(title, options, [...IDENTITY, ...EXECUTION]);
      requireId(title, options);
      const { id, hints } = identify(given, options, { fallback: activity, ofClass });
      const common = { id, fn: given, param: options['param'], ...executionFrom(title, options) };
      return { handler: placed({ kind: 'activity', ...common, activity }, trace), hints };
    };
    if (fn === undefined) return decorator(target, declaration, declare, trace);
    add(target(), declare(fn));
    return fn;
  };
  return registrar;
}

/** As in Kopf: `on.create('kopf.dev', 'v1', 'kopfexamples', fn)`. Here, it is one string. */
function refuseSeveralNames(title: Title, registrar: string, args: readonly unknown[]): void {
  const others = args.findIndex((arg) => typeof arg !== 'string');
  const names = args.slice(0, others < 0 ? args.length : others);
  if (names.length < 2) return;
  throw mistake(
    title,
    `expected (selector, options?, handler); write the selector as one string: ${titled(registrar, `'${names.join('/')}', …`)}`,
  );
}

/** The options and the handler are both optional, and are recognised by their types. */
function optionsAndHandler(
  title: Title,
  args: readonly unknown[],
  signature: string,
): [options: RawOptions, fn: HandlerFn | undefined] {
  const [first, second] = args;
  const expected = `expected ${signature}; the handler is a function and comes last`;
  if (args.length > 2) throw mistake(title, expected);
  const promise = args.find(isPromise);
  if (promise !== undefined) {
    // Nothing awaits it, and its rejection would end the process with another message.
    promise.catch(() => {});
    throw mistake(title, 'the handler is a promise: pass the function itself, without calling it');
  }
  if (args.length === 2 && typeof second !== 'function') {
    // Usually, it is imported from a module that is not loaded yet because the modules import each other.
    throw mistake(title, `the handler is ${shown(second)}; ${expected}`);
  }
  const generator = args.find(isGenerator);
  if (generator !== undefined) {
    throw mistake(title, 'the handler is a generator, which does nothing when called: remove the asterisk');
  }
  if (args.length === 1 && typeof first === 'function') return [{}, first as HandlerFn];
  if (first !== undefined && !isMapping(first)) throw mistake(title, expected);
  return [first ?? {}, second as HandlerFn | undefined];
}

function isPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise;
}

function isGenerator(value: unknown): boolean {
  return typeof value === 'function' && /Generator/.test(Object.prototype.toString.call(value));
}

function decorator(target: () => RegistrationTarget, title: Title, declare: Declare, trace: Trace) {
  const unused = target().expect(title, trace);
  return (fn: unknown, context?: unknown): unknown => {
    unused.meet();
    if (context !== undefined && !isMethodContext(context)) {
      throw mistake(
        title,
        'only methods can be decorated, and only by standard decorators (no experimentalDecorators in tsconfig.json)',
      );
    }
    if (typeof fn !== 'function') throw mistake(title, 'only functions and methods of classes can be handlers');
    if (isGenerator(fn)) throw mistake(title, 'the method is a generator, which does nothing when it is called');
    const registry = target();
    // For methods, too: mistakes in the options are reported at the class, not when (or if) it is constructed.
    const declared = declare(fn as HandlerFn);
    if (context === undefined) {
      add(registry, declared);
      return fn;
    }
    registry.methods.declare({ title, fn, context }, (method) => {
      const named = Object.defineProperty(method.fn, 'name', { value: method.methodName });
      return add(registry, declare(named as HandlerFn, method.className)).id;
    });
    return fn;
  };
}

function isMethodContext(context: unknown): context is MethodContext {
  return isMapping(context) && context['kind'] === 'method' && typeof context['addInitializer'] === 'function';
}

function add(target: RegistrationTarget, { handler, hints }: Declared): AnyHandler {
  target.add(handler, hints);
  return handler;
}

function identify(
  fn: HandlerFn,
  options: RawOptions,
  source: { fallback: string; field?: readonly string[] | undefined; ofClass?: string | undefined },
): { id: HandlerId; hints: IdHints } {
  const id = options['id'] as string | undefined;
  if (id !== undefined) return { id: handlerIdOf({ id, fn, ...source }), hints: {} };
  const name = functionName(fn);
  // Minifiers rename classes and private methods, but not public methods.
  const names = [name, source.ofClass].filter((part) => part !== undefined);
  const hints = { isNameless: name === undefined, looksMinified: names.some(looksMinified) };
  return { id: handlerIdOf({ fn, ...source }), hints };
}

/** The selector. Mistakes in it are reported with this handler. */
function selectorFrom(title: Title, spec: SelectorSpec): Selector {
  try {
    return parseSelector(spec);
  } catch (error) {
    if (!(error instanceof RegistrationError)) throw error;
    throw new RegistrationError(`${title}: ${error.message}`, { code: error.code, cause: error });
  }
}

/** The declaration as the user sees it in the code. */
function titled(name: string, selector?: string): Title {
  const isTopLevel = name === 'daemon' || name === 'timer' || name === 'index';
  return `${isTopLevel ? '' : 'on.'}${name}(${selector ?? ''})`;
}

function titledWithHandler(declaration: Title, fn: HandlerFn, { id }: RawOptions): Title {
  const name = typeof id === 'string' && id !== '' ? id : functionName(fn);
  return name === undefined ? declaration : `${declaration} of ${name}`;
}

function describeSelector(spec: unknown): string {
  if (typeof spec === 'string') return `'${spec}'`;
  if (spec === EVERYTHING) return 'EVERYTHING';
  if (isMapping(spec)) return JSON.stringify(isMapping(spec['selector']) ? spec['selector'] : spec);
  return typeof spec === 'function' ? (functionName(spec) ?? 'function') : shown(spec);
}

/** The resource part of a nameless handler's id. */
function nameOf({ anyName, plural, kind, singular, shortcut, category, fn }: Selector): string {
  if (anyName === EVERYTHING) return 'everything';
  const nameOfPredicate = fn === undefined ? undefined : functionName(fn);
  return anyName ?? plural ?? kind ?? singular ?? shortcut ?? category ?? nameOfPredicate ?? 'resources';
}
