/** What a command is: its place in the help, its parameters, and what it does. */
import { didYouMean } from '@kopf-ts/core/engine';
import type { Command } from 'commander';
import { CHILD_VARIABLE } from '../dev/messages.js';
import { ineffectiveOptions, loggingChoice } from '../options/common.js';
import { declare, type Parameter, unknownVariables, type Values, valuesOf } from '../options/parameters.js';
import type { CliRuntime, Terminal } from '../runtime.js';

export interface CommandContext {
  readonly runtime: CliRuntime;
  readonly terminal: Terminal;
}

export interface CommandDefinition {
  readonly name: string;
  /** As in usage lines: `[files...]`. */
  readonly arguments?: string | undefined;
  /** One line for the list of commands. */
  readonly summary: string;
  readonly description: string;
  /** Lines at the end of its help. */
  readonly examples: readonly string[];
  readonly parameters: readonly Parameter[];
  /** Does it, and gives the exit code. */
  action(values: Values, args: readonly string[], context: CommandContext): Promise<number>;
}

/** How it has ended, and how much is to be told if it has not ended well. */
export interface Invocation {
  /** The command; absent until it is known. */
  command?: string;
  code: number;
  isDebugging: boolean;
  isJson: boolean;
}

/** Adds the command to the program. */
export function addCommand(
  program: Command,
  definition: CommandDefinition,
  context: CommandContext,
  invocation: Invocation,
): void {
  const { name, parameters, examples } = definition;
  const command = program.command(name).summary(definition.summary).description(definition.description);
  if (definition.arguments !== undefined) command.argument(definition.arguments);
  declare(command, parameters);
  command.helpOption('-h, --help', 'Show this help.');
  command.showHelpAfterError(`Try 'kopf ${name} --help'.`);
  command.configureOutput({ outputError: (text, write) => write(withSuggestion(text, command)) });
  command.addHelpText('after', `\nExamples:\n${examples.map((line) => (line === '' ? '' : `  ${line}`)).join('\n')}`);
  command.action(async (...passed: unknown[]) => {
    invocation.command = name;
    const values = valuesOf(command, parameters, context.terminal.env);
    const warnings = [...unknownVariables(parameters, context.terminal.env), ...ineffectiveOptions(values)];
    const { debug } = values;
    invocation.isDebugging = debug === true;
    invocation.isJson = loggingChoice(values).format === 'json';
    const args = definition.arguments === undefined ? [] : ([passed[0]].flat() as string[]);
    invocation.code = await definition.action(values, args, warning(context, warnings));
  });
}

/**
 * The same, with warnings as soon as it is known how to log: in the format of the logs, as programs may read them. An
 * operator of `kopf dev` is given what was told there.
 */
function warning({ runtime, terminal }: CommandContext, warnings: readonly string[]): CommandContext {
  if (warnings.length === 0 || terminal.env[CHILD_VARIABLE] !== undefined) return { runtime, terminal };
  const configure: CliRuntime['configure'] = async (options) => {
    const logger = await runtime.configure(options);
    for (const text of warnings) logger.warn(text);
    return logger;
  };
  return { runtime: { ...runtime, configure }, terminal };
}

/** Commander has a suggestion for `--livenes`, but not for `--livenes=…`, which it takes for a long name. */
function withSuggestion(text: string, { options }: Command): string {
  const wanted = /unknown option '(--[\w-]+)=/.exec(text)?.[1];
  if (wanted === undefined || text.includes('Did you mean')) return text;
  const known = options.flatMap(({ long }) => (typeof long === 'string' ? [long] : []));
  const suggestion = didYouMean(wanted, known, '').trim();
  return suggestion === '' ? text : `${text.trimEnd()}\n(${suggestion})\n`;
}
