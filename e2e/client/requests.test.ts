import { kubeClient, loginWithKubeconfig, reloadingCredentials } from '@kopf-ts/client';
import { ApiUnauthorizedError, type KubeClient, settings } from '@kopf-ts/core';
import { recordingLogger, testClient } from '@kopf-ts/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { clientOf, realClock } from '../support/client.js';
import { newNamespace } from '../support/objects.js';
import { describeOnRealCluster, realCluster } from '../support/real-cluster.js';

interface SelfReview {
  readonly status: { readonly userInfo: object };
}

/** As whom the server knows the client. */
async function whoAmI(client: KubeClient): Promise<object> {
  const kind = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const review = await client.request<SelfReview>({ method: 'POST', path, body: kind });
  return review.status.userInfo;
}

describeOnRealCluster('the client of a real cluster', () => {
  let namespace: string;
  beforeAll(async () => {
    await using client = clientOf(realCluster());
    namespace = await newNamespace(client);
  });

  testClient(
    () => {
      const client = clientOf(realCluster());
      return { client, namespace, dispose: () => client.close() };
    },
    { describe, it },
  );

  describe('logs in', () => {
    it.each(['token', 'certificate'])('by the context of a kubeconfig: %s', async (context) => {
      const load = () => loginWithKubeconfig({ path: realCluster().kubeconfig, context });
      const credentials = reloadingCredentials(load, { clock: realClock });
      await using client = kubeClient({ credentials, clock: realClock, logger: recordingLogger() });
      await expect(whoAmI(client)).resolves.toMatchObject({ groups: expect.arrayContaining(['system:masters']) });
    });

    it('on behalf of somebody else', async () => {
      const impersonate = { user: 'jane', uid: '7', groups: ['a', 'b'], extra: { scope: ['x', 'y'] } };
      await using impersonator = clientOf(realCluster(), { impersonate });
      await expect(whoAmI(impersonator)).resolves.toMatchObject({
        username: 'jane',
        uid: '7',
        groups: expect.arrayContaining(['a', 'b']),
        extra: { scope: ['x', 'y'] },
      });
    });

    it('but not with a wrong token: it tries for as long as told, and says so', async () => {
      const logger = recordingLogger();
      const { url, ca } = realCluster();
      await using stranger = kubeClient({
        connection: { server: url, ca, token: 'wrong' },
        clock: realClock,
        logger,
        settings: settings({ networking: { errorBackoffs: [0.01, 0.01] } }),
      });
      await expect(stranger.request({ method: 'GET', path: '/api' })).rejects.toBeInstanceOf(ApiUnauthorizedError);
      expect(logger.messages('error')).toHaveLength(3);
      const stream = stranger.stream({ method: 'GET', path: '/api/v1/pods?watch=true' });
      await expect(stream[Symbol.asyncIterator]().next()).rejects.toBeInstanceOf(ApiUnauthorizedError);
    });
  });
});
