import { type Admission, type AnyObject, type Index, info, subhandler } from '@kopf-ts/core';
import { currentContext, facts } from '@kopf-ts/core/engine';
import { memoryIndexer } from '@kopf-ts/indexing';
import { manualClock, recordingLogger, recordingObserver } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { CLIENT, EXAMPLES, objectOf, type ReviewedOptions, reviewed } from './reviewed.js';

type Request = Parameters<ReturnType<typeof reviewed>['ask']>[0];
type Hints = Parameters<ReturnType<typeof reviewed>['ask']>[1];

/** What a handler of any subresource is called with. */
async function kwargsFor(request: Request = {}, hints?: Hints, options?: ReviewedOptions): Promise<Admission> {
  let seen: Admission | undefined;
  const { ask } = reviewed(
    ({ on }) =>
      on.validate('kopfexamples', { id: 'fn', subresource: '*' }, (kwargs) => {
        seen = kwargs;
      }),
    options,
  );
  await ask(request, hints);
  if (seen === undefined) throw new Error('The handler is not called.');
  return seen;
}

describe('a handler is given', () => {
  it('the object, as in all other handlers', async () => {
    const metadata = { name: 'one', namespace: 'ns1', uid: 'uid1', labels: { l: '1' }, annotations: { a: '2' } };
    const object = objectOf({ metadata, status: { phase: 'ok' } });
    expect(await kwargsFor({ object })).toMatchObject({
      body: object,
      spec: { field: 'value' },
      meta: metadata,
      status: { phase: 'ok' },
      labels: { l: '1' },
      annotations: { a: '2' },
      uid: 'uid1',
      name: 'one',
      namespace: 'ns1',
      resource: EXAMPLES,
      client: CLIENT,
    });
  });

  it('verbs for the namespace of the object and the time of the call, made when they are asked for', async () => {
    const made: unknown[] = [];
    const verbs = (() => {}) as unknown as Admission['api'];
    const apiFor = (call: unknown) => {
      made.push(call);
      return verbs;
    };
    const kwargs = await kwargsFor({}, undefined, { apiFor });
    expect(made).toEqual([]);
    expect(kwargs.api).toBe(verbs);
    expect(made).toMatchObject([{ namespace: 'ns1', signal: kwargs.signal }]);
  });

  it.each([true, false])('verbs that only try, if the request is a trial: %s', async (dryRun) => {
    const made: unknown[] = [];
    const apiFor = (call: unknown) => {
      made.push(call);
      return (() => {}) as unknown as Admission['api'];
    };
    const kwargs = await kwargsFor({ dryRun }, undefined, { apiFor });
    expect(kwargs.api).toBeDefined();
    expect(made).toMatchObject([{ dryRun }]);
  });

  it('the object read-only', async () => {
    const { body, old } = await kwargsFor({ oldObject: objectOf() });
    for (const view of [body, old] as AnyObject[]) {
      expect(() => {
        view.spec.field = 'changed';
      }).toThrow(TypeError);
    }
  });

  it('the object without a name, if it is yet to be generated', async () => {
    const object = objectOf({ metadata: { generateName: 'one-', creationTimestamp: null as never } });
    expect(await kwargsFor({ object })).toMatchObject({ uid: undefined, name: undefined, namespace: undefined });
  });

  it('what is known of the call', async () => {
    const { retry, runtime, started, signal, param } = await kwargsFor();
    expect({ retry, runtime, param }).toEqual({ retry: 0, runtime: 0, param: undefined });
    expect(started).toBeInstanceOf(Date);
    expect(signal.aborted).toBe(false);
  });

  it.each([true, false])('whether it is a dry run: %s', async (dryRun) => {
    expect((await kwargsFor({ dryRun })).dryrun).toBe(dryRun);
  });

  it.each([undefined, null])('no dry run, if nothing is said of it: %s', async (dryRun) => {
    expect((await kwargsFor({ dryRun })).dryrun).toBe(false);
  });

  it('the headers and the certificate of the peer, if the server knows them', async () => {
    const [headers, sslPeer] = [{ 'x-header': 'x' }, { subject: { CN: 'peer' } }];
    const kwargs = await kwargsFor({}, { headers, sslPeer });
    expect(kwargs.headers).toBe(headers);
    expect(kwargs.sslpeer).toBe(sslPeer);
  });

  it('nothing in their place, if it does not', async () => {
    expect(await kwargsFor()).toMatchObject({ headers: {}, sslpeer: {} });
  });

  it('the user, as it is', async () => {
    const userInfo = { username: 'u', groups: ['g'], extra: { any: ['thing'] }, unheard: { of: 1 } };
    expect((await kwargsFor({ userInfo })).userinfo).toEqual(userInfo);
  });

  it.each([
    ['xyz', 'xyz'],
    [null, undefined],
  ])('the subresource: %s', async (subResource, subresource) => {
    expect((await kwargsFor({ subResource })).subresource).toBe(subresource);
  });

  it('neither the kind of the handler, nor its id', async () => {
    const kwargs = await kwargsFor({}, { webhook: 'fn', reason: 'validating' });
    expect(kwargs).not.toHaveProperty('reason');
    expect(kwargs).not.toHaveProperty('webhook');
  });
});

describe('a handler sees what changes:', () => {
  const [before, after] = [objectOf({ spec: { a: 1 } }), objectOf({ spec: { a: 2 } })];

  it('a creation', async () => {
    const kwargs = await kwargsFor({ operation: 'CREATE', object: after });
    expect(kwargs).toMatchObject({ operation: 'CREATE', body: after, new: after, old: undefined });
    expect(kwargs.diff).toEqual([['add', [], undefined, after]]);
  });

  it('an update', async () => {
    const kwargs = await kwargsFor({ operation: 'UPDATE', object: after, oldObject: before });
    expect(kwargs).toMatchObject({ operation: 'UPDATE', body: after, new: after, old: before });
    expect(kwargs.diff).toEqual([['change', ['spec', 'a'], 1, 2]]);
  });

  it('a deletion', async () => {
    const kwargs = await kwargsFor({ operation: 'DELETE', object: null, oldObject: before });
    expect(kwargs).toMatchObject({ operation: 'DELETE', body: before, new: undefined, old: before });
    expect(kwargs.diff).toEqual([['remove', [], before, undefined]]);
  });

  it('the same as other handlers see, and also in copies of its kwargs', async () => {
    const seen: Admission[] = [];
    const { ask } = reviewed(({ on }) => {
      on.validate('kopfexamples', { id: 'fn1' }, (kwargs) => void seen.push({ ...kwargs }));
      on.validate('kopfexamples', { id: 'fn2' }, (kwargs) => void seen.push(kwargs));
    });
    await ask({ operation: 'UPDATE', object: after, oldObject: before });
    const [one, another] = seen;
    expect(one?.diff).toEqual([['change', ['spec', 'a'], 1, 2]]);
    expect(one?.diff).toBe(another?.diff);
    expect(one?.old).toEqual(before);
    expect(one?.old).toBe(another?.old);
  });

  it('as a whole, even if it is declared for a field', async () => {
    let seen: unknown;
    const { ask } = reviewed(({ on }) =>
      on.validate('kopfexamples', { field: 'spec.a' }, function fn(kwargs) {
        seen = [kwargs.old, kwargs.new];
      }),
    );
    await ask({ operation: 'UPDATE', object: after, oldObject: before });
    expect(seen).toEqual([before, after]);
  });
});

describe('the memo', () => {
  it('of what is only going to be created is not remembered', async () => {
    const memos: unknown[] = [];
    const { ask } = reviewed(
      ({ on }) =>
        on.validate('kopfexamples', function fn({ memo }) {
          memos.push({ ...memo });
          memo.seen = true;
        }),
      { memo: { own: 1 } },
    );
    await ask({ operation: 'CREATE' });
    await ask({ operation: 'CREATE' });
    await ask({ operation: 'UPDATE' });
    expect(memos).toEqual([{ own: 1 }, { own: 1 }, { own: 1 }]);
  });

  it.each(['UPDATE', 'DELETE', 'CONNECT'])('is remembered by the object from others: %s', async (operation) => {
    const seen: unknown[] = [];
    const { ask, memos } = reviewed(({ on }) =>
      on.validate('kopfexamples', function fn({ memo }) {
        seen.push(memo);
      }),
    );
    await ask({ operation });
    await ask({ operation });
    const body = objectOf();
    expect(seen[1]).toBe(seen[0]);
    expect(memos.of(body, { isListed: false }).memo).toBe(seen[0]);
    expect(memos.size).toBe(1);
  });

  it('is the one of the object, if the operator knows it', async () => {
    let seen: unknown;
    const { ask, memos } = reviewed(({ on }) =>
      on.validate('kopfexamples', function fn({ memo }) {
        seen = memo;
      }),
    );
    const { memo } = memos.of(objectOf(), { isListed: true });
    await ask({ operation: 'UPDATE' });
    expect(seen).toBe(memo);
  });
});

describe('around a handler,', () => {
  it('the indices are there, also by their names', async () => {
    const { registry, clock, logger } = reviewed(({ index }) =>
      index('kopfexamples', { id: 'names' }, ({ name }) => ({ [String(name)]: 1 })),
    );
    const indexer = memoryIndexer({ registry, settings: {} as never, clock, client: CLIENT });
    await indexer.accept({ event: { type: 'ADDED', object: objectOf() }, resource: EXAMPLES, memo: {}, logger });
    const kwargs = await kwargsFor({}, undefined, { indices: indexer.indices });
    expect(kwargs.indices).toBe(indexer.indices);
    expect([...((kwargs as unknown as { names: Index }).names ?? [])].map(([key]) => key)).toEqual(['one']);
  });

  it('the logs carry the object, and are never posted as events', async () => {
    const posted: unknown[] = [];
    const { ask, logger } = reviewed(
      ({ on }) =>
        on.validate('kopfexamples', function fn({ logger }) {
          logger.error('from the handler');
        }),
      { poster: { post: (event) => posted.push(event) } },
    );
    await ask();
    const object = { apiVersion: 'kopf.dev/v1', kind: 'KopfExample', name: 'one', uid: 'uid1', namespace: 'ns1' };
    expect(logger.find('from the handler')?.fields).toEqual({ object });
    expect(logger.find("Webhook 'fn' succeeded.")).toMatchObject({ level: 'info', fields: { object } });
    expect(posted).toEqual([]);
  });

  it('events can be posted explicitly', async () => {
    const posted: unknown[] = [];
    const { ask } = reviewed(
      ({ on }) =>
        on.validate('kopfexamples', function fn({ body }) {
          info(body, { reason: 'Testing', message: 'hello' });
        }),
      { poster: { post: (event) => posted.push(event) } },
    );
    expect((await ask()).allowed).toBe(true);
    expect(posted).toEqual([expect.objectContaining({ reason: 'Testing', message: 'hello' })]);
  });

  it('there can be no sub-handlers', async () => {
    const { ask, logger } = reviewed(({ on }) =>
      on.validate('kopfexamples', function fn() {
        subhandler('sub', () => {});
      }),
    );
    expect(await ask()).toMatchObject({ allowed: false, status: { code: 500 } });
    expect(logger.messages('error').join()).toMatch(/'fn': Sub-handlers are only supported for resource-changing/);
  });

  it('whoever looks for blocking handlers is told of it', async () => {
    const observer = recordingObserver(['call.began', 'call.returned', 'call.settled']);
    await kwargsFor({}, undefined, {
      facts: facts({ observers: [observer], operator: 'me', clock: manualClock(), logger: recordingLogger() }),
    });
    expect(observer.told.map(({ kind }) => kind)).toEqual(['call.began', 'call.returned', 'call.settled']);
    expect(observer.told[0]).toMatchObject({ handler: { id: 'fn', kind: 'webhook' } });
  });

  it('the context is of the handler', async () => {
    let context: unknown;
    const { ask } = reviewed(({ on }) =>
      on.validate('kopfexamples', async function fn() {
        await Promise.resolve();
        context = currentContext();
      }),
    );
    await ask();
    expect(context).toMatchObject({ handler: { id: 'fn' }, cause: { kind: 'webhook' } });
  });
});
