/** Where handlers are declared and found. Any number of registries can live in one process, unaware of each other. */
import { RegistrationError } from '../../errors.js';
import type { Logger } from '../../seams/logger.js';
import { createHandlers, type Handlers } from '../handler-set.js';
import { type AnyHandler, relationsOf, titleOf } from '../handlers.js';
import type { DefaultEnv, Env } from '../kwargs.js';
import { doubtsAbout } from './doubts.js';
import { methodDeclarations } from './methods.js';
import { type RegistrationTarget, registrars } from './on.js';
import { placedTitleOf, placeIn, placeOf } from './places.js';
import type { Registrars } from './registrars.js';
import { refuseShadowed } from './shadows.js';

/**
 * Handlers, and the ways to declare them.
 *
 * ```ts
 * const registry: kopf.Registry = kopf.createRegistry();
 * registry.timer('kopfexamples', { interval: 60 }, ({ patch }) => {
 *   patch.status.checked = new Date().toISOString();
 * });
 * registry.verify({ logger });
 * ```
 */
export interface Registry<E extends Env = DefaultEnv> extends Registrars<E> {
  readonly handlers: Handlers;
  /** Adds a ready handler, made in ways of your own. */
  add(handler: AnyHandler): void;
  /**
   * Called by operators before they start: throws a {@link RegistrationError} if something is declared that can
   * never work, and warns of what probably does not work as meant.
   */
  verify(options?: { readonly logger?: Logger }): void;
  /**
   * Called by operators when their startup is over: from now on, handlers declared too late are reported, until the
   * returned function is called.
   */
  serve(options: { readonly logger: Logger }): () => void;
}

/** Slashes and angle brackets are permitted in ids: storages replace them. */
const NAMEABLE = /^[\w./<>-]+$/;

/**
 * Makes a separate registry with its own registrars: for several operators in one process, and for tests.
 * Handlers declared by `kopf.on` go to the default registry instead.
 *
 * ```ts
 * const registry = kopf.createRegistry();
 * registry.on.create('kopfexamples', ({ logger, name }) => logger.info(`Hello, ${name}!`));
 * await kopf.run({ registry });
 * ```
 */
export function createRegistry<E extends Env = DefaultEnv>(): Registry<E> {
  const handlers = createHandlers();
  const methods = methodDeclarations();
  const nameless = new Map<string, AnyHandler>();
  const minified = new Map<string, AnyHandler>();
  const serving = new Set<{ readonly logger: Logger }>();
  const expected = new Set<{ text(): string }>();

  const target: RegistrationTarget = {
    methods,
    expect(title, trace) {
      const expectation = { text: () => `${title}${inParentheses(placeIn(trace))}` };
      expected.add(expectation);
      return { meet: () => void expected.delete(expectation) };
    },
    relate: (relation) => handlers.relations.add(relation),
    add(handler, { isNameless, looksMinified } = {}) {
      if (isNameless) refuseNamesake(nameless, handler);
      if (looksMinified && !minified.has(titleOf(handler))) minified.set(titleOf(handler), handler);
      for (const relation of relationsOf(handler)) handlers.relations.add(relation);
      familyOf(handlers, handler).add(handler);
      for (const { logger } of serving) {
        logger.warn(
          `${placedTitleOf(handler)} is declared while the operator is running. It is called only if its kind is already ` +
            'served, and not for earlier events: declare it when its file is loaded, or in a startup handler.',
        );
      }
    },
  };
  return {
    ...registrars<E>(() => target),
    handlers,
    add: (handler) => target.add(handler),
    serve({ logger }) {
      const operator = { logger };
      serving.add(operator);
      return () => void serving.delete(operator);
    },
    verify({ logger } = {}) {
      methods.verify();
      refuseShadowed(handlers);
      for (const { text } of expected) {
        logger?.warn(`${text()} has no function, so it declares nothing: pass the function as the last argument.`);
      }
      for (const [title, handler] of minified) {
        logger?.warn(
          `${title} has a one-letter name in its id, which looks minified. Such ids change from build to build, and ` +
            `the progress stored under them is lost: bundle with keepNames, or give ids explicitly.${declaredAt(handler)}`,
        );
      }
      for (const handler of handlers.changing) {
        if (NAMEABLE.test(handler.id)) continue;
        logger?.warn(
          `${titleOf(handler)} has characters in its id that Kubernetes does not permit in names of annotations, where ` +
            `progress is usually stored: use letters, digits, "-", "_", ".", "/" only.${declaredAt(handler)}`,
        );
      }
      for (const doubt of doubtsAbout(handlers)) logger?.warn(doubt);
    },
  };
}

/** Ids are stored on the objects, so two functions without names must not share one and get each other's progress. */
function refuseNamesake(nameless: Map<string, AnyHandler>, handler: AnyHandler): void {
  const known = nameless.get(handler.id);
  if (known !== undefined && known.fn !== handler.fn) {
    throw new RegistrationError(
      `${titleOf(handler)} is already declared${at(known)}, and neither function has a name of its own: ` +
        'name at least one of the functions, or give it an id.',
    );
  }
  nameless.set(handler.id, handler);
}

function familyOf(handlers: Handlers, handler: AnyHandler): { add(handler: AnyHandler): void } {
  const families = {
    activity: handlers.activities,
    index: handlers.indexing,
    watch: handlers.watching,
    change: handlers.changing,
    daemon: handlers.spawning,
    timer: handlers.spawning,
    reconcile: handlers.related,
    child: handlers.related,
    webhook: handlers.webhooks,
  };
  return families[handler.kind] as { add(handler: AnyHandler): void };
}

function at(handler: AnyHandler): string {
  const place = placeOf(handler);
  return place === undefined ? '' : ` at ${place}`;
}

/** A sentence appended to a message. */
function declaredAt(handler: AnyHandler): string {
  const place = placeOf(handler);
  return place === undefined ? '' : ` It is declared at ${place}.`;
}

function inParentheses(place: string | undefined): string {
  return place === undefined ? '' : ` (${place})`;
}
