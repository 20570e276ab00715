/** Parameters of commands: from the command line, or else from the environment, in Kopf's ways. */
import { didYouMean } from '@kopf-ts/core/engine';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../failures.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** How values are read. `flag` is there or not, `switch` can also be denied: `--log-prefix`, `--no-log-prefix`. */
type ParameterKind = 'flag' | 'switch' | 'texts' | SingleKind;
/** `endpoint` is where to listen by HTTP: `http://[host][:port][/path]`. */
type SingleKind = 'text' | 'integer' | 'port' | 'endpoint' | readonly string[];

export interface Parameter {
  /** As commander understands it: `-n, --namespace <pattern>`. */
  readonly flags: string;
  readonly about: string;
  readonly kind: ParameterKind;
  /** The variable of the environment with the same meaning; an empty one counts as absent. */
  readonly env?: string | undefined;
  /** Under which heading it is in the help. */
  readonly group?: string | undefined;
  readonly isRequired?: boolean | undefined;
  /** Can a value be denied as switches are: `--no-console`, or `no` in the environment? It is `false` then. */
  readonly isDeniable?: boolean | undefined;
}

/** The values by the long names of their options in camelCase; what is not given is absent. */
export type Values = Readonly<Record<string, unknown>>;

/** Adds the options to the command. They are not required yet, as they may come from the environment. */
export function declare(command: Command, parameters: readonly Parameter[]): void {
  for (const parameter of parameters) {
    const option = new Option(parameter.flags, describe(parameter));
    const { kind } = parameter;
    if (kind !== 'flag' && kind !== 'switch') option.argParser<unknown>(commandLineParser(kind));
    if (parameter.group !== undefined) option.helpGroup(parameter.group);
    command.addOption(option);
    if (canBeDenied(parameter)) command.addOption(new Option(`--no-${nameOf(parameter)}`).hideHelp());
  }
}

/** All values of a command that has been parsed: those of the command line, then those of the environment. */
export function valuesOf(command: Command, parameters: readonly Parameter[], env: Environment): Values {
  const values: Record<string, unknown> = {};
  for (const parameter of parameters) {
    const key = keyOf(parameter);
    const isGiven = command.getOptionValueSource(key) === 'cli';
    const value = isGiven ? command.getOptionValue(key) : fromEnvironment(parameter, env);
    if (value !== undefined) values[key] = value;
    else if (parameter.isRequired) {
      const alternative = parameter.env === undefined ? '' : ` (or the variable ${parameter.env})`;
      throw new UsageError(`the option '${parameter.flags}' is required${alternative}`);
    }
  }
  return values;
}

/** Variables that begin like those of the command, but are none of them: one sentence for each. */
export function unknownVariables(parameters: readonly Parameter[], env: Environment): readonly string[] {
  const known = parameters.flatMap((parameter) => (parameter.env === undefined ? [] : [parameter.env]));
  const prefixes = new Set(known.map((name) => /^KOPF_[A-Z]+_/.exec(name)?.[0] ?? name));
  return Object.keys(env)
    .filter((name) => [...prefixes].some((prefix) => name.startsWith(prefix)))
    .filter((name) => !known.includes(name) && !LEGACY.has(name) && env[name] !== '')
    .map((name) => `The variable ${name} has no effect: there is no such variable.${didYouMean(name, known, '')}`);
}

/** Known elsewhere. */
const LEGACY: ReadonlySet<string> = new Set(['KOPF_RUN_NAMESPACE']);

/** The same values as arguments, for another process. */
export function toArguments(values: Values, parameters: readonly Parameter[]): readonly string[] {
  return parameters.flatMap((parameter) => {
    const flag = `--${nameOf(parameter)}`;
    const value = values[keyOf(parameter)];
    if (value === undefined) return [];
    if (value === true) return [flag];
    // A flag that is denied by the environment has no form on the command line; only switches and their like have one.
    if (value === false) return canBeDenied(parameter) ? [`--no-${nameOf(parameter)}`] : [];
    const all = Array.isArray(value) ? value : [value];
    return all.map((one) => `${flag}=${String(one)}`);
  });
}

function canBeDenied({ kind, isDeniable = false }: Parameter): boolean {
  return kind === 'switch' || isDeniable;
}

function describe({ about, env, kind, isRequired }: Parameter): string {
  const notes = [
    ...(isRequired ? ['required'] : []),
    ...(kind === 'texts' ? ['repeatable'] : []),
    ...(env === undefined ? [] : [`env: ${env}`]),
  ];
  return notes.length === 0 ? about : `${about} (${notes.join(', ')})`;
}

function fromEnvironment({ env: name, kind, isDeniable }: Parameter, env: Environment): unknown {
  const text = name === undefined ? undefined : env[name];
  if (text === undefined || text === '') return undefined;
  try {
    if (kind === 'flag' || kind === 'switch') return parseBoolean(text);
    if (isDeniable && NO.has(text.trim().toLowerCase())) return false;
    if (kind === 'texts') return text.split(/\s+/).filter((part) => part !== '');
    return parse(kind, text);
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw new UsageError(`bad value in ${name}: ${error.message}`);
    throw error;
  }
}

function commandLineParser(
  kind: Exclude<ParameterKind, 'flag' | 'switch'>,
): (text: string, previous: unknown) => unknown {
  if (kind === 'texts') return (text, previous) => [...((previous as readonly string[] | undefined) ?? []), text];
  return (text) => parse(kind, text);
}

const MAX_PORT = 65535;

function parse(kind: SingleKind, text: string): unknown {
  if (kind === 'text') return text;
  if (kind === 'integer') {
    if (!/^\s*[+-]?\d+\s*$/.test(text)) throw new InvalidArgumentError(`'${text}' is not a whole number.`);
    return Number(text);
  }
  if (kind === 'port') {
    if (!/^\s*\d+\s*$/.test(text) || Number(text) > MAX_PORT)
      throw new InvalidArgumentError(`'${text}' is not a port.`);
    return Number(text);
  }
  if (kind === 'endpoint') {
    const parts = /^http:\/\/[^/?#]*?(?::(?<port>\d+))?(?:\/[^?#]*)?$/i.exec(text);
    if (parts === null) throw new InvalidArgumentError(`'${text}' does not look like http://[host][:port][/path].`);
    if (Number(parts.groups?.['port'] ?? 0) > MAX_PORT)
      throw new InvalidArgumentError(`'${text}' has an invalid port.`);
    return text;
  }
  const choice = text.toLowerCase();
  if (!kind.includes(choice)) {
    throw new InvalidArgumentError(`'${text}' is not one of ${kind.join(', ')}.${didYouMean(choice, kind, "'")}`);
  }
  return choice;
}

const YES = new Set(['1', 'true', 't', 'yes', 'y', 'on']);
const NO = new Set(['0', 'false', 'f', 'no', 'n', 'off']);

function parseBoolean(text: string): boolean {
  const word = text.trim().toLowerCase();
  if (YES.has(word)) return true;
  if (NO.has(word)) return false;
  throw new InvalidArgumentError(`'${text}' is neither yes nor no.`);
}

/** The long name: `log-prefix`. */
function nameOf({ flags }: Parameter): string {
  return /--([\w-]+)/.exec(flags)?.[1] ?? flags;
}

/** As commander calls it: `logPrefix`. */
function keyOf(parameter: Parameter): string {
  return nameOf(parameter).replaceAll(/-(\w)/g, (_match, letter: string) => letter.toUpperCase());
}
