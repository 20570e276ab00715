/** Errors as they are printed: what has happened and where, and because of what. */
import { describeError } from '@kopf-ts/core/engine';

/** Chains of causes may be endless, if somebody makes a loop of them. */
const MAX_CAUSES = 16;

/**
 * The stack of the error, then the stacks of its causes. Only texts and stacks: errors of HTTP clients tend to have
 * the whole request in their other properties, with the credentials.
 */
export function printedError(error: unknown): string {
  const seen = new Set<unknown>();
  const lines: string[] = [];
  const print = (current: unknown, title: string): void => {
    if (seen.size >= MAX_CAUSES || seen.has(current)) return;
    seen.add(current);
    lines.push(title + stackOf(current));
    if (!(current instanceof Error)) return;
    if (current instanceof AggregateError) for (const inner of current.errors) print(inner, 'One of the errors: ');
    if (current.cause !== undefined) print(current.cause, 'Caused by: ');
  };
  print(error, '');
  return lines.join('\n');
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return describeError(error);
  const { stack } = error;
  const text = `${error.name}: ${error.message}`;
  if (typeof stack !== 'string' || stack === '') return text;
  // The text of the stack is made with the error; a message that was changed later must be seen, too.
  return stack.includes(error.message) ? stack : `${text}\n${stack}`;
}
