/**
 * The words in which request sequences are written down.
 *
 * Texts may have `<names>` in them, which are replaced before sending: `<id>` is a token of one run of one sequence,
 * `<ns>` a namespace and `<group>` an API group of its own, `<ca>` and `<hook:NAME>` the authority and the address of
 * its webhooks, and whatever the former steps have saved. Unknown names stay as they are.
 */
import type { Hook } from './webhooks.js';

/** What a server has answered, as it came; bodies are parsed if they are JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface RequestStep {
  readonly do: 'request';
  readonly method: string;
  readonly path: string;
  /** Several values are several headers. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** A text is sent as it is, everything else as JSON; `undefined` sends no body. */
  readonly body?: unknown;
  /** Variables for the next steps, by their dotted paths in the body of the answer. */
  readonly save?: Readonly<Record<string, string>>;
  /** Repeats the request until the answer is good; only the last answer counts. */
  readonly until?: (answer: Answer) => boolean;
  /** Of preparations, only the status is compared. */
  readonly isPreparation?: boolean;
  /** Fields, wherever they are, that each server has of its own. */
  readonly except?: readonly string[];
}

export interface WatchStep {
  readonly do: 'watch';
  readonly path: string;
  /** The name by which the events are collected later. */
  readonly as: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface EventsStep {
  readonly do: 'events';
  readonly of: string;
  /** How many to wait for before the stream is closed by us; `undefined` waits until the server closes it. */
  readonly count?: number;
}

/** Former versions of all objects are forgotten. */
export interface CompactStep {
  readonly do: 'compact';
}

/** What a webhook was asked since it was last looked at. */
export interface ReviewsStep {
  readonly do: 'reviews';
  readonly of: string;
}

/** Waits until the server calls a webhook for a request: registrations are not noticed at once. */
export interface HookedStep {
  readonly do: 'hooked';
  readonly by: string;
  readonly probe: RequestStep;
}

export type Step = RequestStep | WatchStep | EventsStep | CompactStep | ReviewsStep | HookedStep;

export interface Sequence {
  readonly name: string;
  readonly steps: readonly Step[];
  /** How the webhooks of the sequence behave. */
  readonly hooks?: Readonly<Record<string, Hook>>;
  /** It would disturb the others, or they would disturb it. */
  readonly runsAlone?: boolean;
  /** The real server goes through mappings, such as the properties of a schema, in a random order. */
  readonly causesComeInAnyOrder?: boolean;
}

type Extras = Omit<Partial<RequestStep>, 'do' | 'method' | 'path' | 'body'>;

export function request(method: string, path: string, body?: unknown, extras: Extras = {}): RequestStep {
  const headers = { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...extras.headers };
  return { do: 'request', method, path, ...(body === undefined ? {} : { body }), ...extras, headers };
}

export const get = (path: string, extras?: Extras) => request('GET', path, undefined, extras);
export const post = (path: string, body: unknown, extras?: Extras) => request('POST', path, body, extras);
export const put = (path: string, body: unknown, extras?: Extras) => request('PUT', path, body, extras);
export const del = (path: string, body?: unknown, extras?: Extras) => request('DELETE', path, body, extras);

const patched =
  (type: string) =>
  (path: string, body: unknown, extras: Extras = {}) =>
    request('PATCH', path, body, { ...extras, headers: { 'content-type': type, ...extras.headers } });

export const jsonPatch = patched('application/json-patch+json');
export const mergePatch = patched('application/merge-patch+json');
export const strategicPatch = patched('application/strategic-merge-patch+json');
export const applyPatch = patched('application/apply-patch+yaml');

export const watch = (as: string, path: string, headers?: Readonly<Record<string, string>>): WatchStep => ({
  do: 'watch',
  as,
  path,
  ...(headers === undefined ? {} : { headers }),
});
export const events = (of: string, count?: number): EventsStep => ({
  do: 'events',
  of,
  ...(count === undefined ? {} : { count }),
});
export const compact: CompactStep = { do: 'compact' };
export const reviews = (of: string): ReviewsStep => ({ do: 'reviews', of });
export const hooked = (by: string, probe: RequestStep): HookedStep => ({ do: 'hooked', by, probe });

/** The request is sent, but of its answer only the status is compared. */
export const prepare = (step: RequestStep): RequestStep => ({ ...step, isPreparation: true });

export const untilStatus = (status: number) => (answer: Answer) => answer.status === status;

export function sequence(
  name: string,
  steps: readonly Step[],
  extras: Omit<Sequence, 'name' | 'steps'> = {},
): Sequence {
  return { name, steps, ...extras };
}
