/** The data that all steps of one cycle of one object share. */
import {
  type AnyObject,
  type Awaitable,
  type Body,
  type DiffBaseStorage,
  deepCopy,
  type Essence,
  type FieldPath,
  KopfError,
  type Logger,
  Patch,
  type ProgressStorage,
  type ReportMalformed,
  type Resource,
} from '@kopf-ts/core';
import {
  applyMergePatch,
  type CallsUnderWay,
  type EndTurn,
  extraFields,
  type OwnTimesMemory,
  type ToggleView,
  type WatchedEvent,
} from '@kopf-ts/core/engine';
import type { RunningDaemons } from '../daemons/daemons.js';
import type { ObjectDaemons } from '../daemons/object-daemons.js';
import type { Known } from '../objects/known.js';
import type { NotedWrite } from '../objects/news.js';
import type { Ending, Observed } from '../objects/transitions.js';
import type { OperatorParts } from '../parts.js';
import type { Relations } from '../relations/relations.js';
import type { ApplyFn } from '../sending/apply.js';
import type { WriteGuards } from '../write-guards.js';

export interface CycleParts extends OperatorParts {
  readonly apply: ApplyFn;
  readonly paused: ToggleView;
  readonly daemons: RunningDaemons;
  readonly writeGuards?: Pick<WriteGuards, 'mayWrite'> | undefined;
  readonly relations?: Pick<Relations, 'stamp'> | undefined;
}

/** What to do in one cycle. */
export interface Work {
  /** For the event handlers: each event, in order. */
  readonly events: readonly WatchedEvent[];
  /** For all other handlers: only the newest. Absent if there is nothing new for them. */
  readonly state: Observed | undefined;
  /** Touch the object first, as Kopf does to wake itself up. */
  readonly isToTouch: boolean;
  /** Makes the operator look at the object again without any change in it, at any later time. */
  readonly comeBack?: (() => void) | undefined;
}

/** The object as a cycle sees it, read-only. */
export interface CycleSubject extends CallsUnderWay {
  readonly memo: unknown;
  /** Its lines are not posted as Kubernetes events. */
  readonly logger: Logger;
  readonly malformed: ReportMalformed;
  readonly isNoticedByListing: boolean;
  readonly daemons: ObjectDaemons;
  /** When the handlers are due, in monotonic time: immune to changes of the wall clock. */
  readonly ownTimes: OwnTimesMemory;
  /** The newest state from the stream, if it is newer than the one being handled. */
  newerThan(body: Body): Observed | undefined;
  /** Records a change of ours. */
  noteWrite(write: NotedWrite): void;
  /** Whether daemons or timers are changing the object right now: the events may arrive before the responses. */
  readonly isBeingWritten: boolean;
  /** Schedules another look at the object when all these changes are confirmed. */
  awaitWritten(): void;
  /** Our own latest changes, including those of this cycle. */
  readonly writes: readonly NotedWrite[];
  /** Whether the object is outside of the served objects of its kind. */
  isOutside(body: Body): boolean;
  /** The object is paused: timers skip their ticks. */
  readonly isHeld: boolean;
  /** Waits for its turn among our own changes of the object; returns a function that ends the turn. */
  takeTurn(options?: { readonly isUrgent?: boolean }): Awaitable<EndTurn>;
  /** Marks the start of a change by a daemon or a timer; returns a function that marks its end. */
  beginWrite(): () => void;
}

export interface CycleOptions extends Work {
  readonly resource: Resource;
  readonly subject: CycleSubject;
  readonly known: Known;
  readonly signal: AbortSignal;
}

/** How a cycle has ended. */
export interface CycleResult extends Ending {
  /** What is known of the object afterwards; unchanged if absent. */
  readonly known?: Known | undefined;
  /** The cycle failed: the object is to be left alone for a while. */
  readonly error?: unknown;
}

/** The shared data of one cycle. What only few steps need is created on first use. */
export class Scene {
  readonly parts: CycleParts;
  readonly resource: Resource;
  readonly subject: CycleSubject;
  readonly localLogger: Logger;
  readonly known: Known;
  readonly eventType: WatchedEvent['type'];
  /** The events that the event handlers are called for in this cycle. */
  readonly events: readonly WatchedEvent[];
  readonly body: AnyObject;
  /** What the handlers ask for. */
  readonly patch: Patch;
  readonly signal: AbortSignal;
  /** Schedules another look at the object. */
  readonly comeBack: (() => void) | undefined;
  readonly isCompat: boolean;
  #storages: Storages | undefined;

  constructor(parts: CycleParts, options: CycleOptions, body: AnyObject) {
    this.parts = parts;
    this.resource = options.resource;
    this.subject = options.subject;
    this.localLogger = options.subject.logger;
    this.known = options.known;
    this.signal = options.signal;
    this.comeBack = options.comeBack;
    this.body = body;
    this.events = options.events;
    this.eventType = options.state?.type ?? null;
    this.patch = new Patch(undefined, { body });
    this.isCompat = parts.settings.persistence.compat === 'kopf';
  }

  get storages(): Storages {
    this.#storages ??= storagesOf(this.parts);
    return this.#storages;
  }

  /** The essence of an object of this kind. */
  readonly essenceOf = (body: Body): Essence => {
    const { progressStorage, diffbaseStorage } = this.storages;
    const { resource } = this;
    const fields = fieldsSeen(this.parts, resource);
    return progressStorage.clear(diffbaseStorage.build({ body, extraFields: fields, resource }));
  };
}

/** The newest known state: requests are compared with it, not with what the handlers were given. */
export function newestBody({ body, subject, isCompat }: Scene): AnyObject {
  return isCompat ? body : (subject.newerThan(body)?.body ?? body);
}

/** The object as the storages must see it: including marks that could not be stored. */
export function bodyForStorages(body: Body, unsavable: Known['unsavable']): Body {
  if (unsavable === undefined) return body;
  const imagined = deepCopy(body) as AnyObject;
  applyMergePatch(imagined, unsavable);
  return imagined;
}

interface Storages {
  readonly progressStorage: ProgressStorage;
  readonly diffbaseStorage: DiffBaseStorage;
}

function storagesOf({ settings }: OperatorParts): Storages {
  const { progressStorage, diffbaseStorage } = settings.persistence;
  if (progressStorage !== undefined && diffbaseStorage !== undefined) return { progressStorage, diffbaseStorage };
  throw new KopfError(
    'There is no storage for the progress of handlers and for the last handled states of objects. Set both ' +
      'settings.persistence.progressStorage and settings.persistence.diffbaseStorage: e.g. to those of @kopf-ts/storage.',
    { code: 'KOPF_NO_STORAGE' },
  );
}

interface SeenFields {
  // These lists are rebuilt only if handlers are declared.
  readonly watching: readonly object[];
  readonly changing: readonly object[];
  readonly spawning: readonly object[];
  readonly related: readonly object[];
  readonly fields: readonly FieldPath[];
}

const fieldsOfKinds = new WeakMap<object, WeakMap<Resource, SeenFields>>();

/** They depend only on the handlers of the kind, and handlers are rarely declared while running. */
function fieldsSeen({ registry }: OperatorParts, resource: Resource): readonly FieldPath[] {
  const { handlers } = registry;
  const watching = handlers.watching.of(resource);
  const changing = handlers.changing.of(resource);
  const spawning = handlers.spawning.of(resource);
  const related = handlers.related.of(resource);
  let ofRegistry = fieldsOfKinds.get(registry);
  if (ofRegistry === undefined) {
    ofRegistry = new WeakMap();
    fieldsOfKinds.set(registry, ofRegistry);
  }
  const known = ofRegistry.get(resource);
  const isKnown = known?.watching === watching && known.changing === changing && known.spawning === spawning;
  if (isKnown && known.related === related) return known.fields;
  const fields = extraFields(handlers, resource);
  ofRegistry.set(resource, { watching, changing, spawning, related, fields });
  return fields;
}
