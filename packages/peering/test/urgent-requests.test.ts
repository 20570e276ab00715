import { type KubeClient, type KubeRequest, settings } from '@kopf-ts/core';
import { expect, it } from 'vitest';
import { kopfPeering, leasePeering } from '../src/index.js';
import { join, makeRig } from './helpers/joining.js';

it.each([
  ['keep-alives and what is watched', () => kopfPeering({ settings: settings(), identity: 'me' })],
  ['leases', () => leasePeering({ name: 'operator', namespace: 'default', identity: 'me' })],
])('requests for %s never wait behind the requests of handlers', async (_title, peeringOf) => {
  const rig = await makeRig();
  const asked: KubeRequest[] = [];
  const { client: origin } = rig.cluster;
  const client: KubeClient = {
    request: (request) => {
      asked.push(request);
      return origin.request(request);
    },
    stream: (request) => {
      asked.push(request);
      return origin.stream(request);
    },
  };
  const operator = await join(rig, peeringOf(), { client });
  await rig.clock.advance(200);
  operator.abort();
  await rig.clock.advance(10);
  expect(asked.length).toBeGreaterThan(3);
  expect(asked.filter(({ urgent }) => urgent !== true)).toEqual([]);
});
