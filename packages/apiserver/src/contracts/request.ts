/** One request and its answer, the same for the HTTP door and the in-process one. */
import type { UserInfo } from './objects.js';

export interface ApiRequest {
  readonly method: string;
  /** With the query, as it came. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Text as it came; or data that are already parsed, from the in-process door only. */
  readonly body: string | object | undefined;
  readonly user: UserInfo;
  readonly door: 'http' | 'in-process';
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
