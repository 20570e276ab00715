/**
 * Loggers that know their object: every line carries the reference to it, and may become an event about it.
 * Prefixing the texts with the object's name is left to the printing logger: the reference is enough for that.
 */
import type { LogFields, Logger, LogLevel } from '../../seams/logger.js';
import type { EventPoster, KubeEventType } from '../../seams/poster.js';
import type { Settings } from '../../settings.js';
import type { Diff } from '../../values/diff.js';
import { deepCopy } from '../../values/json.js';
import type { Body } from '../../values/objects/body.js';
import { printableValue, redacted, redactedSecret } from '../../values/redaction.js';
import { isPosted } from '../handler-api/posting.js';
import { LevelLogger } from './level-logger.js';

export interface ObjectLoggerOptions {
  /** Where the lines go. */
  readonly logger: Logger;
  readonly body: Body;
  /** Who posts the lines as events, if the settings say so. Without it, they are only logged. */
  readonly posting?: { readonly settings: Settings; readonly poster: EventPoster } | undefined;
}

/** As it is in every line; `null` for what the object does not have, so that the lines of all objects look the same. */
interface LoggedReference {
  readonly apiVersion: string | null;
  readonly kind: string | null;
  readonly name: string | null;
  readonly uid: string | null;
  readonly namespace: string | null;
}

const EVENT_TYPES: Readonly<Record<LogLevel, KubeEventType>> = {
  debug: 'Debug',
  info: 'Normal',
  warn: 'Warning',
  error: 'Error',
};

/**
 * A logger for the handlers of one object. The object is remembered as it is now: later changes of its name, if
 * such a thing could be, do not matter. Settings are looked at for every line.
 */
export function objectLogger({ logger, body, posting }: ObjectLoggerOptions): Logger {
  return new ObjectLogger(logger, referenceTo(body), posting);
}

/** Whether it makes sense to make up a line of this level. */
export function isEnabled(logger: Logger, level: LogLevel): boolean {
  return logger.isEnabled?.(level) ?? true;
}

/** One level quieter: for what happens so often that it is of interest only when something is being debugged. */
export function terseLogger(logger: Logger): Logger {
  return new TerseLogger(logger);
}

class ObjectLogger extends LevelLogger {
  readonly #parent: Logger;
  readonly #reference: LoggedReference;
  readonly #posting: ObjectLoggerOptions['posting'];
  /** Made with the first line: for some loggers, making children is the dearest of all that they do. */
  #child: Logger | undefined;

  constructor(parent: Logger, reference: LoggedReference, posting: ObjectLoggerOptions['posting'], child?: Logger) {
    super();
    this.#parent = parent;
    this.#reference = reference;
    this.#posting = posting;
    this.#child = child;
  }

  override log(level: LogLevel, message: string, fields: LogFields | undefined): void {
    this.#logged()[level](message, fields);
    if (this.#isPosted(level)) {
      const about = aboutOf(this.#reference);
      this.#posting?.poster.post({ about, type: EVENT_TYPES[level], reason: 'Logging', message });
    }
  }

  /** It is as loud as what its lines go to. */
  override isEnabled(level: LogLevel): boolean {
    return isEnabled(this.#child ?? this.#parent, level) || this.#isPosted(level);
  }

  override child(fields: LogFields): Logger {
    const child = this.#logged().child(fields);
    return this.#posting === undefined ? child : new ObjectLogger(this.#parent, this.#reference, this.#posting, child);
  }

  #logged(): Logger {
    this.#child ??= this.#parent.child({ object: this.#reference });
    return this.#child;
  }

  #isPosted(level: LogLevel): boolean {
    if (this.#posting === undefined) return false;
    const { enabled, loggers, level: lowest } = this.#posting.settings.posting;
    return enabled && loggers && isPosted(level, lowest);
  }
}

class TerseLogger extends LevelLogger {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    super();
    this.#logger = logger;
  }

  override log(level: LogLevel, message: string, fields: LogFields | undefined): void {
    if (level !== 'debug') this.#logger[level === 'info' ? 'debug' : level](message, fields);
  }

  override isEnabled(level: LogLevel): boolean {
    return level !== 'debug' && isEnabled(this.#logger, level === 'info' ? 'debug' : level);
  }

  override child(fields: LogFields): Logger {
    return new TerseLogger(this.#logger.child(fields));
  }
}

function referenceTo(body: Body): LoggedReference {
  const { apiVersion, kind, metadata } = body;
  const { name, uid, namespace } = metadata ?? {};
  return {
    apiVersion: apiVersion ?? null,
    kind: kind ?? null,
    name: name ?? null,
    uid: uid ?? null,
    namespace: namespace ?? null,
  };
}

/** What is enough to post an event, so that waiting events do not keep whole objects in memory. */
function aboutOf({ apiVersion, kind, name, uid, namespace }: LoggedReference): Body {
  const identity = { name: name ?? undefined, uid: uid ?? undefined, namespace: namespace ?? undefined };
  return deepCopy({ apiVersion: apiVersion ?? undefined, kind: kind ?? undefined, metadata: identity }) as Body;
}

function isSecret({ apiVersion, kind }: Body): boolean {
  return apiVersion === 'v1' && kind === 'Secret';
}

/**
 * The body as it may be logged. Of a Secret, no values are shown: neither of its data, nor of its annotations, where
 * tools keep copies of the data. What is nested too deep to be printed is left out.
 */
export function loggableBody(body: Body): Body {
  return printableValue(isSecret(body) ? redactedSecret(body) : body) as Body;
}

/** The diff of the body as it may be logged: of a Secret, only where it has changed, not from what to what. */
export function loggableDiff(diff: Diff, body: Body): Diff {
  if (!isSecret(body)) return printableValue(diff) as Diff;
  return diff.map(([operation, field, old, new_]) => [operation, field, redacted(old), redacted(new_)] as const);
}
