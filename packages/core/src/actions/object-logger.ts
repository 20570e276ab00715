/**
 * Loggers that know their object: every line carries the reference to it, and may become an event about it.
 * Prefixing the texts with the object's name is left to those who print them: the reference is enough for that.
 */
import type { LogFields, Logger, LogLevel } from '../seams/logger.js';
import type { EventPoster, KubeEventType } from '../seams/poster.js';
import type { Settings } from '../settings.js';
import type { Body } from '../values/body.js';
import type { Diff } from '../values/diff.js';
import { redacted, redactedSecret } from '../values/redaction.js';
import { isPosted } from './posting.js';

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
  const logged = logger.child({ object: referenceTo(body) });
  return posting === undefined ? logged : postingLogger(logged, aboutOnly(body), posting);
}

/** Whether it makes sense to make up a line of this level. */
export function isEnabled(logger: Logger, level: LogLevel): boolean {
  return logger.isEnabled?.(level) ?? true;
}

/** One level quieter: for what happens so often that it is of interest only when something is being debugged. */
export function terseLogger(logger: Logger): Logger {
  return {
    debug: () => {},
    info: (message, fields) => logger.debug(message, fields),
    warn: (message, fields) => logger.warn(message, fields),
    error: (message, fields) => logger.error(message, fields),
    isEnabled: (level) => level !== 'debug' && isEnabled(logger, level === 'info' ? 'debug' : level),
    child: (fields) => terseLogger(logger.child(fields)),
  };
}

function postingLogger(logger: Logger, about: Body, posting: NonNullable<ObjectLoggerOptions['posting']>): Logger {
  const at =
    (level: LogLevel) =>
    (message: string, fields?: LogFields): void => {
      logger[level](message, fields);
      const { enabled, loggers, level: lowest } = posting.settings.posting;
      if (!enabled || !loggers || !isPosted(level, lowest)) return;
      posting.poster.post({ about, type: EVENT_TYPES[level], reason: 'Logging', message });
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    isEnabled: (level) => {
      const { enabled, loggers, level: lowest } = posting.settings.posting;
      return isEnabled(logger, level) || (enabled && loggers && isPosted(level, lowest));
    },
    child: (fields) => postingLogger(logger.child(fields), about, posting),
  };
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

/**
 * What is enough to post an event, so that waiting events do not keep whole objects in memory.
 * Put together key by key, not by spreading: there is one for each logger, and the engine keeps more of what is spread.
 */
function aboutOnly(body: Body): Body {
  const { apiVersion, kind } = body;
  const { name, uid, namespace } = body.metadata ?? {};
  const metadata: { name?: string; uid?: string; namespace?: string } = {};
  if (name !== undefined) metadata.name = name;
  if (uid !== undefined) metadata.uid = uid;
  if (namespace !== undefined) metadata.namespace = namespace;
  const about: { apiVersion?: string; kind?: string; metadata: typeof metadata } = { metadata };
  if (apiVersion !== undefined) about.apiVersion = apiVersion;
  if (kind !== undefined) about.kind = kind;
  return about;
}

function isSecret({ apiVersion, kind }: Body): boolean {
  return apiVersion === 'v1' && kind === 'Secret';
}

/**
 * The body as it may be logged. Of a Secret, no values are shown: neither of its data, nor of its annotations, where
 * tools keep copies of the data.
 */
export function loggableBody(body: Body): Body {
  return isSecret(body) ? (redactedSecret(body) as Body) : body;
}

/** The diff of the body as it may be logged: of a Secret, only where it has changed, not from what to what. */
export function loggableDiff(diff: Diff, body: Body): Diff {
  if (!isSecret(body)) return diff;
  return diff.map(([operation, field, old, new_]) => [operation, field, redacted(old), redacted(new_)] as const);
}
