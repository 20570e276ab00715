/** What can be read off an object alone, whether or not there is an operator. */
import { type Body, isMapping, type ProgressRecord, type Resource, type Settings } from '@kopf-ts/core';
import { compareEssences } from '@kopf-ts/core/engine';
import { pathText, shortText } from '../journal/texts.js';

/**
 * The progress of one handler, as it is on an object.
 *
 * ```ts
 * const isWaiting = ({ delayed }: kopf.insight.MarkedProgress): boolean => delayed !== undefined;
 * ```
 */
export interface MarkedProgress {
  /** As the annotation has it: of long ids, only the beginning and a hash. */
  readonly handler: string;
  /** Why it is called: `create`. */
  readonly purpose: string | undefined;
  readonly retries: number;
  /** When it is due, in ISO 8601. */
  readonly delayed: string | undefined;
  readonly success: boolean;
  readonly failure: boolean;
  readonly message: string | undefined;
}

/**
 * What an operator has left on an object, and what others have written there for it.
 *
 * ```ts
 * const isStuck = ({ deletionTimestamp, isHeld }: kopf.insight.ObjectMarks): boolean =>
 *   deletionTimestamp !== undefined && isHeld;
 * ```
 */
export interface ObjectMarks {
  readonly version: string | undefined;
  readonly deletionTimestamp: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether our finalizer is there. */
  readonly isHeld: boolean;
  /** Those of others. */
  readonly otherFinalizers: readonly string[];
  /** In ISO 8601; or as it is, if that is no time. */
  readonly pausedUntil: string | undefined;
  readonly progress: readonly MarkedProgress[];
  /** Whether the last handled state is there. */
  readonly isHandledOnce: boolean;
  /** Where the object differs from its last handled state; empty if it does not. */
  readonly changed: readonly string[];
}

/**
 * Where to look.
 *
 * ```ts
 * const options: kopf.insight.MarksOptions = { body, settings: kopf.settings() };
 * ```
 */
export interface MarksOptions {
  readonly body: Body;
  readonly resource?: Resource | undefined;
  /** Where the operator keeps its marks: the storages, the finalizer. */
  readonly settings: Pick<Settings, 'persistence'>;
}

const MAX_PROGRESS = 100;

/**
 * Reads what is on the object. Nothing is asked of the cluster.
 *
 * ```ts
 * const marks = await kopf.insight.marksOf({ body, settings: kopf.settings() });
 * logger.info(`${marks.progress.length} handlers are not done with it.`);
 * ```
 */
export async function marksOf({ body, resource, settings }: MarksOptions): Promise<ObjectMarks> {
  const { finalizer, pauseAnnotation, diffbaseStorage, progressStorage } = settings.persistence;
  const metadata: Readonly<Record<string, unknown>> = isMapping(body.metadata) ? body.metadata : {};
  const finalizers = (Array.isArray(metadata['finalizers']) ? metadata['finalizers'] : []).map(String);
  const annotations = isMapping(metadata['annotations']) ? metadata['annotations'] : {};
  // Whatever is said of it may contain a part of it.
  const isSecret = body.kind === 'Secret' && body.apiVersion === 'v1';
  let isHandledOnce = false;
  let changed: readonly string[] = [];
  if (diffbaseStorage !== undefined && progressStorage !== undefined) {
    const place = { body, ...(resource === undefined ? {} : { resource }) };
    const stored = await diffbaseStorage.fetch(place);
    isHandledOnce = stored !== undefined;
    if (stored !== undefined) {
      const essence = progressStorage.clear(diffbaseStorage.build(place));
      changed = compareEssences(progressStorage.clear(stored), essence).diff.map(([, path]) => pathText(path));
    }
  }
  return {
    version: textOf(metadata['resourceVersion']),
    deletionTimestamp: textOf(metadata['deletionTimestamp']),
    labels: labelsOf(metadata['labels'], isSecret),
    isHeld: finalizers.includes(finalizer),
    otherFinalizers: finalizers.filter((one) => one !== finalizer).map((one) => shortText(one)),
    pausedUntil: textOf(annotations[pauseAnnotation]),
    progress: progressOf(body, annotations).map((one) => (isSecret ? { ...one, message: undefined } : one)),
    isHandledOnce,
    changed,
  };
}

function labelsOf(labels: unknown, isHidden: boolean): Readonly<Record<string, string>> {
  const some = Object.entries(isMapping(labels) ? labels : {}).slice(0, MAX_PROGRESS);
  return Object.fromEntries(some.map(([key, value]) => [shortText(key), isHidden ? '…' : shortText(String(value))]));
}

/** Records look like nothing else, whatever the prefix of the annotations is; and the same may be in two places. */
function progressOf(body: Body, annotations: Readonly<Record<string, unknown>>): readonly MarkedProgress[] {
  const found = new Map<string, MarkedProgress>();
  const add = (handler: string, record: unknown): void => {
    if (found.size >= MAX_PROGRESS || found.has(handler) || !isRecord(record)) return;
    found.set(handler, markedProgress(shortText(handler), record));
  };
  for (const [name, text] of Object.entries(annotations)) {
    const slash = name.indexOf('/');
    if (slash < 0 || typeof text !== 'string' || !text.startsWith('{')) continue;
    add(name.slice(slash + 1), parsed(text));
  }
  const { status } = body as { readonly status?: unknown };
  for (const operator of Object.values(isMapping(status) ? status : {})) {
    const progress = isMapping(operator) ? operator['progress'] : undefined;
    for (const [handler, record] of Object.entries(isMapping(progress) ? progress : {})) {
      add(handler.replaceAll('/', '.'), record);
    }
  }
  return [...found.values()];
}

function isRecord(record: unknown): record is ProgressRecord {
  return isMapping(record) && typeof record['started'] === 'string' && !('spec' in record);
}

function markedProgress(handler: string, record: ProgressRecord): MarkedProgress {
  const { purpose, retries, delayed, success, failure, message } = record;
  return {
    handler,
    purpose: textOf(purpose),
    retries: typeof retries === 'number' ? retries : 0,
    delayed: textOf(delayed),
    success: success === true,
    failure: failure === true,
    message: textOf(message),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? shortText(value) : undefined;
}
