/**
 * The words of the framework and every decision that needs no I/O: bodies, patches, diffs, selectors,
 * handlers, causes, the registry, the executor, and the seams behind which everything else lives.
 * It opens no socket, reads no clock, writes no log and knows no default implementation of any seam: those
 * are the other packages' business, and yours.
 *
 * This entry is for handlers and plugins; `@kopf-ts/core/engine` is for packages that run handlers.
 */

// Declaring handlers.
export { createRegistry, type Registry } from './intents/registration/registry.js';
export type {
  ActivityRegistrar,
  ChildRegistrar,
  FieldRegistrar,
  HandlerDecorator,
  IndexKey,
  IndexRegistrar,
  IndexValue,
  LoginResult,
  On,
  OwnsRegistrar,
  ReconcileRegistrar,
  Registered,
  Registrars,
  Requeue,
  ResourceRegistrar,
} from './intents/registration/registrars.js';
export type { Backoff, ErrorsMode } from './intents/handlers.js';
export type { LabelRequirement, LabelSelector, MatchCondition, Watched } from './intents/registration/options.js';
export type { RelatedName, RelatedNames } from './intents/relations.js';
export { ABSENT, all, any, type MetaFilter, none, not, PRESENT, type ValueFilter } from './intents/filters.js';
export {
  EVERYTHING,
  type ResourcePredicate,
  type SelectorFields,
  type SelectorSpec,
} from './values/resources/selector.js';
export {
  type Resource,
  type ResourceToken,
  resource,
  type TokenFields,
  type TypedObject,
} from './values/resources/resource.js';
export type { StandardSchema } from './values/standard-schema.js';
export type { WatchTarget } from './values/resources/watch-target.js';

// What handlers get.
export type {
  ActivityKwargs,
  Admission,
  Change,
  ChildOf,
  Children,
  Daemon,
  DefaultEnv,
  Env,
  Indexing,
  NamespaceOf,
  ObjectOf,
  Reconcile,
  Watch,
} from './intents/kwargs.js';
export type { AnyObject, Body, ObjectMeta, OwnerReference, WatchEvent } from './values/objects/body.js';
export { Patch, type PatchFn, type PatchOf } from './values/patches/patch.js';
export type { Diff, DiffItem, DiffOperation } from './values/diff.js';
export type { ChildChange, HandlingReason, ReconcileReason } from './intents/causes.js';
export type { HandlerProgress, Progress } from './intents/progress.js';
export type { Operation, UserInfo } from './values/review.js';

// What handlers do, besides their own work. The object being handled need not be named.
export {
  adjustNamespace,
  adopt,
  appendOwnerReference,
  harmonizeNaming,
  label,
  type OwnedOptions,
  removeOwnerReference,
} from './execution/handler-api/hierarchies.js';
export type {
  AdoptOptions,
  LabelOptions,
  NamespaceOptions,
  NamingOptions,
  ObjectsToChange,
} from './values/objects/hierarchy.js';
export {
  type ExecuteOptions,
  execute,
  type RegisterOptions,
  register,
  type SubhandlerFn,
  type SubhandlerFns,
  type SubhandlerOptions,
  subhandler,
} from './execution/subhandlers/subhandlers.js';
export { type StepFn, type StepKwargs, type StepOptions, step } from './execution/steps/step.js';
export { type EventObjects, type EventOptions, event, exception, info, warn } from './execution/handler-api/posting.js';
export { type ConditionOptions, type Conditions, conditions } from './execution/handler-api/conditions.js';
export type { Condition } from './values/objects/status-conditions.js';
export { DaemonStop, type StopReason, sleep } from './execution/stopping.js';
export { COPY, type Memo } from './execution/handler-api/memo.js';

// In which order handlers are called, and what is used where nothing is given.
export {
  allAtOnce,
  asap,
  type LifeCycle,
  type LifeCycleKwargs,
  oneByOne,
  randomized,
  shuffled,
} from './execution/lifecycles.js';
export {
  getDefaultLifecycle,
  getDefaultRegistry,
  setDefaultLifecycle,
  setDefaultRegistry,
} from './execution/defaults.js';

// What handlers throw.
export {
  ActivityError,
  AdmissionError,
  AmbiguousResourceError,
  ApiClientError,
  ApiConflictError,
  ApiError,
  type ApiErrorOptions,
  ApiForbiddenError,
  ApiGoneError,
  ApiNotFoundError,
  ApiServerError,
  type ApiStatus,
  ApiTooManyRequestsError,
  ApiUnauthorizedError,
  ApiUnprocessableError,
  ApplyConflictError,
  apiError,
  ContextError,
  type FieldConflict,
  FieldError,
  HandlerRetriesError,
  HandlerTimeoutError,
  KopfError,
  type KopfErrorOptions,
  LoginError,
  MissingDataError,
  PermanentError,
  RegistrationError,
  StepError,
  TemporaryError,
  UnknownResourceError,
  WebhookError,
} from './errors.js';

// Settings.
export {
  type AdmissionSettings,
  type BackgroundSettings,
  type ExecutionSettings,
  type InsightSettings,
  type MetricsSettings,
  type NetworkingSettings,
  type PeeringSettings,
  type PersistenceSettings,
  type PostingSettings,
  type ProcessSettings,
  type QueueingSettings,
  type ScanningSettings,
  type Settings,
  type SettingsOverrides,
  settings,
  type ServedObjects,
  type WatchingSettings,
} from './settings.js';

// The seams: what can be replaced, and what to implement for that.
export type { Awaitable } from './seams/awaitable.js';
export type {
  Api,
  ApiApplyOptions,
  ApiDeleteOptions,
  ApiEvent,
  ApiExecOptions,
  ApiExecResult,
  ApiJsonPatch,
  ApiFor,
  ApiListOptions,
  ApiLogOptions,
  ApiLogText,
  ApiPatchOptions,
  ApiPlace,
  ApiWatchOptions,
  ApiWriteOptions,
  DeepPartial,
  ObjectKind,
  ObjectsApi,
  ScaleApi,
  SelectedValue,
  Selection,
  SubresourceApi,
} from './seams/api.js';
export type { KubeClient, KubeRequest, PatchType, KubeConnection, KubeConnectRequest } from './seams/client.js';
export type { Clock, Seconds } from './seams/clock.js';
export type { Control, ControlledObject, ObjectQuery } from './seams/inspection/control.js';
export type { ConnectionInfo, Credentials, Impersonation } from './seams/credentials.js';
export type { HttpEndpoint, HttpPage, HttpSite, PageAnswer, PageRequest } from './seams/inspection/http-endpoint.js';
export type { Index, Indexer, IndexRef, Indices, Store } from './seams/memory/indexing.js';
export type { Insights } from './seams/inspection/insights.js';
export type { LogFields, Logger, LogLevel } from './seams/logger.js';
export type { Memos } from './seams/memory/memos.js';
export type {
  Fact,
  FactKind,
  FactOf,
  FactOrigin,
  ObservedHandler,
  ObservedObject,
  ObservedStream,
  Observer,
  Rejection,
  SentRequest,
} from './seams/inspection/observer.js';
export type { PauseReason, PausingToggle, Peering, PeeringScope } from './seams/peering.js';
export type { EventPoster, KubeEvent, KubeEventType } from './seams/poster.js';
export type { Scheduler } from './seams/scheduler.js';
export type { Service } from './seams/service.js';
export type { DiffBaseStorage, ProgressRecord, ProgressStorage, ReportMalformed } from './seams/memory/storage.js';
export type { Toggle } from './seams/toggle.js';
export type { TracedWork, Tracing } from './seams/inspection/tracing.js';
export type { ReviewFn, WebhookServer } from './seams/webhooks.js';
export type {
  AdmissionRequest,
  AdmissionResponse,
  GroupVersionKind,
  GroupVersionResource,
  ReviewHints,
  ReviewRequest,
  ReviewResponse,
  ReviewStatus,
  WebhookClientConfig,
  WebhookServiceReference,
} from './values/review.js';

// The cluster, for handlers.
export { type ApiOptions, api } from './cluster/api/verbs.js';

// Plain data, for plugins: prototypes are never reached, null means absence, nothing is changed in place unless named so.
export {
  type DeepReadonly,
  deepCopy,
  deepEqual,
  getOwn,
  isDeeperThan,
  isMapping,
  type Json,
  MAX_DEPTH,
  type Mapping,
  setOwn,
} from './values/json.js';
export {
  ensureField,
  type FieldPath,
  type FieldSpec,
  formatField,
  hasField,
  parseField,
  removeField,
  resolveField,
  type ValueAt,
} from './values/fields.js';
export { diff } from './values/diff.js';
export { buildEssence, type Essence, type EssenceOptions, removeEmptyStanzas } from './values/objects/essence.js';
export { digestOf, digestOnly, isDigestOnly } from './values/digest.js';
export type { HandlerId } from './values/ids.js';
export { formatTimestamp, parseTimestamp } from './values/timestamps.js';
export {
  buildObjectReference,
  buildOwnerReference,
  type ObjectReference,
  type OwnerReferenceOptions,
} from './values/objects/references.js';
