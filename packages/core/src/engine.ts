/**
 * The second entry of core, for those who run handlers themselves: our own packages, and whoever rewrites one.
 * Whoever only writes handlers or plugins needs `@kopf-ts/core` alone.
 */

// Causes: why handlers are called, and who of them wants it.
export {
  type ActivityCause,
  type Cause,
  type ChangeFacts,
  type ChangingCause,
  type ChangingReason,
  type DaemonCause,
  detectChange,
  type IndexingCause,
  isHandlingReason,
  REASON_TITLES,
  type ResourceCause,
  type SpawningCause,
  type WatchingCause,
  type WebhookCause,
} from './intents/causes.js';
export { type BlockingDecision, type BlockingFacts, decideBlocking } from './intents/blocking.js';
export { type BlockingInterest, extraFields, isInScope, mustBlockDeletion } from './intents/interests.js';
export { match, prematch } from './intents/matching.js';
export type { Handlers, HandlerSet, SelectOptions } from './intents/handler-set.js';
export {
  type Activity,
  type ActivityHandler,
  type AnyHandler,
  type ChangeHandler,
  type DaemonHandler,
  type IndexHandler,
  type ResourceHandler,
  type SpawningHandler,
  type TimerHandler,
  titleOf,
  type WatchHandler,
  type WebhookHandler,
} from './intents/handlers.js';
export { type RegistrationTarget, registrars } from './intents/on.js';

// Executing handlers: from a cause to outcomes, from outcomes to progress, from progress to what to do next.
export { type ExecuteAllOptions, type ExecuteOnceOptions, executeAll, executeOnce } from './actions/execution.js';
export { type ExecutePromptlyOptions, executePromptly } from './actions/prompt-execution.js';
export { isThenable } from './actions/deadlines.js';
export { bothMonitors, type ExecutionMonitor, type MonitoredCall } from './actions/monitoring.js';
export type { Outcome, Outcomes } from './actions/outcomes.js';
export { HandlerState } from './actions/handler-state.js';
export { type OwnTimes, type OwnTimesMemory, ownTimesMemory } from './actions/own-times.js';
export {
  type LoadOptions,
  type ProgressCounts,
  purgeLeftovers,
  State,
  type StoragePlace,
} from './actions/progression.js';
export {
  type Asked,
  type Correction,
  type Corrections,
  describeAsked,
  Ledger,
  type Level,
  withoutAsked,
} from './actions/ledger.js';
export {
  digestAt,
  digestFor,
  type LoadedProgress,
  loadProgress,
  pinnedHandlers,
  type ProgressOptions,
} from './actions/selection.js';
export { deliverResults } from './actions/results.js';
export { backoffOf, childrenRetry, judgeError } from './actions/verdicts.js';
export { decideNext, interruptedSleep, type NextFacts, type NextStep } from './actions/applying.js';
export { filterKwargs } from './actions/invocation.js';
export { currentContext, type HandlerContext, runInContext } from './actions/context.js';
export {
  type DaemonStopper,
  daemonStopper,
  decideStopping,
  type StoppingDecision,
  type StoppingFacts,
} from './actions/stopping.js';
export {
  isEnabled,
  loggableBody,
  loggableDiff,
  type ObjectLoggerOptions,
  objectLogger,
  terseLogger,
} from './actions/object-logger.js';
export { reportOnce } from './actions/malformed.js';
export { copyMemo, createMemo } from './actions/memos.js';

// Values, for those who change objects.
export { asJsonPatch } from './values/patch.js';
export { type JsonPatchOp, jsonPatch, parsePointer } from './values/json-patch.js';
export { applyMergePatch, mergePatchOf, subtractExisting } from './values/merge-patch.js';
export { allowDeletion, blockDeletion, isDeletionBlocked, isDeletionOngoing } from './values/finalizers.js';
export { deepFreeze } from './values/json.js';
export { type JsonStyle, jsonText } from './values/json-text.js';
export { cherrypick, requireField } from './values/fields.js';
export { type Comparison, compareEssences } from './values/comparison.js';
export { reduceDiff } from './values/diff.js';
export { quoteId } from './values/ids.js';
export { objectKey } from './values/object-key.js';
export { compareVersions } from './values/versions.js';
export { bodyViews, type LiveBody, makeLiveBody } from './values/views.js';
export {
  formatResource,
  makeResource,
  type ResourceAddress,
  type ResourceFields,
  resourceKey,
  resourceUrl,
  sameResource,
  uniqueResources,
} from './values/resource.js';
export { parseSelector, type Selector } from './values/selector.js';
export { exactNamespaces, matchesAnyNamespace, matchNamespace, type NamespacePattern } from './values/namespaces.js';
export { describeError, stackOf, toError } from './errors.js';

// The cluster, over any client.
export { type DiscoverOptions, type Discovery, discover } from './cluster/discover.js';
export { type ListOptions, type ListPage, list, listPages } from './cluster/list.js';
export { type CreateOptions, createObject } from './cluster/create.js';
export { isDenied, type OwnWrite, type PatchObjectOptions, type PatchOutcome, patchObject } from './cluster/patch.js';
export type { Address } from './cluster/patch-payloads.js';
export { type FindOptions, findByName } from './cluster/find.js';
export {
  buildKubeEvent,
  cutEventMessage,
  type EventRepeats,
  type PostEventOptions,
  postEvent,
} from './cluster/events.js';
export {
  type ServerCapabilities,
  type StreamState,
  type WatchedEvent,
  type WatchOptions,
  type WatchSignal,
  watch,
  watchInto,
} from './cluster/watch.js';
export { type BackoffOptions, backoffDelay } from './cluster/backoff.js';
export { type AttemptLimiter, type AttemptLimits, attemptLimiter } from './cluster/limiter.js';

// Waiting for each other. Aborting takes one listener per signal, however many wait for it.
export {
  abortable,
  aborted,
  anySignal,
  type ChildController,
  childController,
  type DependentSignal,
  isCancellation,
  NOT_NEEDED,
  onAbort,
  untilAborted,
} from './sync/abort.js';
export { alarm } from './sync/alarm.js';
export { type Condition, condition } from './sync/condition.js';
export { type Container, container } from './sync/container.js';
export { type Queue, queue } from './sync/queue.js';
export { sleep as sleepAmong } from './sync/sleeping.js';
export { type NamedToggle, type ToggleView, toggle } from './sync/toggle.js';
export { type ToggleSet, toggleSet } from './sync/toggle-set.js';
