import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Client, inProcess } from '../support/listeners.js';

const MAPS = '/api/v1/namespaces/default/configmaps';
let client: Client;

beforeEach(async () => {
  client = await inProcess();
});
afterEach(async () => {
  await client.cluster.stop();
});

async function createAll(...names: string[]): Promise<void> {
  for (const name of names)
    await client.send('POST', MAPS, { metadata: { name, labels: { name, tier: name > 'b' ? '2' : '1' } } });
}
const list = async (query = '', path = MAPS) => await client.send('GET', `${path}?${query}`);
const names = ({ body }: Awaited<ReturnType<typeof list>>): string[] =>
  body.items.map((item: { metadata: { name: string } }) => item.metadata.name);

describe('pages', () => {
  it('are of one moment, whatever happens between them', async () => {
    await createAll('a', 'c', 'e', 'g');
    const first = await list('limit=2');
    expect(names(first)).toEqual(['a', 'c']);
    expect(first.body.metadata).toMatchObject({ remainingItemCount: 2 });
    await createAll('b', 'd');
    await client.send('DELETE', `${MAPS}/e`);
    const second = await list(`limit=2&continue=${first.body.metadata.continue}`);
    expect(names(second)).toEqual(['e', 'g']);
    expect(second.body.metadata).toEqual({ resourceVersion: first.body.metadata.resourceVersion });
  });

  it('expire with the history, but can be continued from another moment', async () => {
    await createAll('a', 'b', 'c');
    const first = await list('limit=1');
    await createAll('d');
    client.cluster.faults.compact();
    const expired = await list(`limit=1&continue=${first.body.metadata.continue}`);
    expect(expired).toMatchObject({ status: 410, body: { reason: 'Expired' } });
    expect(names(await list(`continue=${expired.body.metadata.continue}`))).toEqual(['b', 'c', 'd']);
  });

  it('of a selection do not say how much is left', async () => {
    await createAll('a', 'b', 'c');
    const { body } = await list('limit=1&labelSelector=tier');
    expect(body.metadata.continue).not.toBe('');
    expect(body.metadata).not.toHaveProperty('remainingItemCount');
  });

  it.each(['abc', 'e30', Buffer.from('{"v":"meta.k8s.io/v1","rv":5,"start":"../x"}').toString('base64url')])(
    'a token that was never given is refused: %s',
    async (token) => {
      const { status, body } = await list(`continue=${token}`);
      expect({ status, message: body.message }).toEqual({
        status: 400,
        message: expect.stringContaining('invalid continue token: continue key is not valid'),
      });
    },
  );
});

describe('versions', () => {
  it('the past is listed by its exact version, while it is known', async () => {
    await createAll('a');
    const { body } = await list();
    const { resourceVersion } = body.metadata;
    await createAll('b');
    expect(names(await list(`resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`))).toEqual(['a']);
    expect(names(await list(`resourceVersion=${resourceVersion}&resourceVersionMatch=NotOlderThan`))).toEqual([
      'a',
      'b',
    ]);
    expect(names(await list(`resourceVersion=${resourceVersion}&limit=5`))).toEqual(['a']);
    client.cluster.faults.compact();
    expect((await list(`resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`)).status).toBe(410);
  });

  it('the future is not known yet', async () => {
    expect(await list('resourceVersion=999999')).toMatchObject({
      status: 504,
      body: { details: { causes: [{ reason: 'ResourceVersionTooLarge' }], retryAfterSeconds: 1 } },
    });
  });
});

describe('selectors', () => {
  it.each([
    ['name=a', ['a']],
    ['name==a', ['a']],
    ['name!=a', ['b', 'c']],
    ['name in (a,c)', ['a', 'c']],
    ['name notin (a,c)', ['b']],
    ['tier>1', ['c']],
    ['tier<2', ['a', 'b']],
    ['other', []],
    ['!other', ['a', 'b', 'c']],
    ['tier=1,name!=a', ['b']],
    ['', ['a', 'b', 'c']],
  ])('labels: %s', async (selector, expected) => {
    await createAll('a', 'b', 'c');
    expect(names(await list(`labelSelector=${encodeURIComponent(selector)}`))).toEqual(expected);
  });

  it.each([
    ['a===b', "unable to parse requirement: found '=', expected: identifier"],
    ['a foo (b)', "unable to parse requirement: found 'foo', expected: in, notin, =, ==, !=, gt, lt"],
    ['a=b!', "found '!', expected: ',' or 'end of string'"],
    [',', "found ',', expected: !, identifier, or 'end of string'"],
  ])('labels: %s is refused', async (selector, message) => {
    expect(await list(`labelSelector=${encodeURIComponent(selector)}`)).toMatchObject({
      status: 400,
      body: { message },
    });
  });

  it.each([
    ['spec.nodeName=n1', ['there']],
    ['spec.nodeName!=n1', ['nowhere']],
    ['status.phase=Pending', ['nowhere', 'there']],
    ['metadata.name=there,metadata.namespace=default', ['there']],
    ['spec.hostNetwork=true', []],
  ])('fields: %s', async (selector, expected) => {
    const pods = '/api/v1/namespaces/default/pods';
    const containers = [{ name: 'c', image: 'x' }];
    await client.send('POST', pods, { metadata: { name: 'there' }, spec: { nodeName: 'n1', containers } });
    await client.send('POST', pods, { metadata: { name: 'nowhere' }, spec: { containers } });
    expect(names(await list(`fieldSelector=${encodeURIComponent(selector)}`, pods))).toEqual(expected);
  });

  it('fields that cannot be selected are refused', async () => {
    expect(await list('fieldSelector=data.a%3Db')).toMatchObject({
      status: 400,
      body: { message: '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"' },
    });
  });
});

it('all namespaces are listed in the order of their names', async () => {
  for (const namespace of ['kube-system', 'default', 'kube-public']) {
    await client.send('POST', `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: 'x' } });
  }
  const { body } = await list('', '/api/v1/configmaps');
  expect(body.items.map((item: { metadata: { namespace: string } }) => item.metadata.namespace)).toEqual([
    'default',
    'kube-public',
    'kube-system',
  ]);
});
