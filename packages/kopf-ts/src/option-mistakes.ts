/** Mistakes in the options of an operator, which otherwise would go unnoticed: nothing would happen. */
import {
  isMapping,
  KopfError,
  type Logger,
  type Mapping,
  settings as makeSettings,
  PermanentError,
  type Registry,
  type Selection,
  type Settings,
} from '@kopf-ts/core';
import { didYouMean, labelSelectorOf } from '@kopf-ts/core/engine';
import type { OperatorOptions } from './options.js';
import { settingMistakes } from './setting-mistakes.js';

const KNOWN: Readonly<Record<keyof OperatorOptions, true>> = {
  registry: true,
  settings: true,
  memo: true,
  clusterwide: true,
  namespaces: true,
  liveness: true,
  metrics: true,
  admin: true,
  console: true,
  signal: true,
  lifecycle: true,
  identity: true,
  standalone: true,
  priority: true,
  peeringName: true,
  client: true,
  credentials: true,
  indexer: true,
  peering: true,
  scheduler: true,
  clock: true,
  logger: true,
  httpEndpoint: true,
  observers: true,
  tracing: true,
};

/** The types of options, for programs that no compiler checks. */
const TYPES: Partial<Readonly<Record<keyof OperatorOptions, 'boolean' | 'number' | 'string' | 'function'>>> = {
  clusterwide: 'boolean',
  standalone: 'boolean',
  priority: 'number',
  identity: 'string',
  peeringName: 'string',
  liveness: 'string',
  lifecycle: 'function',
};

/** Throws if the options are wrong. The compiler refuses them, too, but not every program is compiled. */
export function refuseMistakes(options: OperatorOptions): void {
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(KNOWN, name)) continue;
    const known = Object.keys(KNOWN);
    throw badOption(
      `There is no option "${name}" of operators. Known here: ${known.join(', ')}.${didYouMean(name, known)}`,
    );
  }
  for (const [name, type] of Object.entries(TYPES)) {
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (value === undefined || typeof value === type) continue;
    throw badOption(`The option "${name}" of operators must be a ${type}, not ${JSON.stringify(value)}.`);
  }
  const { namespaces, settings } = options;
  if (options.standalone === true && options.peeringName !== undefined) {
    throw badOption(
      `A standalone operator has no peers, but it is told to join the peering "${options.peeringName}": leave out either ` +
        'standalone or peeringName.',
    );
  }
  if (options.client !== undefined && options.credentials !== undefined) {
    throw badOption('A client has its credentials already: leave out either client or credentials.');
  }
  if (namespaces !== undefined && !Array.isArray(namespaces)) refuseBadLabels(namespaces);
  const missing = settings === undefined ? [] : Object.keys(makeSettings()).filter((group) => !(group in settings));
  if (missing.length > 0) {
    throw badOption(
      `The settings are incomplete: there is no ${missing.join(', ')}. Give only what differs from the defaults to ` +
        'settings(), and the operator what that returns: { settings: settings({ … }) }.',
    );
  }
  if (settings !== undefined) refuseBadSettings(settings);
}

/** An empty selector would select everything. */
function refuseBadLabels(namespaces: unknown): void {
  const { labels, ...rest }: Mapping = isMapping(namespaces) ? namespaces : {};
  if ((!isMapping(labels) && typeof labels !== 'string') || Object.keys(rest).length > 0) {
    throw badOption(
      'The namespaces must be an array, also if there is only one: { namespaces: ["default"] }; or be selected by their ' +
        'labels: { namespaces: { labels: { tenant: true } } }.',
    );
  }
  if (!labelSelectorOf(labels as Selection)) {
    throw badOption('There are no labels to select the namespaces by. To serve all of them: { clusterwide: true }.');
  }
}

/** Called again after the startup handlers, which may set anything. */
export function refuseBadSettings(settings: Settings): void {
  const [first] = settingMistakes(settings);
  if (first !== undefined) throw new PermanentError(first, { code: 'KOPF_BAD_SETTING' });
}

/** Warns if nothing is declared at all. */
export function warnOfIdleness({ handlers }: Pick<Registry, 'handlers'>, logger: Logger): void {
  const families = Object.values(handlers) as { readonly size: number }[];
  if (families.every(({ size }) => size === 0)) {
    logger.warn(
      'There are no handlers, so the operator has nothing to do. If you expect some, check that their files ' +
        'are imported, and that the operator is given the registry they are declared in.',
    );
  }
}

function badOption(message: string): KopfError {
  return new KopfError(message, { code: 'KOPF_BAD_OPTION' });
}
