/** `kopf dev`: a cluster in memory and an operator in it, which starts anew when its files change. */
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { resolveField } from '@kopf-ts/core';
import type { Manifest } from '../dev/manifests.js';
import { Failure, SUCCESS } from '../failures.js';
import { findSources, homeOf, type Sources, shortPath } from '../loading/sources.js';
import { loggingChoice } from '../options/common.js';
import { type Parameter, toArguments, type Values } from '../options/parameters.js';
import type { CliRuntime, DevCluster, Terminal } from '../runtime.js';
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
    flags: '--port <number>',
    about: 'The port of the API server. Default: any free one.',
    kind: 'port',
    env: 'KOPF_DEV_PORT',
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
    'cluster. Objects exist, but no pods run.\n' +
    'Objects come from the files given with --apply, or else from files beside the handlers (or in the parent folder) ' +
    'with conventional names: crd.yaml, obj.yaml, objects.yaml, peering.yaml, *.crd.yaml, *.obj.yaml and the like.\n' +
    'All options of `kopf run` work here, too.',
  examples: [
    'kopf dev handlers.ts',
    'kopf dev handlers.ts --apply=crd.yaml --apply=objects/ --port=8443 --verbose',
    '',
    '# in another terminal, as printed:',
    'export KUBECONFIG=…',
    'kubectl get kopfexamples',
  ],
  parameters: PARAMETERS,

  async action(given, paths, { runtime, terminal }) {
    const values = inSomeScope(withLegacyNamespace(given, terminal.env));
    const modules = modulesOf(values);
    runChoice(values);
    requireSources(paths, modules, dev.name);
    const { cwd } = terminal;
    const logger = await runtime.configure(loggingChoice(values));
    const sources = await findSources(paths, modules, cwd);
    const { applyManifests, readManifests } = await import('../dev/manifests.js');
    const manifests = await manifestsFor(values, sources);
    const objects = await readManifests(manifests, cwd);

    const interruption = interruptible(terminal);
    const cluster = await startCluster(runtime, values['port'] as number | undefined);
    try {
      await applyManifests(cluster, objects, cwd);
      const kubeconfig = await cluster.kubeconfigFile();
      terminal.out(
        instructions(cluster, kubeconfig, { files: manifests.map((file) => shortPath(file, cwd)), objects }),
      );
      const { devSession } = await import('../dev/session.js');
      const session = devSession({
        sources,
        manifests,
        cluster,
        kubeconfig,
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
  return values['empty'] === true ? [] : await findManifests(homeOf(sources));
}

async function startCluster(runtime: CliRuntime, port: number | undefined): Promise<DevCluster> {
  try {
    return await runtime.localCluster({ port });
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    const advice = 'Choose another with --port, or omit it to use any free port.';
    if (code === 'EADDRINUSE') throw new Failure(`Port ${port} is in use. ${advice}`, { cause: error });
    if (code === 'EACCES') throw new Failure(`Port ${port} is not permitted. ${advice}`, { cause: error });
    throw error;
  }
}

function instructions(
  cluster: DevCluster,
  kubeconfig: string,
  applied: { readonly files: readonly string[]; readonly objects: readonly Manifest[] },
): string {
  const plurals = applied.objects.flatMap(({ object }) => {
    const plural = object.kind === 'CustomResourceDefinition' && resolveField(object, ['spec', 'names', 'plural']);
    return typeof plural === 'string' ? [plural] : [];
  });
  const what = plurals.length === 0 ? 'kubectl api-resources' : `kubectl get ${plurals.join(',')} --all-namespaces`;
  return [
    '',
    `The cluster is at ${cluster.url}, in memory; it disappears when this command ends (Ctrl-C).`,
    applied.files.length === 0 ? 'Nothing has been applied to it.' : `Applied to it: ${applied.files.join(', ')}.`,
    '',
    'To use it in another terminal:',
    '',
    `  export KUBECONFIG=${kubeconfig}`,
    `  ${what}`,
    '',
    '',
  ].join('\n');
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
