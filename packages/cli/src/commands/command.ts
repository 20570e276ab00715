/** What a command is: its place in the help, its parameters, and what it does. */
import type { Command } from 'commander';
import { loggingChoice } from '../options/common.js';
import { declare, type Parameter, type Values, valuesOf } from '../options/parameters.js';
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
  command.addHelpText('after', `\nExamples:\n${examples.map((line) => (line === '' ? '' : `  ${line}`)).join('\n')}`);
  command.action(async (...passed: unknown[]) => {
    invocation.command = name;
    const values = valuesOf(command, parameters, context.terminal.env);
    const { debug } = values;
    invocation.isDebugging = debug === true;
    invocation.isJson = loggingChoice(values).format === 'json';
    const args = definition.arguments === undefined ? [] : ([passed[0]].flat() as string[]);
    invocation.code = await definition.action(values, args, context);
  });
}
