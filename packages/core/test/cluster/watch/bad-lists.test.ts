import { describe, expect, it } from 'vitest';
import { list } from '../../../src/cluster/list.js';
import { makeResource } from '../../../src/values/resources/resource.js';
import { KEX, kex, kexList, SECRETS } from '../fixtures.js';
import { scriptedClient } from '../scripted-client.js';
import { errorEvent, watchUnderTest } from './harness.js';

const NAME = 'kopfexamples.v1.kopf.dev';

/** Answers that are not a list of that kind, and what is told of them. */
const NOT_LISTS: readonly [string, unknown, string][] = [
  ['an empty object', {}, 'an object without a kind'],
  ['nothing', undefined, 'nothing'],
  ['null', null, 'nothing'],
  ['an array', [], 'an array'],
  ['a text', 'Moved', 'a string'],
  ['a Status', { apiVersion: 'v1', kind: 'Status', code: 200, message: 'moved on' }, 'a Status ("moved on")'],
  ['a list without items', { apiVersion: 'kopf.dev/v1', kind: 'KopfExampleList', metadata: {} }, 'without items'],
  [
    'a list with items of a wrong type',
    { apiVersion: 'kopf.dev/v1', kind: 'KopfExampleList', metadata: {}, items: {} },
    'without items',
  ],
  [
    'a list of another group',
    { apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: '7' }, items: [] },
    'PodList of v1',
  ],
  ['a list without a kind', { metadata: { resourceVersion: '7' }, items: [] }, 'an object without a kind'],
  [
    'a version that is no text',
    { apiVersion: 'kopf.dev/v1', kind: 'KopfExampleList', metadata: { resourceVersion: 7 }, items: [] },
    'malformed metadata',
  ],
];

/** The same, but it takes a stream to see that. */
const NOT_BELIEVED: readonly [string, unknown, string][] = [
  [
    'a list without a version',
    { apiVersion: 'kopf.dev/v1', kind: 'KopfExampleList', metadata: {}, items: [] },
    'without metadata.resourceVersion',
  ],
  [
    'an empty list of another kind of that group',
    { apiVersion: 'kopf.dev/v1', kind: 'KopfPeeringList', metadata: { resourceVersion: '900' }, items: [] },
    'an empty KopfPeeringList',
  ],
  [
    'a list of items of another kind',
    {
      apiVersion: 'kopf.dev/v1',
      kind: 'KopfPeeringList',
      metadata: { resourceVersion: '900' },
      items: [{ apiVersion: 'kopf.dev/v1', kind: 'KopfPeering', metadata: { name: 'default' } }],
    },
    'an item of kind KopfPeering',
  ],
];

describe('an answer that is not a list of the kind', () => {
  it.each(NOT_LISTS)('such as %s is an error for whoever lists', async (_title, answer, words) => {
    const client = scriptedClient();
    client.answer(answer);
    const error = await list(client, KEX).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'KOPF_BAD_LIST', message: expect.stringContaining(words) });
    expect(error).toMatchObject({ message: expect.stringContaining(`instead of a list of ${NAME}`) });
  });

  it.each([...NOT_LISTS, ...NOT_BELIEVED])(
    'such as %s never means for a stream that all are gone: it is asked again',
    async (_title, answer, words) => {
      const watched = watchUnderTest();
      watched.client.answer(kexList('100', [kex('a', '1'), kex('b', '2')]), answer, kexList('300', [kex('b', '2')]));
      watched.client.prepareStream(errorEvent(410));
      await watched.start();
      await watched.clock.advance(0.15);
      expect(watched.story).toEqual(['null a', 'null b', 'LISTED']);
      expect(watched.phases.at(-1)).toMatchObject({ phase: 'down' });
      expect(watched.logger.messages('warn')).toEqual([expect.stringContaining(words)]);
      await watched.clock.advance(1);
      expect(watched.story.slice(3)).toEqual(['null b', 'DELETED a vanished', 'LISTED']);
      expect(watched.attempts.at(-1)).toMatch(/watch 300$/);
    },
  );

  it('is noticed on any page', async () => {
    const watched = watchUnderTest({ pageSize: 1 });
    watched.client.answer(kexList('100', [kex('a', '1'), kex('b', '2')]), kexList('200', [kex('b', '2')], 'more'), {});
    watched.client.prepareStream(errorEvent(410));
    await watched.start();
    await watched.clock.advance(0.15);
    expect(watched.story.slice(3)).toEqual(['null b']);
  });
});

describe('an answer that is a list, though not the most usual one', () => {
  it.each([
    ['of the kind of all lists', { apiVersion: 'v1', kind: 'List' }],
    ['of a name that its definition has chosen', { apiVersion: 'kopf.dev/v1', kind: 'Examples' }],
    ['of a name that differs a little', { apiVersion: 'kopf.dev/v1', kind: 'ExampleList' }],
  ])('%s is believed, also when all are gone', async (_title, head) => {
    const watched = watchUnderTest();
    watched.client.answer(
      { ...head, metadata: { resourceVersion: '100' }, items: [kex('a', '1')] },
      { ...head, metadata: { resourceVersion: '200' }, items: [] },
    );
    watched.client.prepareStream(errorEvent(410));
    await watched.start();
    await watched.clock.advance(1);
    expect(watched.story).toEqual(['null a', 'LISTED', 'DELETED a vanished', 'LISTED']);
    expect(watched.logger.messages('warn')).toEqual([]);
  });

  it.each([
    [SECRETS, { apiVersion: 'v1', kind: 'SecretList', metadata: { resourceVersion: '5' }, items: [] }],
    [SECRETS, { kind: 'SecretList', metadata: { resourceVersion: '5' }, items: null }],
    [
      makeResource({ group: 'g', version: 'v2', plural: 'things' }),
      { apiVersion: 'g/v2', kind: 'ThingList', metadata: { resourceVersion: '5' }, items: [] },
    ],
  ])('is a list of nothing, if it says so', async (resource, answer) => {
    const client = scriptedClient();
    client.answer(answer);
    expect(await list(client, resource)).toEqual({ items: [], resourceVersion: '5' });
  });
});
