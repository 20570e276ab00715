import { manualClock } from '@kopf-ts/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LocalCluster, localCluster } from '../../src/index.js';

let cluster: LocalCluster;
beforeAll(async () => {
  cluster = await localCluster({ clock: manualClock(), controllers: false });
  const pod = (name: string, containers: readonly string[], spec: object = {}) =>
    cluster.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default' },
      spec: { containers: containers.map((one) => ({ name: one, image: 'x' })), ...spec },
    });
  await cluster.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'bare' } });
  const placed = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'placed' } };
  await cluster.create({ ...placed, status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] } });
  await pod('one', ['main']);
  await pod('two', ['a', 'b'], { initContainers: [{ name: 'i', image: 'x' }] });
  await pod('lost', ['main'], { nodeName: 'nowhere' });
  await pod('unreachable', ['main'], { nodeName: 'bare' });
  await pod('running', ['main'], { nodeName: 'placed' });
});
afterAll(() => cluster.stop());

async function ask(path: string, method = 'GET'): Promise<string> {
  const response = await fetch(`${cluster.url}/api/v1/namespaces/default/pods/${path}`, {
    method,
    headers: { authorization: `Bearer ${cluster.token}` },
  });
  const text = await response.text();
  const message = text.startsWith('{') ? (JSON.parse(text) as { message: string }).message : text;
  return `${response.status} ${message}`;
}

it.each([
  ['one/log', '204 '],
  ['running/log', '200 '],
  ['two/log?container=i', '204 '],
  ['none/log', '404 pods "none" not found'],
  ['two/log', '400 a container name must be specified for pod two, choose one of: [i a b]'],
  ['two/log?container=c', '400 container c is not valid for pod two'],
  [
    'one/log?tailLines=-1',
    '422 PodLogOptions "one" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
  ],
  ['lost/log', '404 pods "nowhere" not found'],
  ['unreachable/log', '500 no preferred addresses found; known addresses: []'],
])('the log of %s', async (path, expected) => {
  expect(await ask(path)).toBe(expected);
});

it.each(['exec', 'attach', 'portforward'])('%s needs a host', async (what) => {
  for (const method of ['GET', 'POST']) {
    expect(await ask(`one/${what}`, method)).toBe('400 pod one does not have a host assigned');
    expect(await ask(`lost/${what}`, method)).toBe('404 pods "nowhere" not found');
    expect(await ask(`running/${what}`, method)).toBe(
      '500 error dialing backend: nothing runs in the containers of this cluster',
    );
  }
  expect(await ask(`one/${what}`, 'DELETE')).toMatch(/^405 /);
});
