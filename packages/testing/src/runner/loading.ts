/** Handlers from files: loaded for their side effects, into a registry that takes the place of the default one meanwhile. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Awaitable, getDefaultRegistry, type Registry, setDefaultRegistry } from '@kopf-ts/core';

/**
 * Files (relative to the current folder, or as URLs: `new URL('./handlers.ts', import.meta.url)`); or a function that
 * declares the handlers, maybe by importing modules: these are imported as the test itself is, but only once.
 *
 * ```ts
 * import type { HandlersSource } from 'kopf-ts/testing';
 * const sources: HandlersSource[] = ['src/handlers.ts', new URL('./handlers.ts', import.meta.url)];
 * ```
 */
export type HandlersSource = string | URL | readonly (string | URL)[] | (() => unknown);

/**
 * Loads one file, as if for the first time: what it declares must be declared again.
 *
 * ```ts
 * import type { LoadHandlers } from 'kopf-ts/testing';
 * let count = 0;
 * const load: LoadHandlers = (file) => import(`${file.href}?${count++}`);
 * ```
 */
export type LoadHandlers = (file: URL) => Awaitable<unknown>;

/** There is only one default registry in the process, and loading takes time. */
let queue: Promise<unknown> = Promise.resolve();

/** Loads all handlers into the registry, one source after another. */
export function loadHandlers(
  source: HandlersSource,
  // biome-ignore lint/suspicious/noExplicitAny: handlers of any environment are loaded alike
  registry: Registry<any>,
  load: LoadHandlers = importAnew,
): Promise<void> {
  const turn = queue.then(() => loadInto(source, registry, load));
  queue = turn.catch(() => {});
  return turn;
}

// biome-ignore lint/suspicious/noExplicitAny: handlers of any environment are loaded alike
async function loadInto(source: HandlersSource, registry: Registry<any>, load: LoadHandlers): Promise<void> {
  const previous = getDefaultRegistry();
  setDefaultRegistry(registry);
  try {
    if (typeof source === 'function') await source();
    else for (const file of [source].flat()) await load(file instanceof URL ? file : pathToFileURL(resolve(file)));
  } finally {
    setDefaultRegistry(previous);
  }
}

let imports = 0;

/** Modules are remembered by their full address; so each time it is another one, for the same file. */
async function importAnew(file: URL): Promise<unknown> {
  const address = new URL(file);
  imports += 1;
  address.searchParams.set('runner', String(imports));
  return await import(/* @vite-ignore */ address.href);
}
