/**
 * The errors of the framework: few, meaningful to the user, and recognisable across copies of this package.
 *
 * An operator may end up with two copies of `@kopf-ts/core` in its tree (a plugin's and its own). `instanceof`
 * works across them: each class carries a mark under `Symbol.for()`, inherited by its instances, and asks for
 * the mark instead of for the prototype. The mark holds the literal name, since bundlers may rename a class.
 */

const marker = (name: string): symbol => Symbol.for(`kopf-ts.error.${name}`);

/** Marks a class and all its descendants, so that any copy of the class recognises their instances. */
function recognisable(cls: abstract new (...args: never[]) => Error, name: string): void {
  const mark = marker(name);
  Object.defineProperty(cls.prototype, mark, { value: true });
  Object.defineProperty(cls.prototype, 'name', { value: name, configurable: true, writable: true });
  Object.defineProperty(cls, Symbol.hasInstance, {
    value(this: unknown, instance: unknown): boolean {
      // A user's subclass has no mark of its own; for it, the ordinary check by prototype is the right one.
      if (this !== cls) return Function.prototype[Symbol.hasInstance].call(this, instance);
      return typeof instance === 'object' && instance !== null && mark in instance;
    },
  });
}

/**
 * What all errors of the framework can be given: a code, and the cause.
 *
 * ```ts
 * const options: kopf.KopfErrorOptions = { code: 'EXAMPLE_NO_QUOTA', cause: new Error('HTTP 507') };
 * throw new kopf.PermanentError('There is no quota left.', options);
 * ```
 */
export interface KopfErrorOptions extends ErrorOptions {
  /** A stable word for programs, e.g. `KOPF_BAD_SELECTOR`; the message is for people and may change. */
  readonly code?: string;
}

/**
 * The root of everything that the framework throws on its own behalf.
 *
 * ```ts
 * try {
 *   await kopf.run();
 * } catch (error) {
 *   if (error instanceof kopf.KopfError) console.error(error.code);
 * }
 * ```
 */
export class KopfError extends Error {
  readonly code: string;
  constructor(message?: string, options: KopfErrorOptions = {}) {
    super(message, options);
    this.code = options.code ?? 'KOPF_ERROR';
  }
}
recognisable(KopfError, 'KopfError');

/**
 * A mistake in how handlers are declared: thrown at the declaration, and says how to mend it.
 *
 * ```ts
 * const registry = kopf.createRegistry();
 * try {
 *   registry.verify();
 * } catch (error) {
 *   if (error instanceof kopf.RegistrationError) console.error(error.message);
 * }
 * ```
 */
export class RegistrationError extends KopfError {
  constructor(message: string, options: KopfErrorOptions = {}) {
    super(message, { code: 'KOPF_REGISTRATION', ...options });
  }
}
recognisable(RegistrationError, 'RegistrationError');

/**
 * A field path leads through a value that is not a mapping, or to a required field that does not exist.
 *
 * ```ts
 * try {
 *   kopf.ensureField({ spec: 'text' }, ['spec', 'size'], 1);
 * } catch (error) {
 *   console.error(error instanceof kopf.FieldError);
 * }
 * ```
 */
export class FieldError extends KopfError {
  constructor(message: string, options: KopfErrorOptions = {}) {
    super(message, { code: 'KOPF_FIELD', ...options });
  }
}
recognisable(FieldError, 'FieldError');

/**
 * A function that needs a running handler (an implicit owner, sub-handlers, events) is called outside of any.
 *
 * ```ts
 * try {
 *   kopf.adopt({ kind: 'Pod' }); // whose child would it be, outside of a handler?
 * } catch (error) {
 *   console.error(error instanceof kopf.ContextError);
 * }
 * ```
 */
export class ContextError extends KopfError {
  constructor(message: string, options: KopfErrorOptions = {}) {
    super(message, { code: 'KOPF_NO_CONTEXT', ...options });
  }
}
recognisable(ContextError, 'ContextError');

/**
 * Throw it from a handler to have it retried after the delay.
 *
 * ```ts
 * kopf.on.create('kopfexamples', ({ status }) => {
 *   if (status.volume === undefined) throw new kopf.TemporaryError('The volume is not ready yet.', { delay: 10 });
 * });
 * ```
 */
export class TemporaryError extends KopfError {
  /** Seconds until the next attempt; 0 or `undefined` (when given explicitly) retries at once. */
  readonly delay: number | undefined;
  constructor(message?: string, options: KopfErrorOptions & { readonly delay?: number | null | undefined } = {}) {
    super(message, { code: 'KOPF_TEMPORARY', ...options });
    this.delay = delayIn(message, options);
  }
}
recognisable(TemporaryError, 'TemporaryError');

function delayIn(message: unknown, options: unknown): number | undefined {
  const example = (delay: unknown): string => `new TemporaryError(${JSON.stringify(message)}, { delay: ${delay} })`;
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`Pass the delay by its name: ${example(typeof options === 'number' ? options : 60)}.`);
  }
  if (!('delay' in options)) return 60;
  const delay = options.delay ?? undefined;
  if (delay !== undefined && (typeof delay !== 'number' || !Number.isFinite(delay))) {
    const wrong = typeof delay === 'string' ? JSON.stringify(delay) : String(delay);
    throw new TypeError(`A delay is a number of seconds, and not ${wrong}: ${example(60)}.`);
  }
  return delay;
}

/**
 * Throw it from a handler to fail it for good: it is not retried for this change of the object.
 *
 * ```ts
 * kopf.on.create('kopfexamples', ({ spec }) => {
 *   if (spec.size > 1000) throw new kopf.PermanentError('There are no disks of this size.');
 * });
 * ```
 */
export class PermanentError extends KopfError {
  constructor(message?: string, options: KopfErrorOptions = {}) {
    super(message, { code: 'KOPF_PERMANENT', ...options });
  }
}
recognisable(PermanentError, 'PermanentError');

/**
 * The handler has run (or would run) out of its `timeout`.
 *
 * ```ts
 * const wasTooSlow = (error: unknown): boolean => error instanceof kopf.HandlerTimeoutError;
 * ```
 */
export class HandlerTimeoutError extends PermanentError {
  constructor(message?: string, options: KopfErrorOptions = {}) {
    super(message, { code: 'KOPF_HANDLER_TIMEOUT', ...options });
  }
}
recognisable(HandlerTimeoutError, 'HandlerTimeoutError');

/**
 * The handler has used (or would use) up its `retries`.
 *
 * ```ts
 * const hasGivenUp = (error: unknown): boolean => error instanceof kopf.HandlerRetriesError;
 * ```
 */
export class HandlerRetriesError extends PermanentError {
  constructor(message?: string, options: KopfErrorOptions = {}) {
    super(message, { code: 'KOPF_HANDLER_RETRIES', ...options });
  }
}
recognisable(HandlerRetriesError, 'HandlerRetriesError');

/**
 * A step of a handler has failed for good, now or in an earlier attempt of the handler. Unless it is caught, the handler
 * fails for good, too. What the step has thrown is its `cause`, as long as the operator remembers that.
 *
 * ```ts
 * kopf.on.create('kopfexamples', async ({ logger }) => {
 *   try {
 *     await kopf.step('dns', { retries: 3 }, async () => 'a.example.com');
 *   } catch (error) {
 *     if (!(error instanceof kopf.StepError)) throw error;
 *     logger.warn(`It goes without a name: ${error.message}`);
 *   }
 * });
 * ```
 */
export class StepError extends PermanentError {
  constructor(message?: string, options: KopfErrorOptions = {}) {
    super(message, { code: 'KOPF_STEP', ...options });
  }
}
recognisable(StepError, 'StepError');

/**
 * Throw it from an admission handler to refuse the request, with an HTTP-like code and a message to the person.
 *
 * ```ts
 * kopf.on.validate('kopfexamples', ({ spec }) => {
 *   if (spec.size === undefined) throw new kopf.AdmissionError('The size is missing.', { code: 400 });
 * });
 * ```
 */
export class AdmissionError extends PermanentError {
  readonly status: number;
  constructor(message = '', options: Omit<KopfErrorOptions, 'code'> & { readonly code?: number } = {}) {
    const { code, ...rest } = options;
    super(message, { ...rest, code: 'KOPF_ADMISSION' });
    this.status = code ?? 500;
  }
}
recognisable(AdmissionError, 'AdmissionError');

/**
 * An admission request cannot be reviewed: no handler has decided, so nothing is allowed.
 *
 * ```ts
 * const isUnreviewable = (error: unknown): boolean => error instanceof kopf.WebhookError;
 * ```
 */
export class WebhookError extends KopfError {
  constructor(message: string, options: KopfErrorOptions = {}) {
    super(message, { code: 'KOPF_WEBHOOK', ...options });
  }
}
recognisable(WebhookError, 'WebhookError');

/**
 * A required part of an admission review is missing or malformed.
 *
 * ```ts
 * const isMalformedReview = (error: unknown): boolean => error instanceof kopf.MissingDataError;
 * ```
 */
export class MissingDataError extends WebhookError {
  constructor(message: string, options: KopfErrorOptions = {}) {
    super(message, { code: 'KOPF_WEBHOOK_DATA', ...options });
  }
}
recognisable(MissingDataError, 'MissingDataError');

/**
 * An admission request names a kind that is not served here or a handler that does not exist.
 *
 * ```ts
 * const isNotServedHere = (error: unknown): boolean => error instanceof kopf.UnknownResourceError;
 * ```
 */
export class UnknownResourceError extends WebhookError {
  constructor(message: string, options: KopfErrorOptions = {}) {
    super(message, { code: 'KOPF_WEBHOOK_UNKNOWN', ...options });
  }
}
recognisable(UnknownResourceError, 'UnknownResourceError');

/**
 * An admission request matches several kinds, so it is ambiguous.
 *
 * ```ts
 * const isOurMistake = (error: unknown): boolean => error instanceof kopf.AmbiguousResourceError;
 * ```
 */
export class AmbiguousResourceError extends WebhookError {
  constructor(message: string, options: KopfErrorOptions = {}) {
    super(message, { code: 'KOPF_WEBHOOK_AMBIGUOUS', ...options });
  }
}
recognisable(AmbiguousResourceError, 'AmbiguousResourceError');

/**
 * One or more handlers of an activity (startup, cleanup, login, probe) have failed for good.
 *
 * ```ts
 * kopf.run().catch((error) => {
 *   if (error instanceof kopf.ActivityError) console.error([...error.outcomes.keys()]);
 * });
 * ```
 */
export class ActivityError extends KopfError {
  /** The outcomes of all handlers of that activity, by handler id. */
  readonly outcomes: ReadonlyMap<string, unknown>;
  constructor(message: string, options: KopfErrorOptions & { readonly outcomes: ReadonlyMap<string, unknown> }) {
    super(message, { code: 'KOPF_ACTIVITY', ...options });
    this.outcomes = options.outcomes;
  }
}
recognisable(ActivityError, 'ActivityError');

/**
 * There are no usable credentials for the cluster.
 *
 * ```ts
 * kopf.on.login(() => {
 *   if (process.env.CLUSTER_TOKEN === undefined) throw new kopf.LoginError('CLUSTER_TOKEN is not set.');
 *   return { server: 'https://cluster.example.com:6443', token: process.env.CLUSTER_TOKEN };
 * });
 * ```
 */
export class LoginError extends KopfError {
  constructor(message: string, options: KopfErrorOptions = {}) {
    super(message, { code: 'KOPF_LOGIN', ...options });
  }
}
recognisable(LoginError, 'LoginError');

/**
 * The `Status` object that Kubernetes answers with when it refuses a request.
 *
 * ```ts
 * const reasonOf = (error: kopf.ApiError): string | undefined => (error.payload as kopf.ApiStatus | undefined)?.reason;
 * ```
 */
export interface ApiStatus {
  readonly kind: 'Status';
  readonly code?: number;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * The parts of an {@link ApiError}: the server's response.
 *
 * ```ts
 * const options: kopf.ApiErrorOptions = { status: 429, retryAfter: 1 };
 * ```
 */
export interface ApiErrorOptions extends ErrorOptions {
  readonly status: number;
  /** The response body, if it is a `Status` or a text; any other JSON is dropped, since it may hold secrets. */
  readonly payload?: unknown;
  /** Seconds to wait before the next request, if the server said so. */
  readonly retryAfter?: number | undefined;
  /** A description of the request; it precedes the server's message. */
  readonly title?: string | undefined;
}

const MAX_TEXT = 256;

function statusOf(payload: unknown): ApiStatus | undefined {
  const isStatus = typeof payload === 'object' && payload !== null && (payload as ApiStatus).kind === 'Status';
  return isStatus ? (payload as ApiStatus) : undefined;
}

function textOf(payload: unknown): string | undefined {
  if (typeof payload !== 'string' || payload.trim() === '') return undefined;
  const text = payload.trim();
  return text.length < MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 3)}...`;
}

/**
 * The API server answered with an error. Told apart by class or by `status`; the server's words are kept.
 *
 * ```ts
 * const isTrouble = (error: unknown): boolean => error instanceof kopf.ApiError && error.status >= 500;
 * ```
 */
export class ApiError extends KopfError {
  readonly status: number;
  readonly reason: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly payload: ApiStatus | string | undefined;
  readonly retryAfter: number | undefined;
  constructor(options: ApiErrorOptions) {
    const status = statusOf(options.payload);
    const payload = status ?? textOf(options.payload);
    const words = status?.message ?? textOf(options.payload) ?? `HTTP ${options.status}`;
    super(options.title === undefined ? words : `${options.title}: ${words}`, {
      ...('cause' in options ? { cause: options.cause } : {}),
      code: `KOPF_API_${options.status}`,
    });
    this.status = options.status;
    this.reason = status?.reason;
    this.details = status?.details;
    this.payload = payload;
    this.retryAfter = options.retryAfter;
  }
}
recognisable(ApiError, 'ApiError');

/**
 * Any 4xx status without a class of its own.
 *
 * ```ts
 * const isRefused = (error: unknown): boolean => error instanceof kopf.ApiClientError; // not: the server is down
 * ```
 */
export class ApiClientError extends ApiError {}
recognisable(ApiClientError, 'ApiClientError');
/**
 * HTTP 401: the credentials are invalid or no longer valid.
 *
 * ```ts
 * const mustLogInAgain = (error: unknown): boolean => error instanceof kopf.ApiUnauthorizedError;
 * ```
 */
export class ApiUnauthorizedError extends ApiClientError {}
recognisable(ApiUnauthorizedError, 'ApiUnauthorizedError');
/** What to write into the `rules` of a role. */
export interface MissingRule {
  readonly group: string;
  /** With its subresource, if any: `pods/log`. */
  readonly resource: string;
  readonly verbs: readonly string[];
  /** Where a role is enough; `undefined` needs a cluster role. */
  readonly namespace?: string | undefined;
}

const REFUSED = /cannot (\S+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?/;
const REFUSED_PATH = /cannot (\S+) path "([^"]+)"/;

/**
 * Describes the missing permission, parsed from the server's message, for the end of an error message. Empty if the
 * message is about something else.
 */
function missingPermission(words: string): string {
  const [, verb = '', resource, group = '', namespace] = REFUSED.exec(words) ?? [];
  if (resource !== undefined) return missingRule({ group, resource, verbs: verbsWith(verb), namespace });
  const [, method, path] = REFUSED_PATH.exec(words) ?? [];
  if (path === undefined) return '';
  return `Missing in a ClusterRole: { nonResourceURLs: [${quoted([path])}], verbs: [${quoted([method ?? 'get'])}] }`;
}

/** The rule in YAML, on one line, and where to put it. */
export function missingRule({ group, resource, verbs, namespace }: MissingRule): string {
  const where = namespace === undefined ? 'a ClusterRole' : `a Role of the namespace "${namespace}"`;
  const rule = `{ apiGroups: [${quoted([group])}], resources: [${quoted([resource])}], verbs: [${quoted(verbs)}] }`;
  return `Missing in ${where}: ${rule}`;
}

/** Objects are listed first and then watched, so both verbs are needed. */
function verbsWith(verb: string): readonly string[] {
  return verb === 'list' || verb === 'watch' ? ['list', 'watch'] : [verb];
}

function quoted(texts: readonly string[]): string {
  return texts.map((text) => JSON.stringify(text)).join(', ');
}

/**
 * HTTP 403: the operator's account lacks permissions, or an admission webhook has refused the request.
 *
 * ```ts
 * const lacksPermissions = (error: unknown): boolean => error instanceof kopf.ApiForbiddenError;
 * ```
 */
export class ApiForbiddenError extends ApiClientError {
  constructor(options: ApiErrorOptions) {
    super(options);
    // The server says what was refused; users want to know what to grant.
    const missing = missingPermission(this.message);
    if (missing !== '') this.message = `${this.message}. ${missing}`;
  }
}
recognisable(ApiForbiddenError, 'ApiForbiddenError');
/**
 * HTTP 404: the object, or its kind, does not exist.
 *
 * ```ts
 * await client.request({ method: 'DELETE', path: '/api/v1/namespaces/old' }).catch((error: unknown) => {
 *   if (!(error instanceof kopf.ApiNotFoundError)) throw error;
 * });
 * ```
 */
export class ApiNotFoundError extends ApiClientError {}
recognisable(ApiNotFoundError, 'ApiNotFoundError');
/**
 * HTTP 409: the object already exists, or somebody else has changed it meanwhile.
 *
 * ```ts
 * await client.request({ method: 'POST', path: '/api/v1/namespaces', body }).catch((error: unknown) => {
 *   if (!(error instanceof kopf.ApiConflictError)) throw error;
 * });
 * ```
 */
export class ApiConflictError extends ApiClientError {}
recognisable(ApiConflictError, 'ApiConflictError');
/**
 * A field that another manager owns with a different value.
 *
 * ```ts
 * const shown = ({ field, manager }: kopf.FieldConflict): string => `${field} is managed by ${manager}`;
 * ```
 */
export interface FieldConflict {
  /** As the server has it: `.spec.replicas`. */
  readonly field: string;
  readonly manager: string;
}

/**
 * HTTP 409 of an apply: other managers own some of the fields with different values. Leave these fields out, agree with
 * the other managers, or take the fields over by `force: true`.
 *
 * ```ts
 * const fieldsOfOthers = (error: unknown): readonly string[] =>
 *   error instanceof kopf.ApplyConflictError ? error.conflicts.map(({ field }) => field) : [];
 * ```
 */
export class ApplyConflictError extends ApiConflictError {
  readonly conflicts: readonly FieldConflict[];
  constructor(options: ApiErrorOptions) {
    super(options);
    this.conflicts = conflictsIn(this.details);
  }
}
recognisable(ApplyConflictError, 'ApplyConflictError');

const MANAGER = /^conflict with "((?:[^"\\]|\\.)*)"/;

/** Empty if it is a conflict of another sort. */
export function conflictsIn(details: ApiError['details']): readonly FieldConflict[] {
  const causes = Array.isArray(details?.['causes']) ? (details['causes'] as readonly unknown[]) : [];
  return causes.flatMap((cause) => {
    const { reason, field, message } = (cause ?? {}) as Readonly<Record<string, unknown>>;
    if (reason !== 'FieldManagerConflict' || typeof field !== 'string') return [];
    return { field, manager: MANAGER.exec(String(message))?.[1] ?? '' };
  });
}

/**
 * HTTP 410: the requested version of a resource is too old; list again.
 *
 * ```ts
 * const mustListAgain = (error: unknown): boolean => error instanceof kopf.ApiGoneError;
 * ```
 */
export class ApiGoneError extends ApiClientError {}
recognisable(ApiGoneError, 'ApiGoneError');
/**
 * HTTP 422: the object, or the patch of it, is invalid.
 *
 * ```ts
 * const isInvalid = (error: unknown): boolean => error instanceof kopf.ApiUnprocessableError;
 * ```
 */
export class ApiUnprocessableError extends ApiClientError {}
recognisable(ApiUnprocessableError, 'ApiUnprocessableError');
/**
 * HTTP 429: the server asks for a pause, usually of `retryAfter` seconds.
 *
 * ```ts
 * const pauseOf = (error: unknown) => (error instanceof kopf.ApiTooManyRequestsError ? (error.retryAfter ?? 1) : 0);
 * ```
 */
export class ApiTooManyRequestsError extends ApiClientError {}
recognisable(ApiTooManyRequestsError, 'ApiTooManyRequestsError');
/**
 * HTTP 5xx: the server is in trouble; the same request may succeed later.
 *
 * ```ts
 * const isTrouble = (error: unknown): boolean => error instanceof kopf.ApiServerError;
 * ```
 */
export class ApiServerError extends ApiError {}
recognisable(ApiServerError, 'ApiServerError');

const byStatus: Readonly<Record<number, new (options: ApiErrorOptions) => ApiError>> = {
  401: ApiUnauthorizedError,
  403: ApiForbiddenError,
  404: ApiNotFoundError,
  409: ApiConflictError,
  410: ApiGoneError,
  422: ApiUnprocessableError,
  429: ApiTooManyRequestsError,
};

/**
 * The error of the right class for an HTTP status: what a client throws for any answer of 400 and above.
 *
 * ```ts
 * const answer = await fetch('https://cluster.example.com:6443/api/v1/pods');
 * if (!answer.ok) throw kopf.apiError({ status: answer.status, payload: await answer.json() });
 * ```
 */
export function apiError(options: ApiErrorOptions): ApiError {
  const { status } = options;
  const named = byStatus[status];
  if (named) return new named(options);
  if (status >= 400 && status < 500) return new ApiClientError(options);
  if (status >= 500 && status < 600) return new ApiServerError(options);
  return new ApiError(options);
}

/** What to say of an error in a log line or in a record: its text, or its class where it has no text. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return describeNonError(error);
  if (error.message !== '') return error.message;
  // People outside of the cluster read these, and some match them: the same text as Kopf's, whose default is a text, too.
  return error instanceof AdmissionError ? `${classNameOf(error)}('')` : `${classNameOf(error)}()`;
}

/**
 * The name of the error's own class. A subclass without a `name` inherits that of its parent, which would tell less than
 * the class does; but where a class has a name of its own, it is the right one, as bundlers may rename the class.
 */
function classNameOf(error: Error): string {
  const prototype: unknown = Object.getPrototypeOf(error);
  const isNamed = Object.hasOwn(error, 'name') || (prototype instanceof Object && Object.hasOwn(prototype, 'name'));
  return (isNamed ? error.name : error.constructor?.name) || error.name || 'Error';
}

function describeNonError(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown === '' ? "''" : thrown;
  try {
    return typeof thrown === 'object' ? (JSON.stringify(thrown) ?? String(thrown)) : String(thrown);
  } catch {
    return Object.prototype.toString.call(thrown);
  }
}

/** Whatever was thrown, as an error: JavaScript permits throwing anything. */
export function toError(thrown: unknown): Error {
  try {
    if (!(thrown instanceof Error)) {
      return new KopfError(describeNonError(thrown), { code: 'KOPF_NON_ERROR', cause: thrown });
    }
    // All that is asked of errors later. What cannot be read must not break those who read it.
    if (typeof thrown.message === 'string' && typeof thrown.name === 'string') return thrown;
  } catch {
    // Getters and proxies can throw at whatever is asked of them.
  }
  return new KopfError('An unreadable value was thrown.', { code: 'KOPF_NON_ERROR' });
}

/** Their texts say what is wrong outside of the code, and what to do; where it was noticed does not help. */
const EXPLAINED: ReadonlySet<string> = new Set([
  'KOPF_BAD_ANSWER',
  'KOPF_BAD_ENDPOINT',
  'KOPF_BAD_JSON',
  'KOPF_CONNECTION',
  'KOPF_LOGIN',
  'KOPF_NO_ADMISSION_SERVER',
  'KOPF_TIMEOUT',
  'KOPF_TOO_LARGE',
  // What the handlers themselves have failed with is logged when it happens, with its stack.
  'KOPF_ACTIVITY',
  'KOPF_STRAY',
]);

/** What to log beside the text of an error: the error with its stack, unless the text says it all. */
export function stackOf(thrown: unknown): { readonly error?: Error } {
  const error = toError(thrown);
  const isExplained = error instanceof ApiError || (error instanceof KopfError && EXPLAINED.has(error.code));
  return isExplained ? {} : { error };
}
