import { describe, expect, it } from 'vitest';
import type { WebhookCause } from '../../src/intents/causes.js';
import type { FilterOptions } from '../../src/intents/registration/options.js';
import { createRegistry, type Registry } from '../../src/intents/registration/registry.js';
import type { AnyObject } from '../../src/values/objects/body.js';
import { makeResource } from '../../src/values/resources/resource.js';
import { pods, someBody, webhookCause } from '../causation/make-causes.js';

function selected(declare: (on: Registry['on']) => unknown, request: Partial<WebhookCause> = {}): string[] {
  const registry = createRegistry();
  declare(registry.on);
  return registry.handlers.webhooks.select(webhookCause(someBody, request)).map(({ id }) => id);
}

describe('webhooks are meant by the address', () => {
  const both = (on: Registry['on']) => {
    on.validate('kopfexamples', function v1() {});
    on.mutate('kopfexamples', function m1() {});
    on.validate('kopfexamples', { field: 'spec.field' }, function v2() {});
  };

  it.each<[string, Partial<WebhookCause>, string[]]>([
    ['no hints', {}, ['v1', 'm1', 'v2/spec.field']],
    ['validating', { reason: 'validating' }, ['v1', 'v2/spec.field']],
    ['mutating', { reason: 'mutating' }, ['m1']],
    ['by the id', { webhook: 'v1' }, ['v1']],
    ['by the id with a field', { webhook: 'v2/spec.field' }, ['v2/spec.field']],
    ['by the id and the type', { webhook: 'm1', reason: 'mutating' }, ['m1']],
    ['by the id of another type', { webhook: 'm1', reason: 'validating' }, []],
    ['by a part of the id', { webhook: 'v2' }, []],
    ['by an unknown id', { webhook: 'v3' }, []],
    ['by an empty id', { webhook: '' }, []],
    ['of another resource', { resource: pods }, []],
  ])('%s', (_title, request, ids) => {
    expect(selected(both, request)).toEqual(ids);
  });
});

describe('webhooks are meant by the operation, also when they are served', () => {
  type Operations = readonly ('CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT')[] | undefined;

  it.each<[Operations, string | undefined, boolean, boolean]>([
    [undefined, 'CREATE', true, true],
    [undefined, 'UPDATE', true, true],
    [undefined, 'CONNECT', true, true],
    [undefined, 'DELETE', true, false],
    [undefined, undefined, true, true],
    [undefined, 'UNHEARD', true, true],
    [['CREATE'], 'CREATE', true, true],
    [['CREATE'], 'UPDATE', false, false],
    [['CREATE'], 'DELETE', false, false],
    [['CREATE'], 'UNHEARD', false, false],
    [['CREATE', 'UPDATE'], 'UPDATE', true, true],
    [['CREATE', 'DELETE'], 'DELETE', true, false],
    [['CREATE', 'DELETE'], 'CREATE', true, true],
    [['DELETE'], 'DELETE', true, true],
    [['DELETE', 'DELETE'], 'DELETE', true, true],
    [['DELETE'], 'CREATE', false, false],
    [['CONNECT'], 'CONNECT', true, true],
  ])('%j asked for %s: validating %s, mutating %s', (operations, operation, validates, mutates) => {
    const ids = selected(
      (on) => {
        on.validate('kopfexamples', { operations }, function validating() {});
        on.mutate('kopfexamples', { operations }, function mutating() {});
      },
      { operation },
    );
    expect(ids).toEqual([...(validates ? ['validating'] : []), ...(mutates ? ['mutating'] : [])]);
  });
});

describe('webhooks are meant by the subresource', () => {
  it.each<[string | undefined, string | undefined, boolean]>([
    [undefined, undefined, true],
    [undefined, 'status', false],
    ['status', 'status', true],
    ['status', 'scale', false],
    ['status', undefined, false],
    ['*', 'status', true],
    ['*', undefined, true],
  ])('%s asked for %s: %s', (subresource, requested, verdict) => {
    const ids = selected((on) => on.validate('kopfexamples', { subresource }, function fn() {}), {
      subresource: requested,
    });
    expect(ids).toEqual(verdict ? ['fn'] : []);
  });
});

describe('webhooks are meant by the object', () => {
  type Filters = FilterOptions<AnyObject, string, { operation: string; dryrun: boolean }>;

  it.each<[string, boolean, Filters]>([
    ['its labels', true, { labels: { app: 'web' } }],
    ['other labels', false, { labels: { app: 'db' } }],
    ['its annotations', true, { annotations: { note: 'x' } }],
    ['other annotations', false, { annotations: { note: 'y' } }],
    ['its field', true, { field: 'spec.field', value: 'value' }],
    ['another value', false, { field: 'spec.field', value: 'other' }],
    ['its callback', true, { when: ({ operation, dryrun }) => operation === 'CREATE' && !dryrun }],
    ['another callback', false, { when: ({ dryrun }) => dryrun }],
  ])('%s: %s', (_title, verdict, options) => {
    expect(selected((on) => on.validate('kopfexamples', options, function fn() {}))).toHaveLength(verdict ? 1 : 0);
  });

  it('of any resource, also of another version than the preferred one, if it is named', () => {
    const v2 = makeResource({ group: 'kopf.dev', version: 'v2', plural: 'kopfexamples', preferred: false });
    const declare = (on: Registry['on']) => {
      on.validate('kopfexamples', function preferred() {});
      on.validate('kopf.dev/v2/kopfexamples', function named() {});
    };
    expect(selected(declare, { resource: v2 })).toEqual(['named']);
  });

  it('each function once per id', () => {
    const declare = (on: Registry['on']) => {
      function fn() {}
      on.validate('kopfexamples', fn);
      on.validate('kopfexamples', fn);
      on.validate('kopfexamples', { id: 'other' }, fn);
    };
    expect(selected(declare)).toEqual(['fn', 'other']);
  });
});
