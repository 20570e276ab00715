import { describe, expect, it } from 'vitest';
import { KopfError } from '../../../src/errors.js';
import type { AnyObject } from '../../../src/values/objects/body.js';
import { kex, kexList } from '../fixtures.js';
import { added, deleted, modified, type WatchUnderTest, watchUnderTest } from './harness.js';

const END = {
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion: '200', annotations: { 'k8s.io/initial-events-end': 'true' } } },
};
const BADLY_LABELLED = kex('bad', '150', { metadata: { labels: { x: 1 as never } } });

const MALFORMED: readonly [string, AnyObject][] = [
  ['it has no metadata', { apiVersion: 'kopf.dev/v1', kind: 'KopfExample', spec: {} }],
  ['it has no metadata', { metadata: null as never }],
  ['its metadata are not an object', { metadata: ['name'] as never }],
  ['it has no name', { metadata: { namespace: 'ns', uid: 'u', resourceVersion: '150' } }],
  ['it has no name', { metadata: { name: '', uid: 'u', resourceVersion: '150' } }],
  ['its name is not a text', { metadata: { name: 5 as never, uid: 'u' } }],
  ['its metadata.uid is not a text', kex('bad', '150', { metadata: { uid: 12 as never } })],
  ['its metadata.resourceVersion is not a text', kex('bad', '150', { metadata: { resourceVersion: 150 as never } })],
  ['its metadata.labels are not a mapping', BADLY_LABELLED],
  ['its metadata.annotations are not a mapping', kex('bad', '150', { metadata: { annotations: 'no' as never } })],
  ['its metadata.finalizers are not a list', kex('bad', '150', { metadata: { finalizers: 'no' as never } })],
  ['its metadata.ownerReferences are not a list', kex('bad', '1', { metadata: { ownerReferences: [1] as never } })],
];

function warnings({ logger }: WatchUnderTest): readonly string[] {
  return logger.messages('warn');
}

function lists({ attempts }: WatchUnderTest): number {
  return attempts.filter((attempt) => attempt.endsWith('list')).length;
}

describe('a malformed object', () => {
  it.each(MALFORMED)(
    'in an event (%s) is skipped, and named after a new listing; all others go on',
    async (flaw, bad) => {
      const watched = watchUnderTest();
      watched.client.answer(kexList('100', [kex('a', '1')]), kexList('200', [kex('a', '1'), bad]));
      watched.client.prepareStream(added(bad), modified(kex('a', '151')));
      const second = watched.client.prepareStream();
      await watched.start();
      expect(watched.story).toEqual(['null a', 'LISTED', 'MODIFIED a']);
      expect(warnings(watched)).toEqual([]);
      await watched.clock.advance(5);
      const named = expect.stringContaining(flaw);
      expect(warnings(watched).slice(0, 1)).toEqual([named]);
      second.push(modified(bad), modified(bad), added(kex('b', '201')));
      await watched.clock.advance(100);
      expect(watched.story.filter((line) => line.includes('bad') || line.includes('undefined'))).toEqual([]);
      expect(watched.story.at(-1)).toBe('ADDED b');
      expect(warnings(watched)).toHaveLength(1);
      expect(lists(watched)).toBe(2);
      expect(watched.phases.at(-1)).toMatchObject({ phase: 'watching', error: undefined });
    },
  );

  it.each(MALFORMED)('in a list (%s) is confirmed by one more list, and is skipped then', async (flaw, bad) => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', [kex('a', '1'), bad]), kexList('200', [bad, kex('a', '1'), kex('b', '2')]));
    await watched.start();
    expect(watched.story).toEqual(['null a']);
    await watched.clock.advance(1);
    expect(watched.story).toEqual(['null a', 'null a', 'null b', 'LISTED']);
    expect(warnings(watched)).toEqual([expect.stringContaining(flaw)]);
    expect(watched.attempts.at(-1)).toBe('1 watch 200');
  });

  it('in a streamed list is confirmed by one more', async () => {
    const watched = watchUnderTest({ capabilities: {} });
    watched.client.prepareStream(added(kex('a', '1')), added(BADLY_LABELLED), END);
    watched.client.prepareStream(added(BADLY_LABELLED), added(kex('a', '1')), END, added(kex('b', '201')));
    await watched.start();
    await watched.clock.advance(2);
    expect(watched.story).toEqual(['null a', 'null a', 'LISTED', 'ADDED b']);
    expect(warnings(watched)).toEqual([expect.stringContaining('ns/bad: its metadata.labels')]);
    expect(watched.attempts).toEqual(['0 streamed list', '1 streamed list']);
  });

  it('that is mended by the next list is served, and nothing more is said', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', [BADLY_LABELLED]), kexList('200', [kex('bad', '151')]));
    await watched.start();
    await watched.clock.advance(1);
    expect(watched.story).toEqual(['null bad', 'LISTED']);
    expect(warnings(watched)).toEqual([]);
  });

  it('is not taken for a vanished one while it is there', async () => {
    const watched = watchUnderTest();
    watched.client.answer(
      kexList('100', [kex('bad', '1'), kex('a', '2'), kex('gone', '3')]),
      kexList('200', [BADLY_LABELLED, kex('a', '2')]),
    );
    watched.client.prepareStream(modified(BADLY_LABELLED));
    await watched.start();
    await watched.clock.advance(5);
    expect(watched.story.slice(4)).toEqual(['null a', 'DELETED gone vanished', 'LISTED']);
  });

  it('without a name may be any: nobody is taken for vanished before that is confirmed', async () => {
    const nameless = { metadata: { uid: 'uid-x' } };
    const watched = watchUnderTest();
    watched.client.answer(
      kexList('100', [kex('a', '1'), kex('b', '2')]),
      kexList('200', [nameless, kex('b', '2')]),
      kexList('300', [kex('a', '1'), kex('b', '2')]),
    );
    watched.client.prepareStream({ type: 'ADDED', object: 'what?' });
    await watched.start();
    await watched.clock.advance(10);
    expect(watched.story.filter((line) => line.startsWith('DELETED'))).toEqual([]);
  });

  it('that is deleted is known to be gone by the next list', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', [kex('a', '1'), kex('bad', '2')]), kexList('200', [kex('a', '1')]));
    watched.client.prepareStream(deleted(BADLY_LABELLED));
    await watched.start();
    await watched.clock.advance(2);
    expect(watched.story.slice(3)).toEqual(['null a', 'DELETED bad vanished', 'LISTED']);
  });

  it('is not forgotten if the connection ends before the new listing', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []), kexList('200', [kex('a', '1')]));
    watched.client.prepareStream(added({ spec: {} })).end();
    await watched.start();
    await watched.clock.advance(2);
    expect(watched.story).toEqual(['LISTED', 'null a', 'LISTED']);
  });

  it('is one of so many, that they do not cause listings for ever', async () => {
    const watched = watchUnderTest();
    watched.client.answerAll(() => kexList('100', []));
    for (let round = 0; round < 300; round++) {
      watched.client.prepareStream(added({ metadata: { uid: `uid-${round}` } }));
    }
    await watched.start();
    await watched.clock.advance(3600);
    expect(lists(watched)).toBeLessThan(110);
    expect(warnings(watched).length).toBeLessThan(110);
  });
});

describe('a line that cannot be decoded', () => {
  it.each([
    [
      'the default client',
      () => new KopfError('A line of 77 bytes in the stream is not JSON.', { code: 'KOPF_BAD_JSON' }),
    ],
    ['other clients', () => new SyntaxError('Unexpected token')],
  ])('by %s, and comes again, is passed by listing anew, and is named', async (_title, error) => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []), kexList('200', [kex('a', '150')]));
    watched.client.prepareStream(added(kex('a', '101'))).fail(error());
    watched.client.refuseStream(error());
    watched.client.prepareStream(added(kex('b', '201')));
    await watched.start();
    await watched.clock.advance(10);
    expect(watched.story).toEqual(['LISTED', 'ADDED a', 'null a', 'LISTED', 'ADDED b']);
    expect(watched.attempts).toEqual(['0 list', '0 watch 100', '0 watch 101', '0 list', '0 watch 200']);
    expect(warnings(watched)).toEqual([expect.stringContaining('an event that cannot be decoded')]);
    expect(watched.phases.at(-1)).toMatchObject({ phase: 'watching' });
  });

  it('in a streamed list leads to a list in pages', async () => {
    const capabilities = {};
    const watched = watchUnderTest({ capabilities });
    watched.client.answer(kexList('100', [kex('a', '1')]));
    watched.client.prepareStream(added(kex('a', '1'))).fail(new SyntaxError('Unexpected token'));
    await watched.start();
    expect(watched.story).toEqual(['null a', 'null a', 'LISTED']);
    expect(capabilities).toEqual({});
  });

  it('right after the one that a listing has passed is passed, too', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []), kexList('200', []), kexList('300', [kex('a', '250')]));
    for (let time = 0; time < 4; time++) watched.client.refuseStream(new SyntaxError('Unexpected token'));
    watched.client.prepareStream(added(kex('b', '301')));
    await watched.start();
    await watched.clock.advance(30);
    expect(watched.story).toEqual(['LISTED', 'LISTED', 'null a', 'LISTED', 'ADDED b']);
  });

  it.each([20, 200, 1000])('for %i times, be it an event or not, leads to ever fewer listings', async (times) => {
    const watched = watchUnderTest();
    let version = 100;
    watched.client.answerAll(() => kexList(String(++version), []));
    for (let time = 0; time < times; time++) watched.client.refuseStream(new SyntaxError('Unexpected token'));
    watched.client.prepareStream(added(kex('b', '9000')));
    await watched.start();
    await watched.clock.advance(times * 20);
    expect(watched.story.filter((line) => line !== 'LISTED')).toEqual(['ADDED b']);
    const lists = watched.attempts.filter((attempt) => attempt.endsWith(' list'));
    expect(lists.length).toBeGreaterThan(3);
    expect(lists.length).toBeLessThanOrEqual(1 + 4 + times / 16);
  });

  it('is something else than the ones before, once events are understood again', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []));
    const versions = ['101', '102', '103', '104', '105'];
    for (const version of versions) {
      watched.client.prepareStream(added(kex(`a${version}`, version))).fail(new SyntaxError('Unexpected token'));
    }
    await watched.start();
    await watched.clock.advance(30);
    expect(watched.story).toEqual(['LISTED', ...versions.map((version) => `ADDED a${version}`)]);
    expect(warnings(watched)).toEqual([]);
  });

  it('is one and the same outage as a list that cannot be decoded: told once, and once when it is over', async () => {
    class BadAnswerError extends KopfError {
      override readonly name = 'BadAnswerError';
    }
    const badLine = () => new KopfError('A line of 24 bytes in the stream is not JSON.', { code: 'KOPF_BAD_JSON' });
    const badList = () => new BadAnswerError('HTTP 200 and something that is not JSON.', { code: 'KOPF_BAD_JSON' });
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []), badList(), badList(), badList(), kexList('200', []));
    for (let time = 0; time < 2; time++) watched.client.refuseStream(badLine());
    await watched.start();
    await watched.clock.advance(60);
    expect(watched.story).toEqual(['LISTED', 'LISTED']);
    expect(warnings(watched).filter((line) => line.includes('is down'))).toHaveLength(1);
    expect(watched.logger.messages('info').filter((line) => line.includes('works again'))).toHaveLength(1);
    expect(watched.phases.at(-1)).toMatchObject({ phase: 'watching', error: undefined });
  });
});
