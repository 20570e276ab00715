/** Where handlers are declared, for messages about them: `handlers.ts:12`. */
import { type AnyHandler, titleOf } from '../handlers.js';

/** A stack that becomes a text when somebody asks: with source maps, that takes its time. */
export interface Trace {
  readonly stack?: string;
}

// By a symbol of the process, since handlers are declared by one copy of this package and run by another one.
const PLACE: unique symbol = Symbol.for('kopf-ts.place') as never;

// biome-ignore lint/suspicious/noExplicitAny: any function has a place in the stack
type AnyFunction = (...args: any[]) => unknown;

/** Remembers who has called this function of ours. */
export function traceOfCaller(callee: AnyFunction): Trace {
  const trace: Trace = {};
  Error.captureStackTrace?.(trace, wrapper ?? callee);
  return trace;
}

/** Between the users and the registrars. */
let wrapper: AnyFunction | undefined;

/** What this function declares, its caller declares: the frames of a stack do not tell, as source maps rename them. */
export function declaringFor<T>(callee: AnyFunction, declare: () => T): T {
  wrapper = callee;
  try {
    return declare();
  } finally {
    wrapper = undefined;
  }
}

/** Remembers where the handler is declared. It is not seen among the options of the handler. */
export function placed<H extends AnyHandler>(handler: H, trace: Trace): H {
  return Object.defineProperty(handler, PLACE, { value: trace });
}

/** Where the handler is declared, if that is known: the file with its folder, and the line. */
export function placeOf(handler: object): string | undefined {
  const trace = (handler as { [PLACE]?: Trace })[PLACE];
  return trace === undefined ? undefined : placeIn(trace);
}

/** The place of the call, if the stack tells it. */
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
