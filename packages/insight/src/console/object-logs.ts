/** The last lines of the logs of objects: they go on to where they always go, and some of them are also kept. */
import type { Clock, LogFields, Logger, LogLevel, Seconds } from '@kopf-ts/core';
import { isEnabled, LevelLogger } from '@kopf-ts/core/engine';
import { textSize } from '../journal/sizes.js';
import { shortText } from '../journal/texts.js';

/**
 * One line of the log of an object.
 *
 * ```ts
 * const isProblem = ({ level }: kopf.insight.KeptLine): boolean => level === 'warn' || level === 'error';
 * ```
 */
export interface KeptLine {
  /** By the monotonic clock of the operator. */
  readonly at: Seconds;
  readonly level: LogLevel;
  readonly message: string;
}

/**
 * What is kept of the logs.
 *
 * ```ts
 * const logs = kopf.insight.objectLogs({ clock: kopf.reactor.systemClock });
 * logs.keep();
 * await kopf.run({ logger: logs.through(logger) });
 * ```
 */
export interface ObjectLogs {
  /** Lines are kept from now on, of objects that come from now on: for somebody who will want to see them. */
  keep(): void;
  /** The same logger, whose lines about objects are kept as well. */
  through(logger: Logger): Logger;
  /** The oldest goes first. */
  of(uid: string | undefined): readonly KeptLine[];
  /** How many lines have come: changes whenever there is a new one. */
  readonly count: number;
}

/** Of one object. */
const MOST_LINES = 50;
/** Of all objects together: those that were quiet for longest are forgotten first. */
const MAX_BYTES = 2_000_000;
const MAX_MESSAGE = 500;
const LINE = 128;

/**
 * Makes a place for the last lines of objects.
 *
 * ```ts
 * const logs = kopf.insight.objectLogs({ clock: kopf.reactor.systemClock });
 * const lastLine = (body: kopf.Body) => logs.of(body.metadata?.uid).at(-1)?.message;
 * ```
 */
export function objectLogs({ clock }: { readonly clock: Clock }): ObjectLogs {
  const all = new Map<string, KeptLine[]>();
  let bytes = 0;
  let count = 0;
  let isKept = false;

  const forget = (lines: readonly KeptLine[]): void => {
    for (const { message } of lines) bytes -= LINE + textSize(message);
  };
  const add = (uid: string, level: LogLevel, message: string): void => {
    const lines = all.get(uid) ?? [];
    // It is not quiet any more.
    all.delete(uid);
    all.set(uid, lines);
    const line = { at: clock.now(), level, message: shortText(String(message), MAX_MESSAGE) };
    lines.push(line);
    bytes += LINE + textSize(line.message);
    if (lines.length > MOST_LINES) forget(lines.splice(0, 1));
    count += 1;
    for (const [other, kept] of all) {
      if (bytes <= MAX_BYTES) return;
      if (other === uid) continue;
      all.delete(other);
      forget(kept);
    }
  };
  const note: Note = (object, level, message) => {
    const uid = uidIn(object);
    if (uid !== undefined) add(uid, level, message);
  };

  return {
    keep() {
      isKept = true;
    },
    through: (logger) => new ListeningLogger(logger, undefined, () => (isKept ? note : undefined)),
    of: (uid) => (uid === undefined ? [] : [...(all.get(uid) ?? [])]),
    get count() {
      return count;
    },
  };
}

/** Of Secrets, nothing is kept: whatever is said of them may contain a part of them. */
function uidIn(reference: unknown): string | undefined {
  const { uid, kind, apiVersion } = (reference ?? {}) as Readonly<Record<string, unknown>>;
  return typeof uid !== 'string' || (kind === 'Secret' && apiVersion === 'v1') ? undefined : uid;
}

type Note = (object: unknown, level: LogLevel, message: string) => void;

/** A class and not closures: there is one for each object and each handler being called. */
class ListeningLogger extends LevelLogger {
  readonly #logger: Logger;
  readonly #object: unknown;
  readonly #noting: () => Note | undefined;

  constructor(logger: Logger, object: unknown, noting: () => Note | undefined) {
    super();
    this.#logger = logger;
    this.#object = object;
    this.#noting = noting;
  }

  override log(level: LogLevel, message: string, fields: LogFields | undefined): void {
    this.#logger[level](message, fields);
    const note = this.#noting();
    if (note !== undefined && isEnabled(this.#logger, level)) note(fields?.['object'] ?? this.#object, level, message);
  }

  override isEnabled(level: LogLevel): boolean {
    return isEnabled(this.#logger, level);
  }

  override child(fields: LogFields): Logger {
    const child = this.#logger.child(fields);
    const object = fields['object'] ?? this.#object;
    // Of an object: there are thousands of them, and nobody has asked for their lines until now.
    if (object !== undefined && this.#noting() === undefined) return child;
    return new ListeningLogger(child, object, this.#noting);
  }
}
