import type { Awaitable } from '../awaitable.js';

/**
 * A request for a page.
 *
 * ```ts
 * const isVerbose = ({ query }: kopf.PageRequest): boolean => new URLSearchParams(query).has('verbose');
 * ```
 */
export interface PageRequest {
  readonly method: string;
  readonly path: string;
  /** What comes after the question mark, as it is; empty if there is nothing. */
  readonly query: string;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** What was sent with it, if the page takes such methods; larger ones than 64 KiB are refused by the endpoint. */
  readonly body?: string | undefined;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/**
 * The answer of a page.
 *
 * ```ts
 * const hello: kopf.PageAnswer = { headers: { 'content-type': 'text/plain; charset=utf-8' }, body: 'Hello!\n' };
 * ```
 */
export interface PageAnswer {
  /** Default: 200. */
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** All at once; or piece by piece, each sent as soon as it is there, for as long as somebody reads. */
  readonly body: string | AsyncIterable<string>;
}

/**
 * Something to be served at one path.
 *
 * ```ts
 * const page: kopf.HttpPage = { answer: ({ path }) => ({ body: `This is ${path}.` }) };
 * ```
 */
export interface HttpPage {
  /** Others are refused by the endpoint. Default: GET and HEAD. */
  readonly methods?: readonly string[] | undefined;
  /** For HEAD, it is the same as for GET, but its body is not sent. */
  answer(request: PageRequest): Awaitable<PageAnswer>;
}

/**
 * Pages of one part of the operator, and where they are to be.
 *
 * ```ts
 * const site: kopf.HttpSite = {
 *   name: 'hello',
 *   url: 'http://127.0.0.1:8080/hello',
 *   page: { answer: () => ({ body: 'Hello!' }) },
 * };
 * ```
 */
export interface HttpSite {
  /** In one or two words, for logs and errors: `liveness`, `metrics`. */
  readonly name: string;
  /** As users write it: `http://:8080/healthz`. */
  readonly url: string;
  /** At the path of that address. */
  readonly page: HttpPage;
  /** Other pages at the same host and port, by their paths: `/readyz`. If one has the path of the page above, that one counts. */
  readonly beside?: Readonly<Record<string, HttpPage>> | undefined;
}

/**
 * Where the operator serves pages about itself: probes, metrics.
 *
 * ```ts
 * const hello: kopf.HttpPage = { answer: () => ({ body: 'Hello!' }) };
 * const service = (endpoint: kopf.HttpEndpoint): kopf.Service => ({
 *   name: 'hello',
 *   run: (signal) => endpoint.serve({ name: 'hello', url: 'http://:8080/hello', page: hello, signal }),
 * });
 * ```
 *
 * *Guarantees.* Sites at the same host and port share them, as long as their paths differ; each comes and goes on its own.
 * Answers that are being made when a site ends are still sent, if they do not take long.
 *
 * *Errors.* A page that throws is reported in the log, and its caller gets the status 500; the others are served on.
 *
 * *Cost.* Pages run in the midst of the operator: one that computes for long holds up everything else.
 */
export interface HttpEndpoint {
  /** Throws if there can never be such an address. */
  check(site: Pick<HttpSite, 'name' | 'url'>): void;
  /**
   * Serves the site until the signal aborts, and resolves when all is closed. Rejects if the address cannot be listened
   * at, or if a path of the site is taken by another one.
   */
  serve(
    at: HttpSite & {
      readonly signal: AbortSignal;
      /** Told where it really listens: of interest if the port is 0, and any free one is taken. */
      readonly onListening?: ((address: { readonly address: string; readonly port: number }) => void) | undefined;
    },
  ): Promise<void>;
}
