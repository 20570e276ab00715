import { readFile } from 'node:fs/promises';
import type { AnyObject } from 'kopf-ts';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { newStage, type Stage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);
const crd = new URL('crd.yaml', import.meta.url);
const orders = parse(await readFile(new URL('obj.yaml', import.meta.url), 'utf8')) as AnyObject;
const timeout = 120_000;

const readyStage = () => newStage({ apply: [crd], hasWorkloads: true });

/** The versions of the pods, from the first to the last; `-` if there is none. */
const versionsOf = async (stage: Stage): Promise<string> => {
  const pods = await stage.list('pods');
  const images = new Map(pods.map(({ metadata, spec }) => [metadata?.name, spec.containers[0].image]));
  return [0, 1, 2].map((n) => images.get(`orders-${n}`)?.replace('postgres:', '') ?? '-').join(' ');
};

const isReady = async (stage: Stage): Promise<void> => {
  const { status } = await stage.get('databases', 'orders');
  expect(status).toMatchObject({
    phase: 'Ready',
    conditions: [{ type: 'Ready', status: 'True', message: '3 of 3 replicas are ready.' }],
  });
};

it('makes all that a database needs, rolls versions replica by replica, and leaves no data', { timeout }, async () => {
  await using stage = await readyStage();
  await using operator = await stage.run(handlers);
  const { metadata } = await stage.create('databases', orders);
  await stage.eventually(() => isReady(stage));
  expect(await versionsOf(stage)).toBe('17 17 17');
  for (const plural of ['secrets', 'services', 'statefulsets']) {
    const owner = { kind: 'Database', name: 'orders', uid: metadata?.uid, controller: true };
    expect(await stage.get(plural, 'orders')).toMatchObject({ metadata: { ownerReferences: [owner] } });
  }
  const { data } = await stage.get('secrets', 'orders');
  expect(Buffer.from(data.password, 'base64').toString()).toMatch(/^[0-9a-f]{32}$/);

  await stage.patch('databases', 'orders', { spec: { version: '18' } });
  await stage.eventually(async () => {
    expect(await versionsOf(stage)).toBe('18 18 18');
    await isReady(stage);
  });
  const rolled = operator.logs.messages('info').filter((message) => message.endsWith('is of version 18.'));
  expect(rolled.map((message) => message.slice(0, 'orders-0'.length))).toEqual(['orders-2', 'orders-1', 'orders-0']);
  expect((await stage.get('secrets', 'orders')).data).toEqual(data);

  expect(await stage.list('persistentvolumeclaims')).toHaveLength(3);
  await stage.delete('databases', 'orders');
  await stage.gone('databases', 'orders');
  const claims = await stage.list('persistentvolumeclaims');
  expect(claims.filter((claim) => claim.metadata?.deletionTimestamp === undefined)).toEqual([]);
});

it('fills in what is left out, and refuses what cannot be done', { timeout }, async () => {
  await using stage = await readyStage();
  await using _operator = await stage.run(handlers);
  // It takes the API server a moment to take notice of the webhooks.
  const { spec } = await stage.eventually(async () => {
    const name = `orders-${Date.now()}`;
    const created = await stage.create('databases', { ...orders, metadata: { name }, spec: { version: '17.2' } });
    expect(created['spec']).toEqual({ version: '17.2', replicas: 3, storage: '1Gi' });
    return created;
  });
  expect(spec.replicas).toBe(3);
  await stage.create('databases', orders);
  const change = (spec: object) => stage.patch('databases', 'orders', { spec });
  await expect(change({ version: '16.9' })).rejects.toThrow(/Data of 17 cannot be read by 16\.9\./);
  await expect(change({ storage: '2Gi' })).rejects.toMatchObject({ status: 422 });
});
