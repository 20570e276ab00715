/** Handlers and causes for tests of how handlers are executed. */
import { type ManualClock, manualClock, type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import { execute } from '../../src/execution/execute.js';
import type { Outcome } from '../../src/execution/outcomes.js';
import type { HandlerState } from '../../src/execution/progress/handler-state.js';
import { State } from '../../src/execution/progress/state.js';
import type { Cause, ChangingCause, WatchingCause } from '../../src/intents/causes.js';
import type { AnyHandler, ChangeHandler, HandlerFn } from '../../src/intents/handlers.js';
import { type Settings, type SettingsOverrides, settings } from '../../src/settings.js';
import type { Body } from '../../src/values/objects/body.js';
import { Patch } from '../../src/values/patches/patch.js';
import { makeResource } from '../../src/values/resources/resource.js';

export const RESOURCE = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'kopfexamples', kind: 'KopfExample' });

export const BODY: Body = {
  apiVersion: 'kopf.dev/v1',
  kind: 'KopfExample',
  metadata: { name: 'name1', namespace: 'ns1', uid: 'uid1', labels: { l: 'lv' }, annotations: { a: 'av' } },
  spec: { field: 'value' },
  status: { info: 'payload' },
};

export function changingCause(fields: Partial<ChangingCause> = {}): ChangingCause & { logger: RecordingLogger } {
  return {
    kind: 'changing',
    reason: 'create',
    initial: false,
    diff: [],
    old: undefined,
    new: { spec: { field: 'value' } },
    resource: RESOURCE,
    body: BODY,
    patch: new Patch(),
    memo: {},
    ...fields,
    logger: (fields.logger as RecordingLogger | undefined) ?? recordingLogger(),
  };
}

export function watchingCause(fields: Partial<WatchingCause> = {}): WatchingCause & { logger: RecordingLogger } {
  return {
    kind: 'watching',
    event: { type: 'ADDED', object: {} },
    resource: RESOURCE,
    body: BODY,
    patch: new Patch(),
    memo: {},
    ...fields,
    logger: (fields.logger as RecordingLogger | undefined) ?? recordingLogger(),
  };
}

export function changeHandler(fields: Partial<ChangeHandler> & { fn?: HandlerFn } = {}): ChangeHandler {
  return { kind: 'change', id: 'fn', fn: () => undefined, param: undefined, ...fields };
}

export interface Attempt {
  readonly clock: ManualClock;
  readonly cause: Cause & { logger: RecordingLogger };
  readonly settings: Settings;
  readonly state: HandlerState;
  readonly outcome: Promise<Outcome>;
}

export interface AttemptOptions {
  readonly cause?: Cause & { logger: RecordingLogger };
  readonly clock?: ManualClock;
  readonly state?: { readonly retries?: number; readonly runtime?: number };
  readonly settings?: SettingsOverrides;
  readonly signal?: AbortSignal;
  readonly random?: () => number;
}

/** Begins one call of a handler, after so many attempts and so many seconds. */
export async function attempt(handler: AnyHandler, options: AttemptOptions = {}): Promise<Attempt> {
  const { clock = manualClock(), cause = changingCause(), signal, random } = options;
  const { retries = 0, runtime = 0 } = options.state ?? {};
  let states = State.fromScratch(clock).withHandlers([handler]);
  for (let retry = 0; retry < retries; retry++) {
    const outcome: Outcome = { final: false, error: new Error('before'), delay: undefined, subrefs: [] };
    states = states.withOutcomes(new Map([[handler.id, outcome]]));
  }
  await clock.advance(runtime);
  const state = states.get(handler.id) as HandlerState;
  const all = settings(options.settings);
  const outcome = (async () => execute(handler, state, { cause, settings: all, clock, signal, random }))();
  // Tests look at it when they are ready to; until then, it is nobody's.
  outcome.catch(() => {});
  return { clock, cause, settings: all, state, outcome };
}
