import { apiError, KopfError } from '@kopf-ts/core';
import { isTooLarge, retryable } from '@kopf-ts/core/engine';
import { describe, expect, it } from 'vitest';
import { isDenied } from '../../src/cluster/retryable.js';

const answer = (status: number, message = 'oops', details: Record<string, unknown> = {}) =>
  apiError({ status, payload: { kind: 'Status', message, details } });

const tooLong = { causes: [{ reason: 'FieldValueTooLong', field: 'metadata.annotations' }] };

describe('the same request may succeed', () => {
  it.each([
    ['HTTP 500', answer(500)],
    ['HTTP 503', answer(503)],
    ['HTTP 429', answer(429)],
    ['a broken connection', new KopfError('The connection failed.', { code: 'KOPF_CONNECTION' })],
    ['a broken connection of fetch()', new TypeError('fetch failed')],
    ['what is no error at all', 'oops'],
  ])('later, after %s', (_what, error) => {
    expect(retryable(error)).toBe('later');
  });

  it.each([401, 403, 404, 408, 409, 666])('after changes by others, after HTTP %i', (status) => {
    expect(retryable(answer(status))).toBe('after-changes');
  });

  it.each([
    ['HTTP 400', answer(400)],
    ['HTTP 405', answer(405)],
    ['HTTP 410', answer(410)],
    ['HTTP 413', answer(413)],
    ['HTTP 422', answer(422)],
    ['a webhook that denies it, whatever its code', answer(503, 'admission webhook "x" denied the request: no')],
    ['a policy that denies it', answer(403, "ValidatingAdmissionPolicy 'x' with binding 'y' denied request: no")],
    ['an object that is too large for etcd', answer(500, 'etcdserver: request is too large')],
    ['a number that would come out changed', new KopfError('Not exact.', { code: 'KOPF_LOSSY_INTEGER' })],
  ])('never, after %s', (_what, error) => {
    expect(retryable(error)).toBe('never');
  });
});

it('only answers of the cluster are denials or complaints about the size', () => {
  expect(isDenied(new Error('denied the request'))).toBe(false);
  expect(isTooLarge(new Error('request is too large'))).toBe(false);
  expect(isTooLarge(answer(422, 'oops', tooLong))).toBe(true);
});
