/** `kopf dev`: a cluster in memory and an operator in it, which starts anew when its files change. */
import { constants } from 'node:os';
import { resolve } from 'node:path';
import type { Logger } from '@kopf-ts/core';
import { hintsOf } from '../dev/hints.js';
import { consolePlace, kubeconfigPath, placeKubeconfig, portOf } from '../dev/places.js';
import { Failure, SUCCESS, UsageError } from '../failures.js';
import { findSources, homeOf, type Sources, shortPath } from '../loading/sources.js';
import { loggingChoice } from '../options/common.js';
import { type Parameter, toArguments, type Values } from '../options/parameters.js';
import type { CliRuntime, ClusterChoice, DevCluster, Terminal } from '../runtime.js';
import type { CommandDefinition } from './command.js';
import { modulesOf, RUN_PARAMETERS, requireSources, runChoice, withLegacyNamespace } from './run.js';

const CLUSTER = 'The cluster:';

const PARAMETERS: readonly Parameter[] = [
  {
    flags: '-a, --apply <path>',
    about: 'Apply the objects from this YAML file or folder, instead of those beside the handlers.',
    kind: 'texts',
    env: 'KOPF_DEV_APPLY',
    group: CLUSTER,
  },
  { flags: '--empty', about: 'Apply nothing.', kind: 'flag', env: 'KOPF_DEV_EMPTY', group: CLUSTER },
  {
    flags: '--data <folder>',
    about: 'Keep the objects in this folder for the next time. Default: they are discarded at the end.',
    kind: 'text',
    env: 'KOPF_DEV_DATA',
    group: CLUSTER,
  },
  {
    flags: '--port <number>',
    about: 'The port of the API server. Default: the same one each time in the same folder, if it is free.',
    kind: 'port',
    env: 'KOPF_DEV_PORT',
    group: CLUSTER,
  },
  {
    flags: '--as <user>',
    about: 'Run the operator as this user, or as this service account: NAMESPACE/NAME. Roles are enforced then.',
    kind: 'text',
    env: 'KOPF_DEV_AS',
    group: CLUSTER,
  },
  {
    flags: '--workloads',
    about: 'Simulate nodes, pods, deployments, jobs and the like. Default: yes; --no-workloads leaves them as objects.',
    kind: 'switch',
    env: 'KOPF_DEV_WORKLOADS',
    group: CLUSTER,
  },
  ...RUN_PARAMETERS,
];

export const dev: CommandDefinition = {
  name: 'dev',
  arguments: '[files...]',
  summary: 'Try out handlers with a cluster in memory and an operator that restarts as you edit.',
  description:
    'Start a Kubernetes API server in memory and an operator with the handlers from these files. When the files ' +
    'change, the operator restarts, and the cluster keeps its objects.\nThis needs nothing else and touches no real ' +
    'cluster. Workloads are simulated: pods become ready, deployments roll out, jobs complete; but no containers ' +
    'run.\n' +
    'Objects come from the files given with --apply, or else from files beside the handlers (or in the parent folder) ' +
    'with conventional names: crd.yaml, obj.yaml, objects.yaml, peering.yaml, *.crd.yaml, *.obj.yaml and the like.\n' +
    'The port and the kubeconfig are the same each time in the same folder. With --data, so are the objects, tokens and ' +
    'certificates, even after a crash.\n' +
    'With --as, the operator has only the permissions of that user, and rbac.yaml or *.rbac.yaml are applied as well.\n' +
    'A console for the browser is there as well; --no-console leaves it out.\n' +
    'All options of `kopf run` work here, too.',
  examples: [
    'kopf dev handlers.ts',
    'kopf dev handlers.ts --data=.kopf-data',
    'kopf dev handlers.ts --as=default/my-operator',
    'kopf dev handlers.ts --apply=crd.yaml --apply=objects/ --port=8443 --verbose',
    '',
    '# in another terminal, as printed:',
    'export KUBECONFIG=…',
    'kubectl get kopfexamples',
  ],
  parameters: PARAMETERS,

  async action(given, paths, { runtime, terminal }) {
    const wanted = inSomeScope(withLegacyNamespace(given, terminal.env));
    const console = wanted['console'] === undefined ? await consolePlace(terminal.cwd) : undefined;
    const values = console === undefined ? wanted : { ...wanted, console: console.url };
    const modules = modulesOf(values);
    runChoice(values, terminal.cwd);
    if (values['empty'] === true && values['apply'] !== undefined) {
      throw new UsageError('choose either --apply or --empty, not both');
    }
    requireSources(paths, modules, dev.name);
    const { cwd } = terminal;
    const logger = await runtime.configure(loggingChoice(values));
    const sources = await findSources(paths, modules, cwd);
    const { applyManifests, readManifests } = await import('../dev/manifests.js');
    const manifests = await manifestsFor(values, sources);
    const objects = await readManifests(manifests, cwd);

    const interruption = interruptible(terminal);
    const username = usernameOf(values['as'] as string | undefined);
    const data = values['data'] === undefined ? undefined : resolve(cwd, values['data'] as string);
    const usualPort = portOf(cwd);
    const choice = { roles: username !== undefined, workloads: values['workloads'] !== false, data };
    const cluster = await startCluster(runtime, choice, values['port'] as number | undefined, usualPort);
    const endings: (() => unknown)[] = [() => console?.release()];
    try {
      await applyManifests(cluster, objects, cwd);
      const { port } = new URL(cluster.url);
      const kubeconfig = await placed(cluster, kubeconfigPath(cwd, port, terminal.env), endings);
      const hints = hintsOf(
        {
          url: cluster.url,
          kubeconfig,
          console: runChoice(values, cwd).console,
          username,
          data: data === undefined ? undefined : shortPath(data, cwd),
          takenPort: values['port'] === undefined && Number(port) !== usualPort ? usualPort : undefined,
          files: manifests.map((file) => shortPath(file, cwd)),
          objects,
        },
        terminal,
      );
      terminal.out(hints);
      const stopListening = terminal.onEnter(() => terminal.out(hints));
      if (stopListening !== undefined) {
        endings.push(stopListening);
        terminal.out(`${terminal.style('dim', 'Enter shows this again; Ctrl-C ends it.')}\n\n`);
      }
      if (username !== undefined) warnOfMissingAccount(cluster, username, logger);
      const { devSession } = await import('../dev/session.js');
      const session = devSession({
        sources,
        manifests,
        cluster,
        kubeconfig: username === undefined ? kubeconfig : await cluster.kubeconfigFile({ username }),
        command: [...runtime.command, 'run', ...toArguments(values, RUN_PARAMETERS), ...paths],
        resolve: (specifier) => runtime.resolve(specifier),
        clock: await runtime.clock(),
        logger,
        terminal,
        isDebugging: values['debug'] === true,
        signal: interruption.signal,
      });
      interruption.onSecond(() => session.kill());
      await session.run();
      return SUCCESS;
    } finally {
      for (const end of endings) await end();
      await cluster.stop();
      interruption.dispose();
    }
  },
};

/** It is all for this operator; so it may have the whole of it without asking. */
function inSomeScope(values: Values): Values {
  const isScoped = values['namespace'] !== undefined || values['allNamespaces'] !== undefined;
  return isScoped ? values : { ...values, allNamespaces: true };
}

async function manifestsFor(values: Values, sources: Sources): Promise<readonly string[]> {
  const given = values['apply'] as readonly string[] | undefined;
  const { expandManifests, findManifests } = await import('../dev/manifests.js');
  if (given !== undefined) {
    const paths = given.map((path) => resolve(sources.cwd, path));
    return await expandManifests(paths, sources.cwd);
  }
  return values['empty'] === true ? [] : await findManifests(homeOf(sources), values['as'] !== undefined);
}

const ACCOUNT = 'system:serviceaccount:';

/** `default/robot` is a service account; everything else is a user as it is. */
function usernameOf(text: string | undefined): string | undefined {
  const [namespace = '', name = '', ...more] = text?.split('/') ?? [];
  const isAccount = namespace !== '' && name !== '' && more.length === 0 && !namespace.includes(':');
  return isAccount ? `${ACCOUNT}${namespace}:${name}` : text;
}

/** It would work, too; but probably a name is wrong. */
function warnOfMissingAccount(cluster: DevCluster, username: string, logger: Logger): void {
  if (!username.startsWith(ACCOUNT)) return;
  const place = username.slice(ACCOUNT.length).replace(':', '/');
  if (cluster.get(`serviceaccounts/${place}`) !== undefined) return;
  logger.warn(`There is no service account ${place} in the cluster. Is it in the files that are applied?`);
}

/** At the port that is asked for; or else at the usual one, or at any other one if that is in use. */
async function startCluster(
  runtime: CliRuntime,
  choice: Omit<ClusterChoice, 'port'>,
  port: number | undefined,
  usualPort: number,
): Promise<DevCluster> {
  try {
    return await runtime.localCluster({ ...choice, port: port ?? usualPort });
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    if (port === undefined) return await runtime.localCluster(choice);
    const problem = code === 'EACCES' ? 'not permitted' : 'in use';
    const advice = 'Choose another with --port, or omit it to use a free port.';
    throw new Failure(`Port ${port} is ${problem}. ${advice}`, { cause: error });
  }
}

/** Where it is each time; or somewhere else, if nothing can be written there. */
async function placed(cluster: DevCluster, path: string, endings: (() => unknown)[]): Promise<string> {
  try {
    endings.push(await placeKubeconfig(path, cluster.kubeconfig()));
    return path;
  } catch {
    return await cluster.kubeconfigFile();
  }
}

interface Interruption {
  readonly signal: AbortSignal;
  onSecond(listener: () => void): void;
  dispose(): void;
}

/** The first Ctrl-C stops all, the second one ends all at once. */
function interruptible(terminal: Terminal): Interruption {
  const stopping = new AbortController();
  let kill = (): void => {};
  const dispose = terminal.onSignal((name) => {
    if (stopping.signal.aborted) {
      kill();
      terminal.exit(128 + constants.signals[name]);
    }
    stopping.abort(name);
  });
  return {
    signal: stopping.signal,
    onSecond(listener) {
      kill = listener;
    },
    dispose,
  };
}
