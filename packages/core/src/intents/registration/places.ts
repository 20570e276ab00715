/** Where handlers are declared, for messages about them: `handlers.ts:12`. */
import { type AnyHandler, titleOf } from '../handlers.js';

/** A stack that is rendered on demand: with source maps, that is slow. */
export interface Trace {
  readonly stack?: string;
}

// A global symbol, because one copy of this package may declare handlers that another copy runs.
const PLACE: unique symbol = Symbol.for('kopf-ts.place') as never;

// biome-ignore lint/suspicious/noExplicitAny: any function has a place in the stack
type AnyFunction = (...args: any[]) => unknown;

/** Remembers the caller of this function of ours. */
export function traceOfCaller(callee: AnyFunction): Trace {
  const trace: Trace = {};
  Error.captureStackTrace?.(trace, wrapper ?? callee);
  return trace;
}

/** Between the users and the registrars. */
let wrapper: AnyFunction | undefined;

/** Attributes declarations in this function to its caller. Stack frames do not show that because source maps rename them. */
export function declaringFor<T>(callee: AnyFunction, declare: () => T): T {
  wrapper = callee;
  try {
    return declare();
  } finally {
    wrapper = undefined;
  }
}

/** Remembers where the handler is declared, hidden from the options of the handler. */
export function placed<H extends AnyHandler>(handler: H, trace: Trace): H {
  return Object.defineProperty(handler, PLACE, { value: trace });
}

/** Where the handler is declared, if known: the file with its folder, and the line. */
export function placeOf(handler: object): string | undefined {
  const trace = (handler as { [PLACE]?: Trace })[PLACE];
  return trace === undefined ? undefined : placeIn(trace);
}

/** The place of the call, if the stack has it. */
export function placeIn({ stack }: Trace): string | undefined {
  if (typeof stack !== 'string') return undefined;
  for (const line of stack.split('\n').slice(1)) {
    const [, address = '', number] = FRAME.exec(line) ?? [];
    if (number === undefined || address.startsWith('node:')) continue;
    return `${shortened(address)}:${number}`;
  }
  return undefined;
}

/** The handler in messages: `Handler 'create_fn' (handlers.ts:12)`. */
export function placedTitleOf(handler: Pick<AnyHandler, 'kind' | 'id'>): string {
  const place = placeOf(handler);
  return place === undefined ? titleOf(handler) : `${titleOf(handler)} (${place})`;
}

const FRAME = /^\s+at (?:.*? \()?(.+?):(\d+):\d+\)?$/;

/** The file and its folder: enough to find it, and short enough for a line of a log. */
function shortened(address: string): string {
  const path = address.replace(/^file:\/\//, '').replace(/\?.*$/, '');
  return decoded(path).split(/[\\/]/).slice(-2).join('/');
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
