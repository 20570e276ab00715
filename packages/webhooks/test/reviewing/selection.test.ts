import { type Operation, type Registry, type ReviewHints, UnknownResourceError } from '@kopf-ts/core';
import { makeResource } from '@kopf-ts/core/engine';
import { describe, expect, it } from 'vitest';
import { EXAMPLES, knowing, objectOf, reviewed } from './reviewed.js';

type Request = Parameters<ReturnType<typeof reviewed>['ask']>[0];

/** Which handlers are called for a review; all of them say their ids. */
function calling(declare: (on: Registry['on'], say: (id: string) => () => void) => void) {
  const called: string[] = [];
  const { ask, logger } = reviewed(({ on }) => declare(on, (id) => () => void called.push(id)));
  return {
    logger,
    async called(request: Request = {}, hints?: ReviewHints) {
      called.length = 0;
      const response = await ask(request, hints);
      return { called: [...called], response };
    },
  };
}

const four = () =>
  calling((on, say) => {
    on.validate('kopfexamples', { id: 'v1' }, say('v1'));
    on.mutate('kopfexamples', { id: 'm1' }, say('m1'));
    on.validate('kopfexamples', { id: 'v2' }, say('v2'));
    on.mutate('kopfexamples', { id: 'm2' }, say('m2'));
  });

describe('handlers are called', () => {
  it.each<[string, ReviewHints | undefined, string[]]>([
    ['all of them, if the server says nothing', undefined, ['v1', 'm1', 'v2', 'm2']],
    ['all of them, if the server knows nothing', {}, ['v1', 'm1', 'v2', 'm2']],
    ['all of them at the root of the server', { webhook: '' }, ['v1', 'm1', 'v2', 'm2']],
    ['those that validate', { reason: 'validating' }, ['v1', 'v2']],
    ['those that mutate', { reason: 'mutating' }, ['m1', 'm2']],
    ['those of the id', { webhook: 'v2' }, ['v2']],
  ])('%s', async (_title, hints, ids) => {
    expect((await four().called({}, hints)).called).toEqual(ids);
  });

  it('of both kinds, if both have the id; of one, if the kind is known, too', async () => {
    const { called } = calling((on, say) => {
      on.validate('kopfexamples', { id: 'fnX' }, say('validating'));
      on.mutate('kopfexamples', { id: 'fnX' }, say('mutating'));
    });
    expect((await called({}, { webhook: 'fnX' })).called).toEqual(['validating', 'mutating']);
    expect((await called({}, { webhook: 'fnX', reason: 'mutating' })).called).toEqual(['mutating']);
  });

  it('by the path that a service has for the id, where the id itself is not allowed in it', async () => {
    const { called } = calling((on, say) => {
      on.validate('kopfexamples', { id: 'checkSize' }, say('checkSize'));
      on.validate('kopfexamples', { id: 'another' }, say('another'));
    });
    expect((await called({}, { webhook: 'checksize' })).called).toEqual(['checkSize']);
  });

  it('one after another in the order of their declaration, also after an error', async () => {
    const calls: string[] = [];
    const { ask } = reviewed(({ on }) => {
      on.mutate('kopfexamples', async function first() {
        calls.push('first begins');
        await new Promise((resolve) => setImmediate(resolve));
        calls.push('first ends');
        throw new Error('No!');
      });
      on.validate('kopfexamples', function second() {
        calls.push('second');
      });
    });
    await ask();
    expect(calls).toEqual(['first begins', 'first ends', 'second']);
  });

  it('once, however temporary their errors are', async () => {
    let calls = 0;
    const { ask, clock } = reviewed(({ on }) =>
      on.validate('kopfexamples', function fn() {
        calls++;
        throw new Error('again?');
      }),
    );
    await ask();
    await clock.advance(1000);
    expect(calls).toBe(1);
  });
});

describe('the operation decides', () => {
  const both = (operations?: readonly Operation[]) =>
    calling((on, say) => {
      on.validate('kopfexamples', { id: 'v', operations }, say('v'));
      on.mutate('kopfexamples', { id: 'm', operations }, say('m'));
    });

  it.each<[string, readonly Operation[] | undefined, string[]]>([
    ['CREATE', undefined, ['v', 'm']],
    ['UPDATE', undefined, ['v', 'm']],
    ['CONNECT', undefined, ['v', 'm']],
    ['DELETE', undefined, ['v']],
    ['DELETE', ['DELETE'], ['v', 'm']],
    ['DELETE', ['CREATE', 'DELETE'], ['v']],
    ['UPDATE', ['CREATE'], []],
  ])('%s calls only the handlers of that operation, out of %j: %j', async (operation, operations, ids) => {
    const { called, response } = await both(operations).called({ operation, oldObject: objectOf({ spec: {} }) });
    expect(called).toEqual(ids);
    expect(response.allowed).toBe(true);
  });
});

describe('the subresource decides', () => {
  it.each<[string | undefined, unknown, boolean]>([
    ['*', undefined, true],
    ['*', null, true],
    ['*', 'sb', true],
    ['sb', 'sb', true],
    ['sb', 'other', false],
    ['sb', null, false],
    [undefined, undefined, true],
    [undefined, null, true],
    [undefined, '', true],
    [undefined, 'sb', false],
  ])('of the handler, %s; of the review, %s: %s', async (subresource, subResource, isCalled) => {
    const { called } = calling((on, say) => on.validate('kopfexamples', { id: 'v', subresource }, say('v')));
    expect(await called({ subResource })).toEqual({
      called: isCalled ? ['v'] : [],
      response: { uid: 'review-uid', allowed: true },
    });
  });
});

describe('the filters decide,', () => {
  it.each<[string, object, boolean]>([
    ['by labels', { labels: { app: 'web' } }, true],
    ['by other labels', { labels: { app: 'db' } }, false],
    ['by annotations', { annotations: { note: 'x' } }, true],
    ['by a field', { field: 'spec.field', value: 'value' }, true],
    ['by another value of the field', { field: 'spec.field', value: 'other' }, false],
    ['by a callback', { when: ({ userinfo }: { userinfo: object }) => 'username' in userinfo }, true],
    ['by another callback', { when: () => false }, false],
  ])('%s: nobody objects if nobody is interested', async (_title, filters, isCalled) => {
    const { called } = calling((on, say) => on.validate('kopfexamples', { id: 'v', ...filters }, say('v')));
    const metadata = { name: 'one', labels: { app: 'web' }, annotations: { note: 'x' } };
    const webhook = 'field' in filters ? 'v/spec.field' : 'v';
    expect(await called({ object: objectOf({ metadata }) }, { webhook })).toEqual({
      called: isCalled ? ['v'] : [],
      response: { uid: 'review-uid', allowed: true },
    });
  });

  it('by the body as it was, if it is being deleted', async () => {
    const { called } = calling((on, say) => on.validate('kopfexamples', { id: 'v', labels: { app: 'web' } }, say('v')));
    const oldObject = objectOf({ metadata: { name: 'one', labels: { app: 'web' } } });
    expect((await called({ operation: 'DELETE', object: null, oldObject })).called).toEqual(['v']);
  });

  it('and nothing is allowed if they fail', async () => {
    const error = new Error('Cannot decide!');
    const { called, logger } = calling((on, say) => {
      on.validate('kopfexamples', { id: 'v1' }, say('v1'));
      const when = () => {
        throw error;
      };
      on.validate('kopfexamples', { id: 'v2', when }, say('v2'));
    });
    const { response } = await called();
    expect(response).toMatchObject({ allowed: false, status: { code: 500 } });
    expect(response.status?.message).toMatch(/^A filter of admission handlers has failed unexpectedly\. /);
    expect(logger.find('A filter of admission handlers has failed: Cannot decide!')?.fields).toMatchObject({ error });
  });
});

describe('what is not there allows nothing:', () => {
  it.each<[string, ReviewHints]>([
    ['an unknown handler', { webhook: 'unknown' }],
    ['a part of an id', { webhook: 'v' }],
    ['an id of the other kind', { webhook: 'v1', reason: 'mutating' }],
    ['a name that every object has', { webhook: '__proto__' }],
    ['an unknown kind of handlers', { reason: 'unknown' as never }],
  ])('%s', async (_title, hints) => {
    await expect(four().called({}, hints)).rejects.toThrow(UnknownResourceError);
  });

  it('a handler of another resource', async () => {
    const pods = makeResource({ group: '', version: 'v1', plural: 'pods', kind: 'Pod' });
    const { ask } = reviewed(
      ({ on }) => {
        on.validate('v1/pods', { id: 'ofPods' }, () => {});
        on.validate('kopfexamples', { id: 'ofExamples' }, () => {});
      },
      { insights: knowing(EXAMPLES, pods) },
    );
    await expect(ask({}, { webhook: 'ofPods' })).rejects.toThrow(/no admission handler 'ofPods' for kopfexamples/);
    expect(await ask({}, { webhook: 'ofExamples' })).toMatchObject({ allowed: true });
  });

  it.each([
    [{ group: 'other.dev', version: 'v1', resource: 'kopfexamples' }],
    [{ group: 'kopf.dev', version: 'v2', resource: 'kopfexamples' }],
    [{ group: 'kopf.dev', version: 'v1', resource: 'others' }],
    [{ group: '', version: 'v1', resource: 'kopfexamples' }],
  ])('an unknown resource: %j', async (resource) => {
    await expect(four().called({ resource })).rejects.toThrow(UnknownResourceError);
  });

  it('several resources of the same name', async () => {
    const { ask } = reviewed(() => {}, { insights: knowing(EXAMPLES, { ...EXAMPLES }) });
    await expect(ask()).rejects.toMatchObject({ name: 'AmbiguousResourceError' });
  });
});

it('the resource is the one that the webhook is registered for, not the one that the user has requested', async () => {
  const requestResource = { group: 'kopf.dev', version: 'v2', resource: 'others' };
  const kind = { group: 'x', version: 'x', kind: 'X' };
  expect((await four().called({ requestResource, kind, requestKind: kind })).called).toHaveLength(4);
});
