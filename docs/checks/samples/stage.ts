/** What scenarios of the pages are played on: a cluster in memory whose time flies, and an operator of the sample. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'node:util';
import { type AnyObject, ApiNotFoundError, createRegistry, getDefaultRegistry, setDefaultRegistry } from 'kopf-ts';
import {
  type OperatorRunner,
  type OperatorRunnerOptions,
  operatorRunner,
  type TestCluster,
  type TestClusterOptions,
  testCluster,
} from 'kopf-ts/testing';
import { vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { missingLines } from './output.mjs';

export { expect, vi } from 'vitest';

/** Modules are remembered by their addresses: another one for each time. */
let imports = 0;

/** What a scenario has in scope. */
export interface Scenario {
  readonly cluster: TestCluster;
  /** The operator of the sample: started, and ready; unless the scenario says `start: manual`. */
  readonly operator: OperatorRunner;
  /** Starts one more operator, or the first one of `start: manual`. It is stopped at the end. */
  start(options?: OperatorRunnerOptions): Promise<OperatorRunner>;
  /** Creates or changes objects: of a YAML sample of the page by its name, of a text in YAML, or of an object. Then, all settles. */
  apply(source: string | AnyObject): Promise<void>;
  /** Creates a KopfExample named `one`, with that spec and these metadata. Then, all settles. */
  example(spec?: Record<string, unknown>, metadata?: Record<string, unknown>): Promise<void>;
  /** A merge-patch. Then, all settles. */
  patch(reference: string, patch: object): Promise<void>;
  remove(reference: string): Promise<void>;
  /** Fails if there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: scenarios look at fields of any kind
  get(reference: string): any;
  /** Moves the time, in seconds. */
  advance(seconds: number): Promise<void>;
  settled(): Promise<void>;
  /** Repeats until it does not throw; time flies meanwhile. */
  eventually<T>(assertions: () => T | Promise<T>): Promise<T>;
}

export interface Play {
  readonly file: URL;
  readonly folder: string;
  readonly start?: string | undefined;
  readonly definitions: string;
  readonly output?: string | undefined;
  readonly cluster?: TestClusterOptions | undefined;
  readonly runner?: OperatorRunnerOptions | undefined;
}

const crd = await readFile(new URL('../../../examples/crd.yaml', import.meta.url), 'utf8');

export async function play(options: Play, scenario: (scope: Scenario) => Promise<void>): Promise<void> {
  await using cluster = await testCluster({ ...options.cluster });
  const definitions = `${crd}\n---\n${options.definitions}`;
  for (const document of parseAllDocuments(definitions)) {
    const object = document.toJS() as AnyObject | null;
    if (object !== null) await cluster.apply(object);
  }
  const runners: OperatorRunner[] = [];
  const start = async (more: OperatorRunnerOptions = {}): Promise<OperatorRunner> => {
    const runner = await operatorRunner({ cluster, handlers: options.file, ...options.runner, ...more });
    runners.push(runner);
    await runner.ready;
    return runner;
  };
  const settled = async (): Promise<void> => {
    await cluster.settled();
    for (const runner of runners) await runner.settled();
  };
  try {
    if (options.start !== 'manual') await start();
    await scenario({
      cluster,
      get operator() {
        return runners[0] as OperatorRunner;
      },
      start,
      async apply(source) {
        const isFile = typeof source === 'string' && /^[\w./-]+\.ya?ml$/.test(source);
        await cluster.apply(isFile ? await readFile(join(options.folder, source), 'utf8') : source);
        await settled();
      },
      async example(spec = {}, metadata = {}) {
        const body = { apiVersion: 'kopf.dev/v1', kind: 'KopfExample' };
        await cluster.create({ ...body, metadata: { name: 'one', namespace: 'default', ...metadata }, spec });
        await settled();
      },
      async patch(reference, body) {
        await cluster.patch(reference, body);
        await settled();
      },
      async remove(reference) {
        await cluster.delete(reference);
        await settled();
      },
      get(reference) {
        const found = cluster.get(reference);
        if (found === undefined) throw new Error(`There is no ${reference}.`);
        return found;
      },
      async advance(seconds) {
        await cluster.clock.advance(seconds);
        await settled();
      },
      settled,
      async eventually(assertions) {
        return await (runners[0] as OperatorRunner).eventually(assertions);
      },
    });
    if (options.output !== undefined) {
      const missing = missingLines(options.output, runners.map(({ output }) => output).join(''));
      if (missing !== undefined) throw new Error(missing);
    }
  } finally {
    for (const runner of runners.reverse()) await runner.stop().catch(() => {});
  }
}

/** Creates each object of a sample in YAML, and refuses fields that its kind does not have. Definitions and namespaces come first. */
export async function applied(sample: string, definitions: string): Promise<void> {
  await using cluster = await testCluster();
  for (const document of parseAllDocuments(`${crd}\n---\n${definitions}`)) {
    const object = document.toJS() as AnyObject | null;
    if (object !== null) await cluster.apply(object);
  }
  for (const document of parseAllDocuments(sample)) {
    const object = document.toJS() as AnyObject | null;
    if (object === null) continue;
    const { apiVersion = '', kind = '', metadata } = object;
    const prefix = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const { resources } = await cluster.client.request<Discovered>({ method: 'GET', path: prefix });
    const served = resources.find((one) => one.kind === kind && !one.name.includes('/'));
    if (served === undefined) throw new Error(`There is no kind ${kind} of ${apiVersion}.`);
    const namespace = metadata?.namespace ?? 'default';
    if (served.namespaced && cluster.get(`namespaces/${namespace}`) === undefined)
      await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const path = `${prefix}${served.namespaced ? `/namespaces/${namespace}` : ''}/${served.name}`;
    const isThere = metadata?.name !== undefined && (await isServed(cluster, `${path}/${metadata.name}`));
    const query = 'fieldValidation=Strict&fieldManager=docs';
    if (isThere)
      await cluster.client.request({
        method: 'PATCH',
        path: `${path}/${metadata?.name}?${query}&force=true`,
        body: object,
        contentType: 'application/apply-patch+yaml',
      });
    else await cluster.client.request({ method: 'POST', path: `${path}?${query}`, body: object });
  }
}

interface Discovered {
  readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
}

async function isServed(cluster: TestCluster, path: string): Promise<boolean> {
  try {
    await cluster.client.request({ method: 'GET', path });
    return true;
  } catch (error) {
    if (error instanceof ApiNotFoundError) return false;
    throw error;
  }
}

/** Whether the handlers can be declared at all: a file that cannot even be loaded shows nothing. */
export async function loads(file: URL): Promise<void> {
  const previous = getDefaultRegistry();
  setDefaultRegistry(createRegistry());
  try {
    imports += 1;
    await import(/* @vite-ignore */ `${file.href}?load=${imports}`);
  } finally {
    setDefaultRegistry(previous);
  }
}

/** A mutant that is no program proves nothing. */
export async function expectFailure(what: string, attempt: () => Promise<unknown>): Promise<void> {
  try {
    await attempt();
  } catch (error) {
    if (error instanceof ReferenceError || error instanceof SyntaxError)
      throw new Error(`Without ${what}, it is broken rather than without a feature: ${error.message}`);
    return;
  }
  throw new Error(`It passes without ${what}, too: so it does not show that.`);
}

/** Runs a program, and compares what it prints. */
export async function printed(file: URL, output: string | undefined): Promise<void> {
  let text = '';
  const spies = (['log', 'info', 'warn', 'error'] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation((...args) => {
      text += `${format(...args)}\n`;
    }),
  );
  try {
    imports += 1;
    await import(/* @vite-ignore */ `${file.href}?run=${imports}`);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  const missing = output === undefined ? undefined : missingLines(output, text);
  if (missing !== undefined) throw new Error(missing);
}
