/** Reading a journal from its beginning, and judging what is at its end. */
import { open } from 'node:fs/promises';
import { KopfError } from '@kopf-ts/core';
import type { KeptChange } from '../contracts/store.js';
import { type Line, LineProblem, parseLine } from './journal-lines.js';

export interface JournalReader {
  /** Comes first. */
  begin(version: number): void;
  /** First the objects as they were at that version, then the changes since, in order. */
  restore(change: KeptChange): void;
}

const CHUNK = 1024 * 1024;
const LINE_BREAK = 0x0a;

/** In bytes. */
export interface JournalSizes {
  /** Of everything that can be used. */
  readonly good: number;
  /** Of the objects of the beginning: if there were no changes, there would be nothing else. */
  readonly beginning: number;
}

/**
 * Reads all of it, and tells how many bytes are good. What is after them is a line that was not written to its end: its
 * change was not answered to anybody. Everything else that is wrong is damage.
 */
export async function readJournal(path: string, reader: JournalReader): Promise<JournalSizes> {
  const sequence = new Sequence(reader);
  const handle = await open(path, 'r');
  let [good, beginning] = [0, 0];
  try {
    let rest: Buffer = Buffer.alloc(0);
    for await (const chunk of handle.createReadStream({ highWaterMark: CHUNK, autoClose: false })) {
      const bytes = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
      let start = 0;
      for (let end = bytes.indexOf(LINE_BREAK); end >= 0; end = bytes.indexOf(LINE_BREAK, start)) {
        sequence.take(parseLine(bytes.subarray(start, end)));
        good += end + 1 - start;
        if (sequence.isAtBeginning) beginning = good;
        start = end + 1;
      }
      rest = bytes.subarray(start);
    }
    sequence.finish();
    return { good, beginning };
  } catch (error) {
    if (error instanceof LineProblem) throw damaged(path, sequence.lines + 1, good, error);
    throw error;
  } finally {
    await handle.close();
  }
}

/** Versions follow each other without a gap, so that a line that is missing is noticed, too. */
class Sequence {
  readonly #reader: JournalReader;
  #version = 0;
  /** So many objects of the beginning are still to come. */
  #missing = 0;
  #beginningLines = 0;
  lines = 0;

  constructor(reader: JournalReader) {
    this.#reader = reader;
  }

  get isAtBeginning(): boolean {
    return this.lines === this.#beginningLines;
  }

  take(line: Line): void {
    if ((this.lines === 0) !== (line.kind === 'beginning')) throw new LineProblem('it is not where it should be');
    if (line.kind === 'beginning') {
      this.#version = line.version;
      this.#missing = line.objects;
      this.#beginningLines = line.objects + 1;
      this.#reader.begin(line.version);
    } else {
      const isOfBeginning = this.#missing > 0;
      const isInOrder = isOfBeginning
        ? line.kind === 'put' && line.version <= this.#version
        : line.version === this.#version + 1;
      if (!isInOrder) throw new LineProblem(`it is of version ${line.version}, which is not the next one`);
      if (isOfBeginning) this.#missing--;
      else this.#version = line.version;
      this.#restore(line);
    }
    this.lines++;
  }

  #restore(change: KeptChange): void {
    try {
      this.#reader.restore(change);
    } catch (error) {
      throw new LineProblem((error as Error).message, { cause: error });
    }
  }

  finish(): void {
    if (this.lines === 0 || this.#missing > 0) throw new LineProblem('it is missing');
  }
}

function damaged(path: string, line: number, good: number, cause: LineProblem): KopfError {
  const advice =
    line === 1
      ? 'Bring the file back from a copy, or move it away to begin with an empty cluster.'
      : `Bring the file back from a copy, or move it away to begin with an empty cluster, or keep what comes before that line: head -c ${good} < damaged > mended.`;
  const message = `The data cannot be read: line ${line} of ${path} is damaged: ${cause.message}. ${advice}`;
  return new KopfError(message, { code: 'KOPF_DATA_DAMAGED', cause });
}
