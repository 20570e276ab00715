/** The command line as a whole: from arguments to an exit code. */
import { Command, CommanderError } from 'commander';
import { addCommand, type CommandContext, type Invocation } from './commands/command.js';
import { dev } from './commands/dev.js';
import { freeze } from './commands/freeze.js';
import { pause } from './commands/pause.js';
import { release } from './commands/release.js';
import { resume } from './commands/resume.js';
import { retry } from './commands/retry.js';
import { run } from './commands/run.js';
import { why } from './commands/why.js';
import { describeFailure, FAILURE, SUCCESS, USAGE, UsageError } from './failures.js';
import { type CliRuntime, processTerminal, type Terminal } from './runtime.js';

export interface Cli {
  /** Does what the arguments say (those after the name of the program), and gives the exit code. It never throws. */
  main(args: readonly string[]): Promise<number>;
}

/** The command line for that runtime. */
export function cli(runtime: CliRuntime, terminal: Terminal = processTerminal()): Cli {
  return {
    async main(args) {
      const invocation: Invocation = { code: SUCCESS, isDebugging: false, isJson: false };
      const program = programOf({ runtime, terminal }, invocation);
      try {
        await program.parseAsync(args, { from: 'user' });
        return invocation.code;
      } catch (error) {
        return await codeOf(error, invocation, { runtime, terminal });
      }
    },
  };
}

const EXAMPLES = `
Examples:
  kopf dev handlers.ts            try out the handlers without a cluster
  kopf run handlers.ts -A         serve the whole cluster of the current kubeconfig
  kopf run handlers.ts -n default --verbose
  kopf why kopfexamples/one       why was a handler called, or not?

More about a command: kopf run --help`;

function programOf(context: CommandContext, invocation: Invocation): Command {
  const { runtime, terminal } = context;
  const program = new Command('kopf')
    .description('Run Kubernetes operators in TypeScript, try them out, pause them, clean up after them.')
    .version(`kopf, version ${runtime.version}`, '--version', 'Show the version.')
    .helpOption('-h, --help', 'Show this help.')
    .helpCommand('help [command]', 'Show the help of a command.')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .configureOutput({ writeOut: (text) => terminal.out(text), writeErr: (text) => terminal.err(text) })
    .showHelpAfterError("Try 'kopf --help'.");
  for (const command of [run, dev, why, retry, pause, resume, freeze, release])
    addCommand(program, command, context, invocation);
  return program;
}

async function codeOf(error: unknown, invocation: Invocation, { runtime, terminal }: CommandContext): Promise<number> {
  // Of these, commander has told already: help and version are no errors.
  if (error instanceof CommanderError) return error.exitCode === 0 ? SUCCESS : USAGE;
  if (error instanceof UsageError) {
    terminal.err(`error: ${error.message}\nTry 'kopf ${invocation.command ?? ''} --help'.\n`);
    return USAGE;
  }
  const text = describeFailure(error, invocation.isDebugging);
  if (invocation.isJson) (await runtime.configure({ format: 'json', level: 'info' })).error(text);
  else terminal.err(`Error: ${text}\n`);
  return FAILURE;
}
