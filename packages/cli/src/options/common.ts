/** Parameters that several commands have, and what they mean. */
import { UsageError } from '../failures.js';
import type { LoggingChoice } from '../runtime.js';
import type { Parameter, Values } from './parameters.js';

const LOGGING = 'Logging:';
const SCOPE = 'Where:';
const FORMATS = ['full', 'plain', 'json'] as const;

/** How to log; `prefix` is that of the variables: `KOPF_RUN`. */
export function loggingParameters(prefix: string): readonly Parameter[] {
  const group = LOGGING;
  return [
    { flags: '-v, --verbose', about: 'Log everything that happens.', kind: 'flag', env: `${prefix}_VERBOSE`, group },
    {
      flags: '-d, --debug',
      about: 'Log everything that happens, with the stack traces of errors.',
      kind: 'flag',
      env: `${prefix}_DEBUG`,
      group,
    },
    { flags: '-q, --quiet', about: 'Log only problems.', kind: 'flag', env: `${prefix}_QUIET`, group },
    {
      flags: '--log-format <format>',
      about: 'The format of log lines: full (default), plain (only the messages), json (one object per line).',
      kind: FORMATS,
      env: `${prefix}_LOG_FORMAT`,
      group,
    },
    {
      flags: '--log-refkey <key>',
      about: 'The key of the object reference in JSON logs. Default: object.',
      kind: 'text',
      env: `${prefix}_LOG_REFKEY`,
      group,
    },
    {
      flags: '--log-prefix',
      about: 'Prefix log lines with the names of objects, or do not: --no-log-prefix. Default: yes, except for JSON.',
      kind: 'switch',
      env: `${prefix}_LOG_PREFIX`,
      group,
    },
  ];
}

/** Which part of the cluster is meant. */
export function scopeParameters(prefix: string): readonly Parameter[] {
  return [
    {
      flags: '-A, --all-namespaces',
      about: 'The whole cluster.',
      kind: 'flag',
      env: `${prefix}_CLUSTERWIDE`,
      group: SCOPE,
    },
    {
      flags: '-n, --namespace <pattern>',
      about: "Only these namespaces: a name or a pattern such as 'myapp-*,!*-test'.",
      kind: 'texts',
      env: `${prefix}_NAMESPACES`,
      group: SCOPE,
    },
  ];
}

export function loggingChoice(values: Values): LoggingChoice {
  const { verbose, debug, quiet, logFormat, logPrefix, logRefkey } = values;
  return {
    format: (logFormat as LoggingChoice['format'] | undefined) ?? 'full',
    level: verbose || debug ? 'debug' : quiet ? 'warn' : 'info',
    prefix: logPrefix as boolean | undefined,
    refkey: logRefkey as string | undefined,
  };
}

/** What is meant by the scope; both at once cannot be meant. */
export function scopeChoice(values: Values): { clusterwide: boolean; namespaces: readonly string[] } {
  const namespaces = (values['namespace'] as readonly string[] | undefined) ?? [];
  const clusterwide = values['allNamespaces'] === true;
  if (clusterwide && namespaces.length > 0) {
    throw new UsageError(`choose either all namespaces (-A) or some of them (-n ${namespaces.join(' -n ')}), not both`);
  }
  return { clusterwide, namespaces };
}

/** What has no effect beside other options, as in Kopf: one sentence for each. */
export function ineffectiveOptions(values: Values): readonly string[] {
  const { verbose, debug, quiet, dev, priority, standalone, peering } = values;
  const louder = verbose ? '--verbose' : '--debug';
  return [
    ...(quiet && (verbose || debug) ? [`--quiet has no effect beside ${louder}: leave out either.`] : []),
    ...(dev && priority !== undefined
      ? [`--priority=${String(priority)} has no effect beside --dev, which is a priority itself: leave out either.`]
      : []),
    ...(standalone && peering !== undefined
      ? [`--peering=${String(peering)} has no effect beside --standalone, which ignores all peers: leave out either.`]
      : []),
  ];
}
