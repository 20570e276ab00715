/** `kopf run`: handlers from files and modules, in an operator that is the whole process. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, UsageError } from '../failures.js';
import { countHandlers, load } from '../loading/load.js';
import { findSources, titleOf } from '../loading/sources.js';
import { loggingChoice, loggingParameters, scopeChoice, scopeParameters } from '../options/common.js';
import type { Parameter, Values } from '../options/parameters.js';
import type { RunChoice } from '../runtime.js';
import type { CommandDefinition } from './command.js';

const PREFIX = 'KOPF_RUN';
const PEERS = 'Other operators:';
const CLUSTER = 'The cluster:';

/** How to get to the cluster: for those who have one. */
const CLUSTER_PARAMETERS: readonly Parameter[] = [
  {
    flags: '--kubeconfig <path>',
    about: 'Log in with this kubeconfig, instead of all other logins.',
    kind: 'text',
    env: `${PREFIX}_KUBECONFIG`,
    group: CLUSTER,
  },
  {
    flags: '--context <name>',
    about: 'Log in with this context of the kubeconfig, instead of its current one and of all other logins.',
    kind: 'text',
    env: `${PREFIX}_CONTEXT`,
    group: CLUSTER,
  },
];

/** Of `kopf run`, and of everything that runs operators. */
export const RUN_PARAMETERS: readonly Parameter[] = [
  {
    flags: '-m, --module <name>',
    about: 'Also load the handlers of this module, as if imported from the current folder.',
    kind: 'texts',
    env: `${PREFIX}_MODULES`,
  },
  {
    flags: '-L, --liveness <url>',
    about: 'Serve liveness probes at this URL, such as http://:8080/healthz.',
    kind: 'endpoint',
    env: `${PREFIX}_LIVENESS_ENDPOINT`,
  },
  {
    flags: '--metrics <url>',
    about:
      'Serve metrics for Prometheus at this URL, such as http://:8081/metrics; at the port of the probes, if it is the same.',
    kind: 'endpoint',
    env: `${PREFIX}_METRICS_ENDPOINT`,
  },
  {
    flags: '--console <url>',
    about:
      'Serve the console for browsers at this URL, such as http://127.0.0.1:8082. Other addresses need tokens. ' +
      'Default: none; in kopf dev, port 8082 or another free one, unless --no-console.',
    kind: 'endpoint',
    env: `${PREFIX}_CONSOLE_ENDPOINT`,
    isDeniable: true,
  },
  {
    flags: '--admin <url>',
    about: 'Answer kopf why, retry and so on at this URL, such as http://127.0.0.1:8083. Other addresses need tokens.',
    kind: 'endpoint',
    env: `${PREFIX}_ADMIN_ENDPOINT`,
  },
  {
    flags: '--admin-token-file <path>',
    about: 'The tokens for both: a file with one token per line; "read" after a token makes it read-only.',
    kind: 'text',
    env: `${PREFIX}_ADMIN_TOKEN_FILE`,
  },
  {
    flags: '--otel',
    about: 'Record traces with OpenTelemetry. Start its SDK separately, e.g. by NODE_OPTIONS=--import.',
    kind: 'flag',
    env: `${PREFIX}_OTEL`,
  },
  {
    flags: '--otel-objects',
    about: 'The same, and traces continue on created objects, by an annotation.',
    kind: 'flag',
    env: `${PREFIX}_OTEL_OBJECTS`,
  },
  ...scopeParameters(PREFIX),
  {
    flags: '-P, --peering <name>',
    about: 'Join this peering; wait if it does not exist.',
    kind: 'text',
    env: `${PREFIX}_PEERING`,
    group: PEERS,
  },
  {
    flags: '-p, --priority <number>',
    about: 'The operator with the highest priority in the peering works, the others pause. Default: 0.',
    kind: 'integer',
    env: `${PREFIX}_PRIORITY`,
    group: PEERS,
  },
  {
    flags: '--dev',
    about: 'Take over from the operators in the cluster: the same as --priority=666.',
    kind: 'flag',
    env: `${PREFIX}_DEV`,
    group: PEERS,
  },
  {
    flags: '--standalone',
    about: 'Ignore other operators.',
    kind: 'flag',
    env: `${PREFIX}_STANDALONE`,
    group: PEERS,
  },
  {
    flags: '--lease [name]',
    about:
      'Run several replicas, of which one works at a time: the holder of this Lease, which is created when needed. ' +
      'Default: the name in package.json.',
    kind: 'text',
    env: `${PREFIX}_LEASE`,
    group: PEERS,
  },
  {
    flags: '--optimize <for>',
    about:
      'What to save: memory (default; the process waits most of the time), or speed (with up to 40 MB more of memory, ' +
      'for operators that are busy all day).',
    kind: ['memory', 'speed'],
    env: `${PREFIX}_OPTIMIZE`,
  },
  ...loggingParameters(PREFIX),
];

export const run: CommandDefinition = {
  name: 'run',
  arguments: '[files...]',
  summary: 'Run an operator with the handlers from these files.',
  description:
    'Run an operator with the handlers from these files (TypeScript or JavaScript) until Ctrl-C; a second Ctrl-C ends ' +
    'it at once.\nIt connects with the service account of its pod or with the current kubeconfig.',
  examples: [
    'kopf run handlers.ts -A',
    'kopf run handlers.ts -n default -n "myapp-*" --verbose',
    'kopf run a.ts b.js -m my-operator/handlers -A --log-format=json --liveness=http://:8080/healthz',
    'kopf run handlers.ts -A --context=staging',
    'kopf run handlers.ts -A --lease=my-operator',
    'KOPF_RUN_NAMESPACES="ns1 ns2" kopf run handlers.ts',
  ],
  parameters: [...RUN_PARAMETERS, ...CLUSTER_PARAMETERS],

  async action(given, paths, { runtime, terminal }) {
    const values = withLegacyNamespace(given, terminal.env);
    const modules = modulesOf(values);
    const choice = runChoice(values, terminal.cwd);
    requireSources(paths, modules, run.name);
    const { parentProcess } = await import('../dev/child.js');
    const parent = parentProcess(terminal.env);
    const logger = await runtime.configure(loggingChoice(values));
    if (parent !== undefined) {
      await runtime.warmUp();
      await parent.loadHandlers(terminal.cwd);
    } else {
      const sources = await findSources(paths, modules, terminal.cwd);
      const loading = load(sources, {
        resolve: (specifier) => runtime.resolve(specifier),
        warn: (text) => logger.warn(text),
      });
      // Files are translated by another process: time enough for this one to load what comes next.
      await Promise.all([loading, runtime.warmUp()]);
    }
    if (countHandlers() === 0) throw noHandlers(titleOf({ files: paths, modules, cwd: terminal.cwd }));
    // The parent has a cluster of its own, whatever the variables say.
    if (parent !== undefined) {
      return await runtime.run({ ...choice, kubeconfig: parent.kubeconfig, signal: parent.stopping });
    }
    const { kubeconfig, context } = values as Readonly<Record<string, string | undefined>>;
    return await runtime.run({ ...choice, kubeconfig, context });
  },
};

/** There is nothing to run without any. */
export function requireSources(paths: readonly string[], modules: readonly string[], command: string): void {
  if (paths.length > 0 || modules.length > 0) return;
  throw new UsageError(`no handlers given: name the files to load, as in 'kopf ${command} handlers.ts'`);
}

export function modulesOf(values: Values): readonly string[] {
  return (values['module'] as readonly string[] | undefined) ?? [];
}

function noHandlers(sources: string): Failure {
  return new Failure(
    `There are no handlers in ${sources}. Declare them when the file is loaded: on.create('kopfexamples', …). ` +
      'Handlers in another registry need operator({ registry }) instead of this command.',
  );
}

const DEV_PRIORITY = 666;

/** What the values mean for the operator; refuses what cannot be meant together. */
export function runChoice(values: Values, cwd: string): RunChoice {
  const { standalone, peering, liveness, metrics, console, admin, adminTokenFile, optimize } = values as Readonly<
    Record<string, string | undefined>
  >;
  return {
    ...scopeChoice(values),
    standalone: standalone as boolean | undefined,
    priority: values['dev'] === true ? DEV_PRIORITY : (values['priority'] as number | undefined),
    peeringName: peering,
    lease: leaseChoice(values, cwd),
    liveness,
    metrics,
    // It may also be denied.
    ...(console ? { console } : {}),
    ...(admin === undefined ? {} : { admin }),
    ...(adminTokenFile === undefined ? {} : { adminTokenFile }),
    ...otelChoice(values),
    ...(optimize === undefined ? {} : { optimize: optimize as 'memory' | 'speed' }),
  };
}

function otelChoice(values: Values): Pick<RunChoice, 'otel'> {
  const onObjects = values['otelObjects'] === true;
  return onObjects || values['otel'] === true ? { otel: { onObjects } } : {};
}

/** A Lease is another way to agree with other operators: there cannot be two. */
const OTHER_WAYS = ['standalone', 'peering', 'priority', 'dev'] as const;

function leaseChoice(values: Values, cwd: string): string | undefined {
  const given = values['lease'] as string | true | undefined;
  // As the variable may say it: no lease has such a name.
  if (given === undefined || given === 'false') return undefined;
  const lease = given === 'true' ? true : given;
  const other = OTHER_WAYS.find((name) => values[name] !== undefined && values[name] !== false);
  if (other !== undefined) {
    throw new UsageError(`choose either --lease or --${other}: with a lease, one replica works and the others wait`);
  }
  if (lease === true) return nameOfPackage(cwd);
  if (/[/\\]|\.[cm]?[jt]sx?$/.test(lease)) {
    throw new UsageError(
      `'${lease}' after --lease is taken for the name of the lease; write --lease=NAME, or name the files first`,
    );
  }
  if (!LEASE_NAME.test(lease)) {
    throw new UsageError(`'${lease}' cannot be the name of a lease: use lower-case letters, digits, '-' and '.'`);
  }
  return lease;
}

const LEASE_NAME = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/;

/** Without the scope: `@acme/my-operator` is `my-operator`. */
function nameOfPackage(cwd: string): string {
  try {
    const { name } = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8')) as { name?: unknown };
    const short = typeof name === 'string' ? name.replace(/^@[^/]*\//, '') : '';
    if (LEASE_NAME.test(short)) return short;
  } catch {
    // There is none, or it is no JSON: then there is no name.
  }
  throw new UsageError('there is no package.json with a name here: give the lease a name, as in --lease=my-operator');
}

/** The variable of the times when there could be only one namespace: it comes in addition to all others. */
export function withLegacyNamespace(values: Values, env: Readonly<Record<string, string | undefined>>): Values {
  const namespace = env['KOPF_RUN_NAMESPACE'];
  if (namespace === undefined || namespace === '') return values;
  return { ...values, namespace: [...((values['namespace'] as readonly string[] | undefined) ?? []), namespace] };
}
