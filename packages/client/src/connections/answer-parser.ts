/**
 * Parses HTTP/1.1 responses as they arrive from a connection in chunks. Requests go one at a time, and none is a HEAD
 * or an upgrade: so it is always clear which request a response belongs to, and whether it may have a body.
 *
 * It is strict: anything ambiguous is an error, as in Node.
 */

/** Callbacks for the parts of a response, in this order; `onEnd` is called only once. */
export interface AnswerListener {
  onHead(head: AnswerHead): void;
  onData(chunk: Buffer): void;
  /** The response is complete. If more data follows, the connection cannot be trusted any more. */
  onEnd(isFollowed: boolean): void;
}

export interface AnswerHead {
  readonly status: number;
  readonly phrase: string;
  /** By lower-case name. Repeated headers are joined, except for those where the first value counts. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the connection can be used for another request afterwards. */
  readonly isReusable: boolean;
}

/** The same limit as in Node. */
const MAX_HEAD_BYTES = 16 * 1024;
const MAX_CHUNK_LINE_BYTES = 1024;
/** The limit of interim responses such as 100 Continue, which we never request. */
const MAX_INTERIM_ANSWERS = 16;

const BEGINNING = Buffer.from('HTTP/1.');
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: (.*))?$/;
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** Control characters other than tabs are forbidden in header lines. */
const UNPRINTABLE = /[^\t\x20-\x7e\x80-\xff]/;
const ONLY_LINES = /^[\r\n]+$/;
/** With chunk extensions, which are ignored: `1f;name=value`. */
const CHUNK_SIZE = /^([0-9a-f]{1,12})(?:;[\w!#$%&'*+.^`|~-]+(?:=[\w!#$%&'*+.^`|~-]+)?)*$/i;
/** Headers that may occur only once. */
const SINGLE = new Set(['content-length', 'content-type', 'location', 'retry-after']);

/** Headers that determine the framing: not all servers treat tabs in them as blanks. */
const FRAMING = new Set(['content-length', 'transfer-encoding']);

/** The part of the response that is expected next. */
type Part = 'head' | 'body' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailers' | 'all-until-closed' | 'nothing';

export class AnswerParser {
  readonly #listener: AnswerListener;
  #part: Part = 'nothing';
  /** Buffered data that is too short to be parsed. */
  #rest: Buffer | undefined;
  /** Bytes left of the body or of its chunk. */
  #bytesLeft = 0;
  #interimAnswers = 0;
  #trailerBytes = 0;

  constructor(listener: AnswerListener) {
    this.#listener = listener;
  }

  /** Expects another response. */
  begin(): void {
    this.#part = 'head';
    this.#interimAnswers = 0;
    this.#trailerBytes = 0;
  }

  /** Throws on data that is not HTTP or not expected: then the connection is unusable. */
  feed(chunk: Buffer): void {
    let data = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = undefined;
    while (data.length > 0) {
      if (this.#part === 'nothing') throw new Error('The server sent data that was not requested.');
      const used = this.#take(data);
      if (used === 0) {
        this.#rest = data;
        return;
      }
      data = used === data.length ? NOTHING : data.subarray(used);
      if (this.#isOver) {
        // Some old servers send an empty line after their responses.
        if (data.length > 0 && !ONLY_LINES.test(data.toString('latin1'))) {
          throw new Error('The server sent more data after the end of its answer.');
        }
        this.#part = 'nothing';
        this.#listener.onEnd(data.length > 0);
        return;
      }
    }
  }

  /** Handles the end of the data. Throws if the response is incomplete. */
  end(): void {
    if (this.#part === 'nothing') return;
    if (this.#part !== 'all-until-closed') throw new Error('socket hang up');
    this.#part = 'nothing';
    this.#listener.onEnd(false);
  }

  /** Whether no response is expected. */
  get isIdle(): boolean {
    return this.#part === 'nothing';
  }

  get #isOver(): boolean {
    return this.#part === 'body' && this.#bytesLeft === 0;
  }

  /** Returns the number of consumed bytes; 0 if there are too few. */
  #take(data: Buffer): number {
    switch (this.#part) {
      case 'head':
        return this.#takeHead(data);
      case 'body':
      case 'chunk':
        return this.#takeBody(data);
      case 'chunk-size':
        return this.#takeLine(data, (line) => this.#onChunkSize(line));
      case 'chunk-end':
        return this.#takeLine(data, (line) => {
          if (line !== '') throw new Error('The server sent a chunk longer than its declared size.');
          this.#part = 'chunk-size';
        });
      case 'trailers':
        return this.#takeLine(data, (line) => {
          // Trailers are validated and ignored.
          this.#trailerBytes += line.length + END_OF_LINE;
          if (this.#trailerBytes > MAX_HEAD_BYTES) throw new Error('The server sent too many trailers.');
          if (line === '') this.#expectBody(0);
          else headersIn(['', line]);
        });
      default:
        this.#listener.onData(data);
        return data.length;
    }
  }

  #takeHead(data: Buffer): number {
    const end = data.indexOf('\r\n\r\n');
    if (end > MAX_HEAD_BYTES || (end < 0 && data.length > MAX_HEAD_BYTES)) {
      throw new Error(`The server sent more than ${MAX_HEAD_BYTES} bytes of headers.`);
    }
    if (end < 0) {
      // Fail early on anything but HTTP rather than wait for the end of the head.
      const begun = Math.min(data.length, BEGINNING.length);
      if (data.compare(BEGINNING, 0, begun, 0, begun) !== 0) throw new Error(NO_HTTP);
      return 0;
    }
    const lines = data.toString('latin1', 0, end).split('\r\n');
    const [, minor, code, phrase = ''] = STATUS_LINE.exec(lines[0] ?? '') ?? [];
    if (code === undefined || UNPRINTABLE.test(phrase)) throw new Error(NO_HTTP);
    const status = Number(code);
    if (status === 101) throw new Error('The server switched to another protocol.');
    const headers = headersIn(lines);
    const isKept = isKeptAlive(minor === '1', headers['connection']?.toLowerCase() ?? '');
    if (status < 200) {
      // An interim response such as 100 Continue: the final one is still to come.
      this.#interimAnswers += 1;
      if (minor !== '1' || !isKept || this.#interimAnswers > MAX_INTERIM_ANSWERS) throw new Error(NO_HTTP);
      return end + END_OF_HEAD;
    }
    this.#expectBodyOf(status, headers);
    const isEndKnown = this.#part !== 'all-until-closed';
    const isReusable = isEndKnown && isKept;
    this.#listener.onHead({ status, phrase, headers, isReusable });
    return end + END_OF_HEAD;
  }

  #expectBodyOf(status: number, headers: AnswerHead['headers']): void {
    const { 'content-length': length, 'transfer-encoding': encoding } = headers;
    if (length !== undefined && encoding !== undefined)
      throw new Error('The server sent both a content length and a transfer encoding.');
    if (length !== undefined && !/^\d{1,15}$/.test(length)) {
      throw new Error(`The content length "${length}" is not a number.`);
    }
    if (status === 204 || status === 304) {
      this.#expectBody(0);
    } else if (encoding !== undefined) {
      if (encoding.toLowerCase() !== 'chunked')
        throw new Error(`The transfer encoding "${encoding}" is not supported.`);
      this.#part = 'chunk-size';
    } else if (length === undefined) {
      this.#part = 'all-until-closed';
    } else {
      this.#expectBody(Number(length));
    }
  }

  #expectBody(bytes: number): void {
    this.#part = 'body';
    this.#bytesLeft = bytes;
  }

  #takeBody(data: Buffer): number {
    const used = Math.min(data.length, this.#bytesLeft);
    this.#bytesLeft -= used;
    if (this.#part === 'chunk' && this.#bytesLeft === 0) this.#part = 'chunk-end';
    this.#listener.onData(used === data.length ? data : data.subarray(0, used));
    return used;
  }

  #takeLine(data: Buffer, onLine: (line: string) => void): number {
    const end = data.indexOf('\r\n');
    if (end > MAX_CHUNK_LINE_BYTES || (end < 0 && data.length > MAX_CHUNK_LINE_BYTES)) {
      throw new Error('The server sent a chunk without a size.');
    }
    if (end < 0) return 0;
    onLine(data.toString('latin1', 0, end));
    return end + END_OF_LINE;
  }

  #onChunkSize(line: string): void {
    const [, size] = CHUNK_SIZE.exec(line) ?? [];
    if (size === undefined) throw new Error('The server sent a chunk without a size.');
    this.#bytesLeft = Number.parseInt(size, 16);
    this.#part = this.#bytesLeft === 0 ? 'trailers' : 'chunk';
  }
}

const NO_HTTP = 'The server does not speak HTTP/1.1.';
const NOTHING = Buffer.alloc(0);
const END_OF_LINE = 2;
const END_OF_HEAD = 4;

function headersIn(lines: readonly string[]): Record<string, string> {
  // Header names may equal names of built-in properties.
  const headers = Object.create(null) as Record<string, string>;
  for (let index = 1; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    if (!HEADER_NAME.test(name)) throw new Error('The server sent a header with an invalid name.');
    const value = withoutBlankEnds(line, colon + 1);
    const isBad = UNPRINTABLE.test(value) || (FRAMING.has(name) && line.includes('\t'));
    if (isBad) throw new Error(`The server sent an invalid value for the header "${name}".`);
    const before = headers[name];
    if (before === undefined) headers[name] = value;
    else if (!SINGLE.has(name)) headers[name] = `${before}, ${value}`;
    else if (name === 'content-length' && before !== value) throw new Error('The server sent two content lengths.');
  }
  return headers;
}

/**
 * Not trim(): it strips more than HTTP's blanks. Nor a regular expression: it would backtrack on long blanks within the
 * value.
 */
function withoutBlankEnds(line: string, from: number): string {
  let begin = from;
  let end = line.length;
  while (begin < end && isBlank(line.charCodeAt(begin))) begin++;
  while (begin < end && isBlank(line.charCodeAt(end - 1))) end--;
  return line.slice(begin, end);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

const SPACE = 0x20;
const TAB = 0x09;

function isKeptAlive(isNewProtocol: boolean, connection: string): boolean {
  return isNewProtocol ? !/\bclose\b/.test(connection) : /\bkeep-alive\b/.test(connection);
}
