/** Errors as printed: with their stacks and causes. */
import { describeError } from '@kopf-ts/core/engine';

/** Chains of causes can be loops. */
const MAX_CAUSES = 16;

/**
 * The stack of the error, then the stacks of its causes. Other properties are left out: errors of HTTP clients often hold
 * the whole request there, with credentials.
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
  // The stack is captured with the error; a message changed later must be shown, too.
  return stack.includes(error.message) ? stack : `${text}\n${stack}`;
}
