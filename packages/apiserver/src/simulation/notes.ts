/** What simulated controllers tell people: events, as data, to be written by somebody else. */
import type { ServedObject } from '../contracts/objects.js';
import type { Write } from './writes.js';

export interface Note {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** The part of the object that it is about: `spec.containers{main}`. */
  readonly fieldPath?: string;
  /** What was being done; only some tell that, and no other times than this one. */
  readonly action?: string;
}

/** What is told of a write: when it is done, with what came of it; and when it is refused. */
export interface Telling {
  readonly done?: (answer: ServedObject) => readonly Note[];
  readonly refused?: (problem: string) => readonly Note[];
}

export const normal = (reason: string, message: string): Note => ({ type: 'Normal', reason, message });
export const warning = (reason: string, message: string): Note => ({ type: 'Warning', reason, message });

export const told = (write: Write, tells: Telling): Write => ({ ...write, tells });

/** As all controllers say it that make pods with generated names. */
export const podCreated: Telling = {
  done: ({ metadata }) => [normal('SuccessfulCreate', `Created pod: ${metadata.name}`)],
  refused: (problem) => [warning('FailedCreate', `Error creating: ${problem}`)],
};

export const podDeleted = ({ metadata }: ServedObject): Telling => ({
  done: () => [normal('SuccessfulDelete', `Deleted pod: ${metadata.name}`)],
  refused: (problem) => [warning('FailedDelete', `Error deleting: ${problem}`)],
});
