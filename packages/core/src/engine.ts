/**
 * The second entry of core: what a package needs that runs handlers by itself, or that talks to the cluster beside
 * them. Our own packages are made of nothing else, so a stranger's package can do whatever ours can. Handlers and
 * plugins need `@kopf-ts/core` alone.
 *
 * Each name here is used by at least one package, or is in the signature of one that is; except for `runInContext`, for
 * those who test what is called in handlers. The list is pinned by a test.
 */

// Causes: why handlers are called, and which of them are concerned.
export {
  type ActivityCause,
  type Cause,
  type ChangingCause,
  type DaemonCause,
  detectChange,
  type IndexingCause,
  isHandlingReason,
  REASON_TITLES,
  type RelatedCause,
  type SpawningCause,
  type WatchingCause,
  type WebhookCause,
} from './intents/causes.js';
export { decideBlocking } from './intents/blocking.js';
export { extraFields, isInScope, mustBlockDeletion } from './intents/interests.js';
export { match } from './intents/matching.js';
export { type ChildrenLookup, meaningOf, type Relation } from './intents/relations.js';
export { type ServerSelection, serverSelection } from './intents/server-selection.js';
export type { Handlers } from './intents/handler-set.js';
export {
  type Activity,
  type ActivityHandler,
  type AnyHandler,
  type ChangeHandler,
  type ChildHandler,
  type DaemonHandler,
  type IndexHandler,
  type ReconcileHandler,
  type RelatedHandler,
  relationsOf,
  type ResourceHandler,
  type SpawningHandler,
  type TimerHandler,
  titleOf,
  type WebhookHandler,
} from './intents/handlers.js';

// Executing handlers: from a cause to outcomes, from outcomes to progress, from progress to what to do next.
export { type CallsUnderWay, execute as executeHandler, executeAll, type Execution } from './execution/execute.js';
export { type Facts, facts, NO_FACTS, type ObservedFacts } from './observing/facts.js';
export { safeTracing } from './observing/safe-tracing.js';
export { observedObject } from './execution/call.js';
export { observedBody, observedHandler, tellerOfConsidered } from './observing/observed.js';
export type { Outcome, Outcomes } from './execution/outcomes.js';
export { HandlerState } from './execution/progress/handler-state.js';
export { type OwnTimesMemory, ownTimesMemory } from './execution/progress/own-times.js';
export { purgeLeftovers, State, type StoragePlace } from './execution/progress/state.js';
export { type Asked, type Corrections, describeAsked, Ledger, withoutAsked } from './execution/ledger.js';
export { type Keeping, type KeepingPlace, NO_ROOM } from './execution/steps/keeping.js';
export { digestAt, type LoadedProgress, loadProgress, pinnedHandlers } from './execution/progress/selection.js';
export { deliverResults } from './execution/progress/results.js';
export { backoffOf, childrenRetry, judgeError } from './execution/error-decisions.js';
export { decideNext, FINISHED, interruptedSleep } from './execution/next-step.js';
export { filterKwargs } from './execution/call-kwargs.js';
export { currentContext, type HandlerContext, runInContext } from './execution/context.js';
export { decideStopping, type StoppingFacts } from './execution/stopping.js';
export { LevelLogger } from './execution/logging/level-logger.js';
export { isEnabled, loggableBody, loggableDiff, objectLogger, terseLogger } from './execution/logging/object-logger.js';
export { reportOnce } from './execution/logging/report-once.js';
export { setsConditions } from './execution/handler-api/conditions.js';
export { copyMemo, createMemo } from './execution/handler-api/memo.js';

// Values: changing objects.
export { applyFns, asJsonPatch } from './values/patches/patch.js';
export { parsePointer } from './values/patches/json-patch.js';
export { applyMergePatch } from './values/patches/merge-patch.js';
export { allowDeletion, blockDeletion, isDeletionBlocked, isDeletionOngoing } from './values/objects/finalizers.js';
export { deepFreeze } from './values/json.js';
export { type JsonStyle, jsonText, lostInJson } from './values/json-text.js';

export { type Comparison, compareEssences } from './values/objects/comparison.js';

export { quoteId } from './values/ids.js';
export { didYouMean, nearNames } from './values/suggestions.js';
export { declaringFor, placedTitleOf, placeOf } from './intents/registration/places.js';
export { isTold, markTold } from './execution/logging/told-errors.js';
export { objectKey } from './values/objects/object-key.js';
export { traceMarkOf } from './values/objects/trace-marks.js';
export { compareVersions } from './values/objects/versions.js';
export { type LiveBody, makeLiveBody } from './values/objects/views.js';
export {
  formatResource,
  makeResource,
  type ResourceFields,
  resourceKey,
  resourceUrl,
  uniqueResources,
} from './values/resources/resource.js';
export { parseSelector, type Selector, scopeMistake } from './values/resources/selector.js';
export { formatWatchTarget, watchTarget, watchTargetKey } from './values/resources/watch-target.js';
export { exactNamespaces, matchesAnyNamespace, type NamespacePattern } from './values/resources/namespaces.js';
export { describeError, missingRule, stackOf, toError } from './errors.js';

// The cluster, over any client.
export { type Discovery, discover } from './cluster/discover.js';
export { list, listPages } from './cluster/list.js';
export { createObject } from './cluster/create.js';
export { markingClient } from './cluster/marking-client.js';
export { type LagMeter, lagMeter } from './cluster/lag.js';
export { OutpacedError, type OwnWrite, type PatchOutcome, patchObject } from './cluster/patching/patch-object.js';
export { isTooLarge, retryable } from './cluster/retryable.js';
export type { Address } from './cluster/patching/patch-payloads.js';
export { findByName } from './cluster/find.js';
export { conflictPause } from './cluster/patching/conflict-pause.js';
export { fieldSelectorOf, isSelectedBy, labelSelectorOf } from './cluster/api/selections.js';
export { handlersApi } from './cluster/api/verbs.js';
export type { ObjectOwner, OwnerOf } from './cluster/api/owners.js';
export type { VerbWrite } from './cluster/api/verb-requests.js';
export { cutEventMessage, type EventRepeats, postEvent } from './cluster/events.js';
export type { ServerCapabilities, WatchedEvent, WatchOptions, WatchSignal } from './cluster/watch/signals.js';
export { watch, watchInto } from './cluster/watch/watch.js';
export { backoffDelay } from './cluster/backoff.js';
export { type ConnectionLimiter, connectionLimiter } from './cluster/watch/connection-limiter.js';

// Waiting for each other. Aborting takes one listener per signal, however many wait for it.
export {
  abortable,
  aborted,
  anySignal,
  childController,
  isCancellation,
  NOT_NEEDED,
  onAbort,
  untilAborted,
} from './sync/abort.js';
export { alarm } from './sync/alarm.js';
export { isThenable } from './sync/awaiting.js';
export { condition } from './sync/condition.js';
export { type Container, container } from './sync/container.js';
export { sleep as sleepAmong } from './sync/sleeping.js';
export { type ToggleView, toggle } from './sync/named-toggle.js';
export { type ToggleSet, toggleSet } from './sync/toggle-set.js';
export { type EndTurn, Turns } from './sync/turns.js';
