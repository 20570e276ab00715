import { describe, expect, it, vi } from 'vitest';
import * as errors from '../src/errors.js';

type Errors = typeof errors;

async function secondCopy(): Promise<Errors> {
  vi.resetModules();
  const copy = await import('../src/errors.js');
  expect(copy.KopfError).not.toBe(errors.KopfError);
  return copy;
}

const api = { status: 500 };
const samples: [name: keyof Errors, parent: keyof Errors | undefined, make: (from: Errors) => Error][] = [
  ['KopfError', undefined, (from) => new from.KopfError('x')],
  ['RegistrationError', 'KopfError', (from) => new from.RegistrationError('x')],
  ['FieldError', 'KopfError', (from) => new from.FieldError('x')],
  ['ContextError', 'KopfError', (from) => new from.ContextError('x')],
  ['TemporaryError', 'KopfError', (from) => new from.TemporaryError('x')],
  ['PermanentError', 'KopfError', (from) => new from.PermanentError('x')],
  ['HandlerTimeoutError', 'PermanentError', (from) => new from.HandlerTimeoutError('x')],
  ['HandlerRetriesError', 'PermanentError', (from) => new from.HandlerRetriesError('x')],
  ['AdmissionError', 'PermanentError', (from) => new from.AdmissionError('x')],
  ['ActivityError', 'KopfError', (from) => new from.ActivityError('x', { outcomes: new Map() })],
  ['LoginError', 'KopfError', (from) => new from.LoginError('x')],
  ['ApiError', 'KopfError', (from) => new from.ApiError(api)],
  ['ApiClientError', 'ApiError', (from) => new from.ApiClientError(api)],
  ['ApiUnauthorizedError', 'ApiClientError', (from) => new from.ApiUnauthorizedError(api)],
  ['ApiForbiddenError', 'ApiClientError', (from) => new from.ApiForbiddenError(api)],
  ['ApiNotFoundError', 'ApiClientError', (from) => new from.ApiNotFoundError(api)],
  ['ApiConflictError', 'ApiClientError', (from) => new from.ApiConflictError(api)],
  ['ApiGoneError', 'ApiClientError', (from) => new from.ApiGoneError(api)],
  ['ApiUnprocessableError', 'ApiClientError', (from) => new from.ApiUnprocessableError(api)],
  ['ApiTooManyRequestsError', 'ApiClientError', (from) => new from.ApiTooManyRequestsError(api)],
  ['ApiServerError', 'ApiError', (from) => new from.ApiServerError(api)],
];

type ErrorClass = abstract new (...args: never[]) => Error;
const classOf = (from: Errors, name: keyof Errors) => from[name] as unknown as ErrorClass;

/** The class itself and all above it. */
function ancestry(name: keyof Errors): (keyof Errors)[] {
  const parent = samples.find(([sample]) => sample === name)?.[1];
  return parent === undefined ? [name] : [name, ...ancestry(parent)];
}

describe.each(samples)('%s', (name, _parent, make) => {
  it('is an error with its name', () => {
    const error = make(errors);
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe(name);
    expect(error.stack).toContain('errors.test');
    expect(Object.keys(error)).not.toContain('name');
  });

  it('is an instance of its own class and those above it, and of no other', () => {
    const own = samples.filter(([other]) => make(errors) instanceof classOf(errors, other)).map(([other]) => other);
    expect(new Set(own)).toEqual(new Set(ancestry(name)));
  });

  it('is recognised by another copy of the module, both ways, in the same way', async () => {
    const copy = await secondCopy();
    const seenByCopy = samples
      .filter(([other]) => make(errors) instanceof classOf(copy, other))
      .map(([other]) => other);
    const seenByUs = samples.filter(([other]) => make(copy) instanceof classOf(errors, other)).map(([other]) => other);
    expect(new Set(seenByCopy)).toEqual(new Set(ancestry(name)));
    expect(new Set(seenByUs)).toEqual(new Set(ancestry(name)));
  });
});

it.each([[undefined], [null], ['text'], [{}], [new Error('x')], [{ name: 'KopfError' }]])(
  '%s is not ours',
  (thrown) => {
    expect(thrown instanceof errors.KopfError).toBe(false);
  },
);

describe('classes of users', () => {
  class QuotaError extends errors.TemporaryError {
    override readonly name = 'QuotaError';
  }
  class OtherError extends errors.TemporaryError {}

  it('are recognised as what they extend, in any copy', async () => {
    const copy = await secondCopy();
    const error = new QuotaError('x', { delay: 5 });
    expect(error).toBeInstanceOf(QuotaError);
    expect(error).toBeInstanceOf(errors.TemporaryError);
    expect(error).toBeInstanceOf(copy.TemporaryError);
    expect(error).not.toBeInstanceOf(copy.PermanentError);
    expect(error.name).toBe('QuotaError');
    expect(error.delay).toBe(5);
  });

  it('do not take others of the same parent for their own', () => {
    expect(new OtherError('x')).not.toBeInstanceOf(QuotaError);
    expect(new errors.TemporaryError('x')).not.toBeInstanceOf(QuotaError);
  });
});

describe('codes and causes', () => {
  it.each<[Error, string]>([
    [new errors.KopfError('x'), 'KOPF_ERROR'],
    [new errors.KopfError('x', { code: 'KOPF_OTHER' }), 'KOPF_OTHER'],
    [new errors.RegistrationError('x'), 'KOPF_REGISTRATION'],
    [new errors.FieldError('x'), 'KOPF_FIELD'],
    [new errors.FieldError('x', { code: 'KOPF_FIELD_ABSENT' }), 'KOPF_FIELD_ABSENT'],
    [new errors.ContextError('x'), 'KOPF_NO_CONTEXT'],
    [new errors.TemporaryError('x'), 'KOPF_TEMPORARY'],
    [new errors.PermanentError('x'), 'KOPF_PERMANENT'],
    [new errors.HandlerTimeoutError('x'), 'KOPF_HANDLER_TIMEOUT'],
    [new errors.HandlerRetriesError('x'), 'KOPF_HANDLER_RETRIES'],
    [new errors.AdmissionError('x', { code: 422 }), 'KOPF_ADMISSION'],
    [new errors.LoginError('x'), 'KOPF_LOGIN'],
    [new errors.ActivityError('x', { outcomes: new Map() }), 'KOPF_ACTIVITY'],
    [new errors.ApiError({ status: 418 }), 'KOPF_API_418'],
  ])('%s has the code %s', (error, code) => {
    expect(error).toHaveProperty('code', code);
  });

  it('the cause is kept where given, and is not made up where not', () => {
    const cause = new Error('root');
    expect(new errors.TemporaryError('x', { cause }).cause).toBe(cause);
    expect(new errors.AdmissionError('x', { cause }).cause).toBe(cause);
    expect(new errors.ApiError({ status: 500, cause }).cause).toBe(cause);
    expect('cause' in new errors.ApiError({ status: 500 })).toBe(false);
    expect('cause' in new errors.KopfError('x')).toBe(false);
  });
});

describe('own data', () => {
  it.each([
    [new errors.TemporaryError('x'), 60],
    [new errors.TemporaryError('x', {}), 60],
    [new errors.TemporaryError('x', { delay: 5 }), 5],
    [new errors.TemporaryError('x', { delay: 0 }), 0],
    [new errors.TemporaryError('x', { delay: undefined }), undefined],
    [new errors.TemporaryError('x', { delay: null }), undefined],
  ])('a temporary error knows its delay (%#)', (error, delay) => {
    expect(error.delay).toBe(delay);
  });

  it('an admission error knows its status, 500 by default, and needs no message', () => {
    expect(new errors.AdmissionError('x', { code: 422 }).status).toBe(422);
    expect(new errors.AdmissionError().status).toBe(500);
    expect(new errors.AdmissionError().message).toBe('');
  });

  it('an activity error knows what became of its handlers', () => {
    const outcomes = new Map([['fn', 'failed']]);
    expect(new errors.ActivityError('x', { outcomes }).outcomes).toBe(outcomes);
  });
});

describe('errors of the API', () => {
  it.each<[number, keyof Errors]>([
    [400, 'ApiClientError'],
    [401, 'ApiUnauthorizedError'],
    [403, 'ApiForbiddenError'],
    [404, 'ApiNotFoundError'],
    [409, 'ApiConflictError'],
    [410, 'ApiGoneError'],
    [418, 'ApiClientError'],
    [422, 'ApiUnprocessableError'],
    [429, 'ApiTooManyRequestsError'],
    [500, 'ApiServerError'],
    [503, 'ApiServerError'],
    [666, 'ApiError'],
    [302, 'ApiError'],
  ])('HTTP %i is %s', (status, name) => {
    const error = errors.apiError({ status });
    expect(error.name).toBe(name);
    expect(error.constructor).toBe(classOf(errors, name));
    expect(error.status).toBe(status);
  });

  it('a Status of Kubernetes is kept, and speaks for itself', () => {
    const payload = { kind: 'Status', code: 404, message: 'boo!', reason: 'NotFound', details: { a: 'b' } };
    const error = errors.apiError({ status: 404, payload, retryAfter: 5 });
    expect(error.message).toBe('boo!');
    expect(error.reason).toBe('NotFound');
    expect(error.details).toEqual({ a: 'b' });
    expect(error.payload).toBe(payload);
    expect(error.retryAfter).toBe(5);
  });

  it('a Status without a message still has one', () => {
    expect(errors.apiError({ status: 404, payload: { kind: 'Status' } }).message).toBe('HTTP 404');
  });

  it('a text is kept, shortened if long', () => {
    expect(errors.apiError({ status: 500, payload: ' oops \n' }).message).toBe('oops');
    const error = errors.apiError({ status: 500, payload: 'x'.repeat(1000) });
    expect(error.message).toBe(`${'x'.repeat(253)}...`);
    expect(error.payload).toBe(error.message);
  });

  it.each([
    [{ kind: 'Secret', data: { password: 'hunter2' } }],
    [{ password: 'hunter2' }],
    [['hunter2']],
    ['   '],
    [''],
    [null],
    [undefined],
  ])('of the payload %j nothing is kept', (payload) => {
    const error = errors.apiError({ status: 500, payload });
    expect(error.message).toBe('HTTP 500');
    expect(error.payload).toBe(undefined);
    expect(JSON.stringify({ ...error, stack: error.stack })).not.toContain('hunter2');
  });
});

describe('describing', () => {
  it.each([
    [new Error('boo!'), 'boo!'],
    [new TypeError(''), 'TypeError()'],
    [new errors.PermanentError(), 'PermanentError()'],
    [new errors.AdmissionError(), "AdmissionError('')"],
    [new errors.AdmissionError(''), "AdmissionError('')"],
    [new (class NoQuota extends errors.AdmissionError {})(), "NoQuota('')"],
    [new (class Prm extends errors.PermanentError {})(), 'Prm()'],
    [new (class Later extends errors.TemporaryError {})(), 'Later()'],
    [new (class Prm extends errors.PermanentError {})('text'), 'text'],
    [new (class Odd extends TypeError {})(), 'Odd()'],
    [new (class extends errors.PermanentError {})(), 'PermanentError()'],
    [Object.assign(new (class Odd extends TypeError {})(), { name: 'Named' }), 'Named()'],
    [Object.assign(new Error(), { constructor: undefined }), 'Error()'],
    ['text', 'text'],
    ['', "''"],
    [5, '5'],
    [undefined, 'undefined'],
    [null, 'null'],
    [{ a: 1 }, '{"a":1}'],
    [Symbol('x'), 'Symbol(x)'],
  ])('%s is described as %j', (thrown, text) => {
    expect(errors.describeError(thrown)).toBe(text);
  });

  it('what cannot be put into JSON is described anyway', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    expect(errors.describeError(cyclic)).toBe('[object Object]');
  });

  it('errors stay as they are; all else becomes one, with the thrown value as the cause', () => {
    const error = new TypeError('boo!');
    expect(errors.toError(error)).toBe(error);
    const wrapped = errors.toError('text');
    expect(wrapped).toMatchObject({ name: 'KopfError', message: 'text', code: 'KOPF_NON_ERROR', cause: 'text' });
  });

  it.each([
    ['whose message cannot be read', () => Object.defineProperty(new Error(), 'message', { get: refuse })],
    ['whose message is a symbol', () => Object.assign(new Error(), { message: Symbol('no') })],
    ['that is a revoked proxy', revoked],
    ['that is a proxy which refuses everything', () => new Proxy(new Error(), { get: refuse, getPrototypeOf: refuse })],
  ])('one %s is replaced by one that can be read', (_title, make) => {
    const error = errors.toError(make());
    expect(error).toMatchObject({ code: 'KOPF_NON_ERROR', message: 'An unreadable value was thrown.' });
  });
});

function refuse(): never {
  throw new Error('no');
}

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable(new Error(), {});
  revoke();
  return proxy;
}
