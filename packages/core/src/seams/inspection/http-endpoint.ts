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
  /** The query string after the question mark, unparsed; may be empty. */
  readonly query: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The request body, if the page accepts such methods; the endpoint refuses bodies larger than 64 KiB. */
  readonly body?: string | undefined;
  /** Aborted when the client no longer waits for the response. */
  readonly signal: AbortSignal;
}

/**
 * The response of a page.
 *
 * ```ts
 * const hello: kopf.PageAnswer = { headers: { 'content-type': 'text/plain; charset=utf-8' }, body: 'Hello!\n' };
 * ```
 */
export interface PageAnswer {
  /** Default: 200. */
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A whole body, or pieces that are sent as they come, for as long as the client reads. */
  readonly body: string | AsyncIterable<string>;
}

/**
 * A page to be served at one path.
 *
 * ```ts
 * const page: kopf.HttpPage = { answer: ({ path }) => ({ body: `This is ${path}.` }) };
 * ```
 */
export interface HttpPage {
  /** The endpoint refuses other methods. Default: GET and HEAD. */
  readonly methods?: readonly string[] | undefined;
  /** For HEAD, it is called as for GET, but the body is not sent. */
  answer(request: PageRequest): Awaitable<PageAnswer>;
}

/**
 * The pages of one part of the operator, and their address.
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
  /** A short name for logs and errors: `liveness`, `metrics`. */
  readonly name: string;
  /** As the user specified it: `http://:8080/healthz`. */
  readonly url: string;
  /** The page at the path of that address. */
  readonly page: HttpPage;
  /** Other pages at the same host and port, by path: `/readyz`. The page above wins if the paths are equal. */
  readonly beside?: Readonly<Record<string, HttpPage>> | undefined;
}

/**
 * Where the operator serves pages about itself: probes, metrics.
 *
 * *Guarantees.* Sites at the same host and port share a listener as long as their paths differ; each starts and ends on
 * its own. Responses in progress when a site ends are still sent if they do not take long.
 *
 * *Errors.* An error thrown by a page is logged, and its client gets the status 500; all other pages stay available.
 *
 * *Cost.* Pages run inside the operator: a page that computes for long holds up everything else.
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
  /** Throws if the address can never be valid. */
  check(site: Pick<HttpSite, 'name' | 'url'>): void;
  /**
   * Serves the site until the signal aborts, and resolves when all is closed. Rejects if it cannot listen at the
   * address, or if a path of the site is already taken.
   */
  serve(
    at: HttpSite & {
      readonly signal: AbortSignal;
      /** Called with the actual address, which matters if port 0 was requested. */
      readonly onListening?: ((address: { readonly address: string; readonly port: number }) => void) | undefined;
    },
  ): Promise<void>;
}
