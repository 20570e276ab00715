/** What goes wrong before an operator runs: one line for the person, and the exit code for the shell. */

/** Exit codes, as in Kopf and in most of the tools of Unix. */
export const SUCCESS = 0;
export const FAILURE = 1;
export const USAGE = 2;

/** The command is understood, but cannot be done. The message is one line that says what to do. */
export class Failure extends Error {
  /** What follows the line: the piece of code that is wrong, a list. */
  readonly details: string | undefined;

  constructor(message: string, options: ErrorOptions & { readonly details?: string | undefined } = {}) {
    super(message, options);
    this.name = 'Failure';
    this.details = options.details;
  }
}

/** The command itself is wrong: an option, its value, or a combination of them. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** The error as it is shown: one line and maybe what belongs to it; with stacks only when debugging. */
export function describeFailure(error: unknown, isDebugging: boolean): string {
  const line = error instanceof Failure ? [error.message, error.details].filter(Boolean).join('\n') : lineOf(error);
  if (!isDebugging) return line;
  const cause = error instanceof Failure ? (error.cause ?? error) : error;
  return `${line}\n${stackOf(cause)}`;
}

const UNREACHABLE = 'Is the cluster up, and is it the right one? Check KUBECONFIG and `kubectl cluster-info`.';

/** An error in one line. Errors of our own say all in their messages; of others, the class tells more than nothing. */
export function lineOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as { code?: unknown }).code;
  const isOurs = typeof code === 'string' && code.startsWith('KOPF_');
  const [line = ''] = error.message.split('\n');
  if (code === 'KOPF_CONNECTION' || code === 'KOPF_TIMEOUT') return `${line}. ${UNREACHABLE}`;
  return isOurs ? line : `${error.name}: ${line}`;
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause, stack = String(error) } = error;
  return cause instanceof Error ? `${stack}\nCaused by: ${stackOf(cause)}` : stack;
}
