/** The runtime of the command line; see `@kopf-ts/cli`. */
import type { CliRuntime, ReleasedObject } from '@kopf-ts/cli';
import type { Clock, ConnectionInfo, KubeClient, Logger } from '@kopf-ts/core';
import type { Released } from '../release/release.js';
import { optimizeForMemory } from './optimizing.js';
import { ownCopyOf } from './own-copies.js';

/** The runtime of this process, started with the program's file. Modules are imported on demand: `--help` needs none. */
export function processRuntime({ program, version }: { program: string; version: string }): CliRuntime {
  return {
    version,
    command: [process.execPath, ...process.execArgv, program],
    async configure(options) {
      const { configure, defaultLogger } = await import('../logging/default-logger.js');
      configure(options);
      return defaultLogger();
    },
    async warmUp() {
      await import('../running/run.js');
    },
    async run({ optimize = 'memory', ...options }) {
      if (optimize === 'memory') optimizeForMemory();
      const { runForCli } = await import('./run-command.js');
      return await runForCli(options);
    },
    freeze: (options) =>
      withClient(async ({ client, clock }) => (await peering()).freeze({ ...options, client, clock })),
    resume: (options) => withClient(async ({ client }) => (await peering()).resume({ ...options, client })),
    async release({ selectors, namespaces, finalizer, prefix, dryRun, onObject }) {
      const { release } = await import('../release/release.js');
      const settings = await settingsWith(finalizer, prefix);
      await withClient(async ({ client }) => {
        const all = release({ client, selector: selectors, settings, namespaces, dryRun });
        for await (const one of all) onObject(described(one));
      });
    },
    async releaseWebhooks(options) {
      const { releaseWebhooks } = await import('@kopf-ts/webhooks');
      return await withClient(async ({ client }) => {
        const found = await releaseWebhooks({ ...options, client });
        return found.map(({ reason, name, webhooks }) => `${KINDS[reason]} ${name} (${webhooks.join(', ')})`);
      });
    },
    why: (options) => withClient(async (parts) => (await objects()).explainForCli(options, parts)),
    retry: (options) => withClient(async (parts) => (await objects()).retryForCli(options, parts)),
    pauseObject: (options) => withClient(async (parts) => (await objects()).pauseForCli(options, parts)),
    resumeObject: (options) => withClient(async (parts) => (await objects()).resumeForCli(options, parts)),
    async localCluster({ port, roles, workloads, data }) {
      const { localCluster } = await import('@kopf-ts/apiserver');
      const authorize = roles ? ({ authorize: 'rbac' } as const) : {};
      const controllers = workloads ? 'simulated' : true;
      const place = { ...(port === undefined ? {} : { port }), ...(data === undefined ? {} : { data }) };
      return await localCluster({ tls: true, controllers, ...authorize, ...place });
    },
    async clock() {
      return (await import('@kopf-ts/reactor')).systemClock;
    },
    resolve: ownCopyOf,
  };
}

const KINDS = { validating: 'ValidatingWebhookConfiguration', mutating: 'MutatingWebhookConfiguration' } as const;

const peering = () => import('@kopf-ts/peering');
const objects = () => import('./objects-command.js');

/** People are less patient than operators. */
const PATIENCE = [0.5, 1, 2];

interface Connection {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of the kubeconfig. */
  readonly namespace: string | undefined;
}

/** A client with the credentials of the person, for one command. */
async function withClient<T>(use: (connection: Connection) => Promise<T>): Promise<T> {
  const [{ kubeClient, login, reloadingCredentials }, { systemClock: clock }, { defaultLogger }, { settings }] =
    await Promise.all([
      import('@kopf-ts/client'),
      import('@kopf-ts/reactor'),
      import('../logging/default-logger.js'),
      import('@kopf-ts/core'),
    ]);
  const logger = defaultLogger();
  let namespace: string | undefined;
  const loginOnce = async (): Promise<ConnectionInfo> => {
    const info = await login({ clock });
    namespace = info.defaultNamespace;
    return info;
  };
  await using client = kubeClient({
    credentials: reloadingCredentials(loginOnce, { clock, logger }),
    settings: settings({ networking: { errorBackoffs: PATIENCE } }),
    clock,
    logger: calm(logger),
  });
  const connection: Connection = {
    client,
    clock,
    logger,
    // Known after the first request at the latest.
    get namespace() {
      return namespace;
    },
  };
  return await use(connection);
}

/** Attempts are not logged: the error of the last one is enough. */
function calm(logger: Logger): Logger {
  const debug: Logger['debug'] = (message, fields) => logger.debug(message, fields);
  return { debug, info: debug, warn: debug, error: debug, child: (fields) => calm(logger.child(fields)) };
}

async function settingsWith(finalizer: string | undefined, prefix: string | undefined) {
  const { defaultSettings } = await import('../defaults.js');
  const { annotationsDiffBaseStorage, smartProgressStorage } = await import('@kopf-ts/storage');
  return defaultSettings({
    persistence: {
      ...(finalizer === undefined ? {} : { finalizer }),
      ...(prefix === undefined
        ? {}
        : {
            progressStorage: smartProgressStorage({ prefix }),
            diffbaseStorage: annotationsDiffBaseStorage({ prefix }),
          }),
    },
  });
}

function described({ resource, namespace, name, finalizer, fields, isDeleting, error }: Released): ReleasedObject {
  const kind = [resource.plural, resource.group].filter(Boolean).join('.');
  const annotations = fields.filter(([, stanza]) => stanza === 'annotations').map((path) => path.at(-1));
  const others = fields.filter(([, stanza]) => stanza !== 'annotations').map((path) => path.join('.'));
  return {
    title: `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`,
    traces: [
      ...(finalizer === undefined ? [] : [`the finalizer ${finalizer}`]),
      ...(annotations.length === 0 ? [] : [`the annotations ${annotations.join(', ')}`]),
      ...(others.length === 0 ? [] : [`the fields ${others.join(', ')}`]),
    ],
    isDeleting,
    problem: error?.message,
  };
}
