import { localCluster } from '@kopf-ts/apiserver';
import { apiError, type KubeClient, type KubeRequest } from '@kopf-ts/core';
import { recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { releaseWebhooks } from '../../src/configurations/releasing.js';
import { PATHS } from './keeping.js';

const MARK = { 'app.kubernetes.io/managed-by': 'kopf-ts' };
const webhooks = ['a.auto.kopf.dev', 'b.auto.kopf.dev'].map((name) => ({
  name,
  sideEffects: 'None',
  clientConfig: { url: 'https://nowhere/' },
  admissionReviewVersions: ['v1'],
}));

async function clusterWithLeftovers() {
  const cluster = await localCluster({ listen: false, controllers: false });
  onTestFinished(() => cluster.stop());
  const put = (path: string, name: string, labels: object) =>
    cluster.client.request({
      method: 'POST',
      path,
      contentType: 'application/json',
      body: { metadata: { name, labels }, webhooks },
    });
  await put(PATHS.validating, 'auto.kopf.dev', MARK);
  await put(PATHS.mutating, 'auto.kopf.dev', MARK);
  await put(PATHS.validating, 'other.kopf.dev', MARK);
  await put(PATHS.validating, 'foreign.dev', {});
  const names = async (path: string): Promise<(string | undefined)[]> => {
    const { items } = await cluster.client.request<{ items: { metadata: { name: string }; webhooks?: object[] }[] }>({
      method: 'GET',
      path,
    });
    return items.filter((item) => item.webhooks?.length).map(({ metadata }) => metadata.name);
  };
  const requests: KubeRequest[] = [];
  const state = { fault: undefined as ((request: KubeRequest) => Error | undefined) | undefined };
  const client: KubeClient = {
    async request<T>(request: KubeRequest) {
      requests.push(request);
      const fault = state.fault?.(request);
      if (fault !== undefined) throw fault;
      return await cluster.client.request<T>(request);
    },
    stream: (request) => cluster.client.stream(request),
  };
  return { client, requests, state, left: async () => [await names(PATHS.validating), await names(PATHS.mutating)] };
}

describe('releasing of webhook configurations', () => {
  it('deletes all that carry our mark, and no others', async () => {
    const { client, left } = await clusterWithLeftovers();
    const names = webhooks.map(({ name }) => name);
    expect(await releaseWebhooks({ client })).toEqual([
      { reason: 'validating', name: 'auto.kopf.dev', webhooks: names, action: 'deleted' },
      { reason: 'validating', name: 'other.kopf.dev', webhooks: names, action: 'deleted' },
      { reason: 'mutating', name: 'auto.kopf.dev', webhooks: names, action: 'deleted' },
    ]);
    expect(await left()).toEqual([['foreign.dev'], []]);
    expect(await releaseWebhooks({ client })).toEqual([]);
  });

  it('deletes those of the given name, whosever they are', async () => {
    const { client, left } = await clusterWithLeftovers();
    const released = await releaseWebhooks({ client, name: 'foreign.dev' });
    expect(released).toMatchObject([{ reason: 'validating', name: 'foreign.dev', action: 'deleted' }]);
    expect(await left()).toEqual([['auto.kopf.dev', 'other.kopf.dev'], ['auto.kopf.dev']]);
    await releaseWebhooks({ client, name: 'auto.kopf.dev' });
    expect(await left()).toEqual([['other.kopf.dev'], []]);
  });

  it('only tells what there is, if so asked', async () => {
    const { client, requests } = await clusterWithLeftovers();
    const released = await releaseWebhooks({ client, name: 'auto.kopf.dev', dryRun: true });
    expect(released.map(({ reason, action }) => [reason, action])).toEqual([
      ['validating', 'found'],
      ['mutating', 'found'],
    ]);
    expect(requests.every(({ method }) => method === 'GET')).toBe(true);
  });

  it('tells what it does', async () => {
    const { client } = await clusterWithLeftovers();
    const logger = recordingLogger();
    await releaseWebhooks({ client, name: 'auto.kopf.dev', logger });
    expect(logger.messages('info')).toEqual([
      "The validating webhook configuration 'auto.kopf.dev' is deleted; its webhooks: a.auto.kopf.dev, b.auto.kopf.dev.",
      "The mutating webhook configuration 'auto.kopf.dev' is deleted; its webhooks: a.auto.kopf.dev, b.auto.kopf.dev.",
    ]);
  });

  it('finds nothing where there is nothing, not even such kinds', async () => {
    const { client, state } = await clusterWithLeftovers();
    expect(await releaseWebhooks({ client, name: 'unknown.dev' })).toEqual([]);
    state.fault = () => apiError({ status: 404 });
    expect(await releaseWebhooks({ client })).toEqual([]);
    expect(await releaseWebhooks({ client, name: 'auto.kopf.dev' })).toEqual([]);
  });

  it('is fine with those that vanish, or are replaced, at the same moment', async () => {
    const { client, state, left } = await clusterWithLeftovers();
    state.fault = ({ method }) => (method === 'DELETE' ? apiError({ status: 404 }) : undefined);
    expect(await releaseWebhooks({ client })).toEqual([]);
    state.fault = ({ method }) => (method === 'DELETE' ? apiError({ status: 409 }) : undefined);
    expect(await releaseWebhooks({ client })).toEqual([]);
    expect(await left()).toEqual([['auto.kopf.dev', 'foreign.dev', 'other.kopf.dev'], ['auto.kopf.dev']]);
  });

  it('empties what it may not delete', async () => {
    const { client, state, left } = await clusterWithLeftovers();
    state.fault = ({ method }) => (method === 'DELETE' ? apiError({ status: 403 }) : undefined);
    const released = await releaseWebhooks({ client, name: 'auto.kopf.dev' });
    expect(released.map(({ action }) => action)).toEqual(['emptied', 'emptied']);
    expect(await left()).toEqual([['foreign.dev', 'other.kopf.dev'], []]);
  });

  it('does with a name even if it may not look', async () => {
    const { client, state, left } = await clusterWithLeftovers();
    state.fault = ({ method }) => (method === 'GET' ? apiError({ status: 403 }) : undefined);
    const released = await releaseWebhooks({ client, name: 'other.kopf.dev' });
    expect(released).toEqual([{ reason: 'validating', name: 'other.kopf.dev', webhooks: [], action: 'deleted' }]);
    expect(await left()).toEqual([['auto.kopf.dev', 'foreign.dev'], ['auto.kopf.dev']]);
    await expect(releaseWebhooks({ client })).rejects.toMatchObject({ status: 403 });
    await expect(releaseWebhooks({ client, name: 'any.dev', dryRun: true })).rejects.toMatchObject({ status: 403 });
  });

  it('fails if the cluster fails', async () => {
    const { client, state } = await clusterWithLeftovers();
    state.fault = ({ method }) => (method === 'DELETE' ? apiError({ status: 500 }) : undefined);
    await expect(releaseWebhooks({ client })).rejects.toMatchObject({ status: 500 });
  });
});
