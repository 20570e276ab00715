/** Bytes of a stream → lines → objects. Chunks end anywhere: inside of a line, or inside of a character. */
import { KopfError } from '@kopf-ts/core';
import { tooLarge } from '../errors.js';

const NEWLINE = 0x0a;
const SPACE = 0x20;
const NOTHING = Buffer.alloc(0);

/** One parsed line. Wrapped, since a line may also be `null` or `false`. */
export interface JsonLine {
  readonly value: unknown;
}

/**
 * Cuts by bytes and decodes whole lines: nothing is copied or decoded twice, however long a line is and however
 * finely it is chopped. Lines are parsed when they are taken, not when they come.
 */
export class JsonLines {
  /** The beginning of the line whose end has not come yet. */
  #pieces: Buffer[] = [];
  #pendingBytes = 0;
  #chunk: Buffer = NOTHING;
  #offset = 0;
  readonly #maxBytes: number;
  readonly #parse: (text: string) => unknown;
  readonly #keepsBlank: boolean;

  constructor(
    maxBytes = Number.POSITIVE_INFINITY,
    parse: (text: string) => unknown = JSON.parse,
    { keepsBlank = false }: { readonly keepsBlank?: boolean } = {},
  ) {
    this.#maxBytes = maxBytes;
    this.#parse = parse;
    this.#keepsBlank = keepsBlank;
  }

  /** To be called when {@link take} has nothing more to give. */
  feed(chunk: Buffer): void {
    this.#chunk = chunk;
    this.#offset = 0;
  }

  /** The next whole line that is not blank; `undefined` when more bytes are needed. */
  take(): JsonLine | undefined {
    for (;;) {
      const chunk = this.#chunk;
      const start = this.#offset;
      const end = chunk.indexOf(NEWLINE, start);
      if (end < 0) {
        if (start < chunk.length) this.#keep(start === 0 ? chunk : chunk.subarray(start));
        this.#chunk = NOTHING;
        this.#offset = 0;
        return undefined;
      }
      this.#offset = end + 1;
      this.#checkSize(end - start);
      const line =
        this.#pieces.length === 0 ? this.#parsed(chunk, start, end) : this.#joined(chunk.subarray(start, end));
      if (line !== undefined) return line;
    }
  }

  /** What remains when the stream has ended: the last line may have no newline. */
  end(): JsonLine | undefined {
    return this.#pieces.length === 0 ? undefined : this.#joined(NOTHING);
  }

  #keep(piece: Buffer): void {
    this.#checkSize(piece.length);
    this.#pieces.push(piece);
    this.#pendingBytes += piece.length;
  }

  /** A line without an end would fill the memory. */
  #checkSize(more: number): void {
    if (this.#pendingBytes + more <= this.#maxBytes) return;
    this.#pieces = [];
    throw tooLarge('A line of the stream', this.#maxBytes, 'watching.maxLineSize');
  }

  #joined(tail: Buffer): JsonLine | undefined {
    const whole = Buffer.concat([...this.#pieces, tail]);
    this.#pieces = [];
    this.#pendingBytes = 0;
    return this.#parsed(whole, 0, whole.length);
  }

  #parsed(bytes: Buffer, start: number, end: number): JsonLine | undefined {
    if (!this.#keepsBlank && isBlank(bytes, start, end)) return undefined;
    try {
      return { value: this.#parse(bytes.toString('utf8', start, end)) };
    } catch {
      // The engine's own error quotes the text, which may hold secrets.
      throw new KopfError(`A line of ${end - start} bytes in the stream is not JSON.`, { code: 'KOPF_BAD_JSON' });
    }
  }
}

/** The same for texts of any sort, where also a blank line is one. */
export function plainLines(maxBytes: number | undefined): JsonLines {
  return new JsonLines(maxBytes, (text) => text, { keepsBlank: true });
}

function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if ((bytes[at] as number) > SPACE) return false;
  }
  return true;
}
