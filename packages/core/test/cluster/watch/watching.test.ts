import { describe, expect, it } from 'vitest';
import { watch } from '../../../src/cluster/watch/watch.js';
import { settings, type WatchingSettings } from '../../../src/settings.js';
import { makeResource } from '../../../src/values/resources/resource.js';
import { watchTarget } from '../../../src/values/resources/watch-target.js';
import { KEX, kex, kexList } from '../fixtures.js';
import { scriptedClient } from '../scripted-client.js';
import { added, bookmark, deleted, modified, watchUnderTest } from './harness.js';

const WATCH = 'GET /apis/kopf.dev/v1/kopfexamples?watch=true&allowWatchBookmarks=true&resourceVersion=';

describe('a watch-stream', () => {
  it('lists, tells that all is listed, and then watches', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', [kex('a', '1'), kex('b', '2')]));
    watched.client.prepareStream(added(kex('c', '101')), modified(kex('a', '102')), deleted(kex('b', '103')));
    await watched.start();
    expect(watched.signals).toEqual([
      { type: null, object: kex('a', '1') },
      { type: null, object: kex('b', '2') },
      { type: 'LISTED' },
      { type: 'ADDED', object: kex('c', '101') },
      { type: 'MODIFIED', object: kex('a', '102') },
      { type: 'DELETED', object: kex('b', '103') },
    ]);
    expect(watched.client.log).toEqual([
      'GET /apis/kopf.dev/v1/kopfexamples?limit=500',
      `${WATCH}100&timeoutSeconds=600`,
    ]);
    expect(watched.logger.lines).toEqual([]);
  });

  it('can be of the objects with some fields only', async () => {
    const watched = watchUnderTest({ target: { fieldSelector: 'metadata.name=a' } });
    watched.client.answer(kexList('100', [kex('a', '1')]));
    watched.client.prepareStream(modified(kex('a', '102')));
    await watched.start();
    expect(watched.story).toEqual(['null a', 'LISTED', 'MODIFIED a']);
    expect(watched.client.log).toEqual([
      expect.stringContaining('?fieldSelector=metadata.name%3Da&limit=500'),
      expect.stringContaining('?fieldSelector=metadata.name%3Da&watch=true&'),
    ]);
  });

  it('tells that all is listed even if there is nothing', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []));
    await watched.start();
    expect(watched.story).toEqual(['LISTED']);
  });

  it('lists in pages', async () => {
    const watched = watchUnderTest({ pageSize: 1 });
    watched.client.answer(kexList('100', [kex('a', '1')], 'p2'), kexList('100', [kex('b', '2')]));
    await watched.start();
    expect(watched.story).toEqual(['null a', 'null b', 'LISTED']);
    expect(watched.attempts).toEqual(['0 list', '0 list p2', '0 watch 100']);
  });

  it('does not yield bookmarks, but watches from them on', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []));
    watched.client.prepareStream(added(kex('a', '101')), bookmark('200')).end();
    await watched.start();
    expect(watched.story).toEqual(['LISTED', 'ADDED a']);
    expect(watched.attempts).toEqual(['0 list', '0 watch 100', '0 watch 200']);
  });

  it('skips the types that it does not know, with a warning, and goes on', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []));
    watched.client.prepareStream(
      { type: 'UNKNOWN', object: kex('x', '101') },
      { type: 'ADDED' },
      'garbage',
      added(kex('a', '102')),
    );
    await watched.start();
    expect(watched.story).toEqual(['LISTED', 'ADDED a']);
    expect(watched.logger.messages('warn')).toEqual([
      'Ignoring an unsupported event type in the watch-stream for kopfexamples.v1.kopf.dev cluster-wide: "UNKNOWN"',
      expect.stringContaining('Ignoring an unsupported event type'),
      expect.stringContaining('Ignoring an unsupported event type'),
    ]);
  });

  it('waits for those who read slowly, and does not take that for silence', async () => {
    let release = (): void => {};
    const watched = watchUnderTest({
      watching: { inactivityTimeout: 15 },
      consume: async ({ type }) => {
        if (type !== 'ADDED') return;
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      },
    });
    watched.client.answer(kexList('100', []));
    watched.client.prepareStream(added(kex('a', '101')), added(kex('b', '102')));
    await watched.start();
    await watched.clock.advance(100);
    expect(watched.story).toEqual(['LISTED', 'ADDED a']);
    release();
    await watched.clock.settle();
    expect(watched.story).toEqual(['LISTED', 'ADDED a', 'ADDED b']);
    release();
    await watched.clock.advance(14);
    expect(watched.attempts).toEqual(['0 list', '0 watch 100']);
    await watched.clock.advance(1);
    expect(watched.attempts).toEqual(['0 list', '0 watch 100', '115 watch 102']);
  });
});

describe('the requests of a watch-stream', () => {
  it.each<[WatchingSettings['serverTimeout'], number, string]>([
    [300, 1, '&timeoutSeconds=300'],
    [0.1, 1, '&timeoutSeconds=1'],
    [{ min: 300, max: 600 }, 0, '&timeoutSeconds=300'],
    [{ min: 300, max: 600 }, 0.7777, '&timeoutSeconds=533'],
    [undefined, 1, ''],
  ])('with the server timeout of %j have it in whole seconds, if at all', async (serverTimeout, random, expected) => {
    const watched = watchUnderTest({ watching: { serverTimeout }, random: () => random });
    watched.client.answer(kexList('100', []));
    await watched.start();
    expect(watched.client.log[1]).toBe(`${WATCH}100${expected}`);
  });

  it('have other random timeouts each time', async () => {
    const randoms = [0, 0.5, 1];
    const watched = watchUnderTest({ random: () => randoms.shift() ?? 1 });
    watched.client.answer(kexList('100', []));
    watched.client.prepareStream(bookmark('101')).end();
    await watched.start();
    expect(watched.client.log.slice(1)).toEqual([`${WATCH}100&timeoutSeconds=300`, `${WATCH}101&timeoutSeconds=450`]);
  });

  it('are not retried by the client, and have their own timeouts', async () => {
    const watched = watchUnderTest({ watching: { connectTimeout: 7, clientTimeout: 77 } });
    watched.client.answer(kexList('100', []));
    await watched.start();
    expect(watched.client.requests[0]).toMatchObject({ retries: 'none' });
    expect(watched.client.requests[1]).toMatchObject({
      retries: 'none',
      timeouts: { connect: 7, headers: 30, total: 77 },
    });
  });

  it.each([
    [{ connectTimeout: 5 }, { connectTimeout: 6 }, 5],
    [{ connectTimeout: undefined }, { connectTimeout: 6 }, 6],
    [{ connectTimeout: undefined }, { connectTimeout: undefined, requestTimeout: 7 }, 7],
    [{ connectTimeout: undefined }, { connectTimeout: undefined, requestTimeout: undefined }, undefined],
  ])('with settings %j and %j connect in %j seconds', async (watching, networking, expected) => {
    const client = scriptedClient();
    client.answer(kexList('100', []));
    const watched = watchUnderTest();
    const controller = new AbortController();
    const stream = watch(client, watchTarget(KEX), {
      settings: settings({ watching, networking }),
      clock: watched.clock,
      logger: watched.logger,
      signal: controller.signal,
      capabilities: { streamingLists: false },
    });
    await stream.next();
    void stream.next();
    await watched.clock.settle();
    controller.abort();
    expect(client.requests[1]?.timeouts?.connect).toBe(expected);
    expect(client.requests[1]?.timeouts).not.toHaveProperty('total');
  });

  it.each([
    ['in pages', { streamingLists: false }],
    ['as a stream', { streamingLists: true }],
  ])('have the selectors of the target, if the list comes %s', async (_title, capabilities) => {
    const target = { namespace: 'ns', labelSelector: 'app in (a, b)', fieldSelector: 'metadata.name!=x' };
    const watched = watchUnderTest({ target, capabilities, watching: { inactivityTimeout: 10 } });
    watched.client.answer(kexList('100', []));
    watched.currentVersion = '100';
    await watched.start();
    await watched.clock.advance(20);
    expect(watched.client.requests.length).toBeGreaterThanOrEqual(2);
    for (const { path } of watched.client.requests) {
      const [address, query] = path.split('?');
      expect(address).toBe('/apis/kopf.dev/v1/namespaces/ns/kopfexamples');
      expect(Object.fromEntries(new URLSearchParams(query))).toMatchObject({
        labelSelector: 'app in (a, b)',
        fieldSelector: 'metadata.name!=x',
      });
    }
  });

  it('for the current version have the selectors, too', async () => {
    const target = { labelSelector: 'app=a', fieldSelector: 'metadata.name!=x' };
    const watched = watchUnderTest({ target, watching: { inactivityTimeout: 10 } });
    watched.client.answer(kexList('100', []));
    await watched.start();
    await watched.clock.advance(20);
    expect(watched.checked[0]).toContain('?labelSelector=app%3Da&fieldSelector=metadata.name%21%3Dx&limit=1&');
  });

  it('can be for one namespace', async () => {
    const watched = watchUnderTest({ target: { namespace: 'ns' } });
    watched.client.answer(kexList('100', []));
    await watched.start();
    expect(watched.client.log).toEqual([
      'GET /apis/kopf.dev/v1/namespaces/ns/kopfexamples?limit=500',
      expect.stringMatching(/^GET \/apis\/kopf\.dev\/v1\/namespaces\/ns\/kopfexamples\?watch=true/),
    ]);
  });

  it('never are for a wrong address: such a mistake is thrown', async () => {
    const watched = watchUnderTest();
    const resource = makeResource({ group: '', version: 'v1', plural: 'nodes', namespaced: false });
    const stream = watch(watched.client, watchTarget(resource, { namespace: 'ns' }), {
      settings: settings(),
      clock: watched.clock,
      logger: watched.logger,
      signal: new AbortController().signal,
      capabilities: { streamingLists: false },
    });
    await expect(stream.next()).rejects.toThrow('cluster-scoped');
  });
});

describe('the end of a watch-stream', () => {
  it('comes without an error when aborted in the listing', async () => {
    const watched = watchUnderTest();
    await watched.start();
    expect(watched.attempts).toEqual(['0 list']);
    await watched.abort();
    expect(watched).toMatchObject({ isOver: true, error: undefined, story: [] });
  });

  it('comes without an error when aborted in the watching', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []));
    const stream = watched.client.prepareStream(added(kex('a', '101')));
    await watched.start();
    await watched.abort();
    expect(watched).toMatchObject({ isOver: true, error: undefined, story: ['LISTED', 'ADDED a'] });
    expect(stream.isClosed).toBe(true);
    expect(watched.clock.sleepers).toBe(0);
  });

  it('comes without an error when aborted in the middle of a pause between attempts', async () => {
    const watched = watchUnderTest({ watching: { reconnectBackoff: 10 } });
    watched.client.answer(new TypeError('connection refused'));
    await watched.start();
    await watched.clock.advance(5);
    await watched.abort();
    expect(watched).toMatchObject({ isOver: true, error: undefined, attempts: ['0 list'] });
    expect(watched.clock.sleepers).toBe(0);
  });

  it('comes at once if it is aborted from the beginning', async () => {
    const watched = watchUnderTest({ signal: AbortSignal.abort() });
    await watched.start();
    expect(watched).toMatchObject({ isOver: true, error: undefined, attempts: [] });
  });

  it.each(['listing', 'watching'])('comes even if the client does not obey in the %s', async (phase) => {
    const watched = watchUnderTest({ obeysSignals: false });
    if (phase === 'watching') watched.client.answer(kexList('100', []));
    await watched.start();
    await watched.abort();
    expect(watched).toMatchObject({ isOver: true, error: undefined });
  });

  it('closes the connection if it is not read anymore', async () => {
    const watched = watchUnderTest({
      consume: (signal) => {
        if (signal.type === 'ADDED') throw new Error('the reader has failed');
      },
    });
    watched.client.answer(kexList('100', []));
    const stream = watched.client.prepareStream(added(kex('a', '101')));
    await watched.start();
    expect(watched.error).toMatchObject({ message: 'the reader has failed' });
    expect(stream.request?.signal?.aborted).toBe(true);
    expect(watched.clock.sleepers).toBe(0);
  });
});
