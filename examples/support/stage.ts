/** Where the examples are tested: a cluster, a namespace of nobody else in it, and operators that come and go. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type AnyObject, ApiConflictError, ApiNotFoundError, type KubeClient } from 'kopf-ts';
import type { OperatorRunner } from 'kopf-ts/testing';
import { parse, parseAllDocuments } from 'yaml';
import { type Ground, type GroundOptions, newGround } from './grounds.js';
import { playNodes } from './nodes.js';
import { type RunOptions, runOperator } from './operators.js';
import { pathOf } from './paths.js';

export interface Stage
  extends AsyncDisposable,
    Pick<Ground, 'client' | 'clock' | 'kubeconfig' | 'eventually' | 'during'> {
  /** Of nobody else, so that the tests can run side by side in one cluster. */
  readonly namespace: string;
  /**
   * Starts an operator with the handlers of that file, or of the registry in the options, for this namespace only;
   * waits until it is ready.
   */
  run(handlers: URL | undefined, options?: RunOptions): Promise<OperatorRunner>;
  /** The object of `obj.yaml`, with what is to be different. */
  createExample(differences?: ExampleDifferences): Promise<AnyObject>;
  /** It does not try again by itself, and neither do the patches: refusals are to be seen at once. */
  create(plural: string, body: AnyObject): Promise<AnyObject>;
  /** Fails if there is none. */
  get(plural: string, name: string): Promise<AnyObject>;
  list(plural: string): Promise<readonly AnyObject[]>;
  /** A merge-patch. */
  patch(plural: string, name: string, patch: object): Promise<AnyObject>;
  delete(plural: string, name: string): Promise<void>;
  /** Waits until there is no such object any more. */
  gone(plural: string, name: string): Promise<void>;
}

/** In milliseconds, for tests that wait for the garbage collector: a real one may take half a minute to know new kinds. */
export const GARBAGE_COLLECTION = 120_000;

interface ExampleDifferences {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: object;
}

/** Takes the definitions of `crd.yaml` along; and those of other such files, if asked to. */
export async function newStage(options: GroundOptions & { readonly apply?: readonly URL[] } = {}): Promise<Stage> {
  const ground = await newGround(options);
  const { client, clock, eventually, during, kubeconfig } = ground;
  const namespace = `example-${randomBytes(4).toString('hex')}`;
  const at = (plural: string, name?: string): string => pathOf(plural, namespace, name);

  for (const file of [new URL('../crd.yaml', import.meta.url), ...(options.apply ?? [])]) await applyFile(ground, file);
  await client.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: namespace } } });
  if (ground.hasServiceAccounts) {
    // Pods are not accepted before there is an account for them.
    await eventually(() => client.request({ method: 'GET', path: at('serviceaccounts', 'default') }));
  }

  const nodes = ground.lacksNodes ? playNodes(client, namespace) : undefined;

  const get = (plural: string, name: string): Promise<AnyObject> =>
    client.request<AnyObject>({ method: 'GET', path: at(plural, name) });
  const create = (plural: string, body: AnyObject): Promise<AnyObject> =>
    client.request<AnyObject>({ method: 'POST', path: at(plural), body, retries: 'none' });
  return {
    client,
    clock,
    kubeconfig,
    eventually,
    during,
    namespace,
    run: (handlers, runOptions) => runOperator(ground, namespace, handlers, runOptions),
    async createExample({ name, labels, annotations, spec } = {}) {
      const { metadata, ...example } = parse(await readFile(new URL('../obj.yaml', import.meta.url), 'utf8'));
      return await create('kopfexamples', {
        ...example,
        metadata: {
          name: name ?? metadata.name,
          labels: { ...metadata.labels, ...labels },
          annotations: { ...metadata.annotations, ...annotations },
        },
        spec: { ...example.spec, ...spec },
      });
    },
    create,
    get,
    async list(plural) {
      return (await client.request<{ items: AnyObject[] }>({ method: 'GET', path: at(plural) })).items;
    },
    patch: (plural, name, body) =>
      client.request({
        method: 'PATCH',
        path: at(plural, name),
        body,
        contentType: 'application/merge-patch+json',
        retries: 'none',
      }),
    async delete(plural, name) {
      await client.request({ method: 'DELETE', path: at(plural, name) });
    },
    async gone(plural, name) {
      await eventually(async () => {
        if (await exists(get(plural, name))) throw new Error(`${plural}/${name} is still there.`);
      });
    },
    async [Symbol.asyncDispose]() {
      await nodes?.[Symbol.asyncDispose]();
      await ground[Symbol.asyncDispose]();
    },
  };
}

async function exists(request: Promise<unknown>): Promise<boolean> {
  try {
    await request;
    return true;
  } catch (error) {
    if (error instanceof ApiNotFoundError) return false;
    throw error;
  }
}

/** Creates what is not there yet. On a real cluster, others may be doing the same; and kinds are not served at once. */
async function applyFile({ client, eventually }: Ground, file: URL): Promise<void> {
  for (const document of parseAllDocuments(await readFile(file, 'utf8'))) {
    const object = document.toJS() as AnyObject;
    const { kind = '', metadata } = object;
    await eventually(() => createUnlessThere(client, pathOf(pluralOf(kind), metadata?.namespace), object));
    if (kind !== 'CustomResourceDefinition') continue;
    const { group, names, versions } = object['spec'];
    const served = `/apis/${group}/${versions[0].name}/${names.plural}?limit=1`;
    await eventually(() => client.request({ method: 'GET', path: served, retries: 'none' }));
  }
}

async function createUnlessThere(client: KubeClient, path: string, body: AnyObject): Promise<void> {
  try {
    await client.request({ method: 'POST', path, body });
  } catch (error) {
    if (!(error instanceof ApiConflictError)) throw error;
  }
}

const pluralOf = (kind: string): string => `${kind.toLowerCase()}s`;
