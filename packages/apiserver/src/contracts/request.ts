/** One request and its answer, the same over HTTP and in the process. */
import type { UserInfo } from './objects.js';

export interface ApiRequest {
  readonly method: string;
  /** With the query, as it came. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The text as received; or, in the process only, data that are already parsed. */
  readonly body: string | object | undefined;
  readonly user: UserInfo;
  /** Fired when the client goes away. */
  readonly signal: AbortSignal;
}

/** One line of a watch stream. */
export interface StreamLine {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  /** The whole line, with its line feed. */
  readonly text: string;
}

export interface ApiAnswer {
  readonly status: number;
  /** Names in lower case; several values of one header (`warning`) as a list. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** JSON text mostly; empty for streams. */
  readonly body: string;
  /** For watches: ends when the server ends it. Leaving the iteration stops the watch. */
  readonly stream?: AsyncIterable<StreamLine>;
}
