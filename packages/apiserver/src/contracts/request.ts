/** One request and its answer, the same over HTTP and in the process. */
import type { ExecCommand } from '../commands/exec-session.js';
import type { UserInfo } from './objects.js';

/** What is known of a request before its body is read. */
export interface RequestHead {
  readonly method: string;
  /** With the query, as it came. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The values one by one, where a header may come several times. */
  readonly headerLists?: () => Readonly<Record<string, readonly string[] | undefined>>;
  /** Fired when the client goes away. */
  readonly signal: AbortSignal;
}

/** The text as received; or, in the process only, data that are already parsed. */
export type RequestBody = string | object | undefined;

export interface ApiRequest extends RequestHead {
  readonly body: RequestBody;
  readonly user: UserInfo;
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
  /** Where it is sent, a line feed follows: texts that end with one would be copies of what is stored. */
  readonly isLine?: boolean;
  /** Instead of the text, where it is none. */
  readonly bytes?: Uint8Array;
  /** For watches: ends when the server ends it. Leaving the iteration stops the watch. */
  readonly stream?: AsyncIterable<StreamLine>;
  /** A command in a container, for those who can speak in messages; the rest of the answer is for the others. */
  readonly command?: ExecCommand;
}
