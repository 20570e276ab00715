/**
 * One object and its change handlers, cycle by cycle: what an operator does with them, without a cluster, queues
 * and streams. The object is here, and whatever is asked for in a patch happens to it at once.
 */
import { annotationsDiffBaseStorage, smartProgressStorage } from '@kopf-ts/storage';
import { type ManualClock, manualClock, type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import { executeAll } from '../../src/execution/execute.js';
import { asap, type LifeCycle } from '../../src/execution/lifecycles.js';
import { reportOnce } from '../../src/execution/logging/report-once.js';
import { decideNext, type NextStep } from '../../src/execution/next-step.js';
import { deliverResults } from '../../src/execution/progress/results.js';
import { loadProgress, pinnedHandlers } from '../../src/execution/progress/selection.js';
import { purgeLeftovers, State } from '../../src/execution/progress/state.js';
import { decideBlocking } from '../../src/intents/blocking.js';
import { type ChangingCause, detectChange, isHandlingReason } from '../../src/intents/causes.js';
import { extraFields, mustBlockDeletion } from '../../src/intents/interests.js';
import { createRegistry } from '../../src/intents/registration/registry.js';
import type { DiffBaseStorage, ProgressStorage } from '../../src/seams/memory/storage.js';
import { settings } from '../../src/settings.js';
import { deepCopy, type Mapping } from '../../src/values/json.js';
import type { AnyObject } from '../../src/values/objects/body.js';
import { compareEssences } from '../../src/values/objects/comparison.js';
import {
  allowDeletion,
  blockDeletion,
  isDeletionBlocked,
  isDeletionOngoing,
} from '../../src/values/objects/finalizers.js';
import type { JsonPatchOp } from '../../src/values/patches/json-patch.js';
import { applyMergePatch } from '../../src/values/patches/merge-patch.js';
import { asJsonPatch, Patch } from '../../src/values/patches/patch.js';
import { formatTimestamp } from '../../src/values/timestamps.js';
import { RESOURCE } from '../execution/helpers.js';

export interface Cycle {
  readonly reason: string;
  /** What is sent as a merge-patch; empty if nothing is. */
  readonly merge: Mapping;
  /** What is sent as a JSON-patch, but for the test of the version. */
  readonly ops: readonly JsonPatchOp[];
  readonly next: NextStep;
  readonly superseded: readonly string[];
}

export interface HandledOptions {
  readonly compat?: 'kopf' | undefined;
  readonly spec?: Mapping;
  readonly lifecycle?: LifeCycle;
  readonly storage?: ProgressStorage;
  readonly initial?: boolean;
  readonly random?: () => number;
}

const FINALIZER = 'kopf.zalando.org/KopfFinalizerMarker';

export class HandledObject {
  readonly clock: ManualClock = manualClock({ start: '2026-11-16T01:41:20Z' });
  readonly logger: RecordingLogger = recordingLogger();
  readonly #malformed = reportOnce(this.logger);
  readonly registry = createRegistry();
  readonly body: AnyObject;
  readonly #options: HandledOptions;
  readonly #storage: ProgressStorage;
  readonly #diffbase: DiffBaseStorage;
  #initial: boolean;

  constructor(options: HandledOptions = {}) {
    this.#options = options;
    const compat = options.compat === undefined ? {} : { compat: options.compat };
    this.#storage = options.storage ?? smartProgressStorage(compat);
    this.#diffbase = annotationsDiffBaseStorage(compat);
    this.#initial = options.initial ?? false;
    this.body = {
      apiVersion: 'kopf.dev/v1',
      kind: 'KopfExample',
      metadata: { name: 'name1', namespace: 'ns1', uid: 'uid1' },
      spec: options.spec ?? { field: 'v' },
    };
  }

  get on() {
    return this.registry.on;
  }

  /** Somebody changes the object. */
  edit(changes: Mapping): void {
    applyMergePatch(this.body, changes);
  }

  get annotations(): Readonly<Record<string, string>> {
    return this.body.metadata?.annotations ?? {};
  }

  /** One event of the object, from the event to the patch. */
  async cycle(): Promise<Cycle> {
    const { compat, lifecycle = asap, random } = this.#options;
    const { clock, logger, registry } = this;
    const storage = this.#storage;
    const { handlers } = registry;
    const body = deepCopy(this.body);
    const patch = new Patch(undefined, { body });

    const stored = await this.#diffbase.fetch({ body, malformed: this.#malformed });
    const new_ = storage.clear(this.#diffbase.build({ body, extraFields: extraFields(handlers, RESOURCE) }));
    const comparison = compareEssences(stored && storage.clear(stored), new_);
    const { old, diff: changes } = comparison;
    const facts = {
      event: { type: 'MODIFIED' },
      body,
      finalizer: FINALIZER,
      comparison,
      initial: this.#initial,
    };
    const detected = detectChange(facts);
    const common = { kind: 'changing', resource: RESOURCE, body, patch, memo: {}, logger } as const;
    let cause: ChangingCause = { ...common, ...detected, diff: changes, old, new: new_ };

    const blocking = decideBlocking({
      deletionMustBeBlocked: mustBlockDeletion(handlers, { changing: cause }),
      deletionIsBlocked: isDeletionBlocked(body, FINALIZER),
      deletionIsOngoing: isDeletionOngoing(body),
    });
    if (blocking === 'block') patch.fns.push(blockDeletion(FINALIZER));
    if (blocking === 'release') patch.fns.push(allowDeletion(FINALIZER));
    if (blocking === 'block' || blocking === 'release') return await this.#apply(patch, detected.reason, []);

    const owned = handlers.changing.of(RESOURCE);
    const place = { body, patch, storage };
    if (cause.reason === 'noop' && compat === undefined) {
      // Undone in the middle: those which have acted on what is undone are to learn of it.
      const undone: ChangingCause = { ...cause, reason: 'update' };
      const state = await State.fromStorage({ storage, body, handlers: owned, clock });
      if (pinnedHandlers({ state, owned, selected: [], cause: undone }).length > 0) cause = undone;
      else await purgeLeftovers({ ...place, handlers: owned, clock });
    }
    if (!isHandlingReason(cause.reason)) return await this.#apply(patch, cause.reason, []);

    // Of what is undone, only those are to learn who have acted on it.
    const selected = cause.reason === detected.reason ? handlers.changing.select(cause) : [];
    const malformed = this.#malformed;
    const loaded = await loadProgress({ storage, owned, selected, cause, clock, compat, malformed });
    let { state } = loaded;
    if (state.extras.size > 0) await state.purgeExtras(place);

    if (loaded.handlers.length > 0) {
      const all = settings({ persistence: { progressStorage: storage, compat } });
      const options = { handlers: loaded.handlers, cause, state, lifecycle, settings: all, clock, random, malformed };
      const outcomes = await executeAll(options);
      state = state.withOutcomes(outcomes);
      await state.store(place);
      deliverResults({ outcomes, patch });
      if (state.done) await state.purge({ ...place, handlers: owned });
    }
    const isDone = loaded.handlers.length === 0 || state.done;
    if (isDone) {
      if (changes.length > 0) await this.#diffbase.store({ essence: new_, body, patch });
      this.#initial = false;
    }
    if (blocking === 'release-when-done' && isDone) patch.fns.push(allowDeletion(FINALIZER));
    return await this.#apply(patch, cause.reason, state.delays, [...loaded.superseded.keys()]);
  }

  /** Cycles for as long as there is anything to do, sleeping in between; at most so many times. */
  async handle(limit = 50): Promise<readonly Cycle[]> {
    const cycles: Cycle[] = [];
    while (cycles.length < limit) {
      const cycle = await this.cycle();
      cycles.push(cycle);
      if (cycle.next.action === 'finish') break;
      if (cycle.next.action === 'sleep') await this.clock.advance(cycle.next.seconds);
    }
    return cycles;
  }

  /** As Kopf wakes up itself. */
  async touch(): Promise<Mapping> {
    const patch = new Patch();
    await this.#storage.touch({ value: formatTimestamp(this.clock.utc()), body: this.body, patch });
    applyMergePatch(this.body, patch.merge);
    return deepCopy(patch.merge);
  }

  async #apply(
    patch: Patch,
    reason: string,
    delays: readonly number[],
    superseded: readonly string[] = [],
  ): Promise<Cycle> {
    const isPatched = !patch.isEmpty;
    if (isPatched) await this.#storage.touch({ value: null, body: this.body, patch });
    const merge = deepCopy(patch.merge);
    const ops = asJsonPatch(new Patch(undefined, { fns: patch.fns }), this.body);
    applyMergePatch(this.body, merge);
    for (const fn of patch.fns) fn(this.body);
    const delay = delays.length > 0 ? Math.min(...delays) : undefined;
    const next = decideNext({ delay, patched: isPatched, compat: this.#options.compat });
    return { reason, merge, ops, next, superseded };
  }
}
