import type { AnyObject, KubeClient, KubeRequest } from '@kopf-ts/core';
import { blockDeletion } from '@kopf-ts/core/engine';
import { describe, expect, it } from 'vitest';
import { CLIENT, objectOf, reviewed, settingsWithStorages } from './reviewed.js';

const before = objectOf();
const marked: AnyObject = objectOf();
blockDeletion('kopf.zalando.org/KopfFinalizerMarker')(marked);
const forged = objectOf({
  metadata: {
    ...before.metadata,
    annotations: { 'kopf.zalando.org/fn': '{"started":"2020-01-01T00:00:00+00:00","retries":1,"success":true}' },
  },
});

/** A cluster that says who asks; and how often it was asked. */
function knowing(...answers: readonly (() => unknown)[]): KubeClient & { readonly requests: KubeRequest[] } {
  const requests: KubeRequest[] = [];
  return {
    ...CLIENT,
    requests,
    request: async <T>(request: KubeRequest) => {
      const answer = answers[Math.min(requests.length, answers.length - 1)];
      requests.push(request);
      return answer?.() as T;
    },
  };
}
const as = (username: unknown) => () => ({ status: { userInfo: { username } } });
const refusing = () => {
  throw new Error('no such kind');
};

/** A strict handler; and whether it sees an update of the marks by that user. */
function strict(client: KubeClient, compat?: 'kopf') {
  const settings = settingsWithStorages();
  if (compat !== undefined) settings.persistence.compat = compat;
  const { ask, clock, logger } = reviewed(
    ({ on }) =>
      on.validate('kopfexamples', { id: 'strict' }, () => {
        throw new Error('This object is wrong, and always was.');
      }),
    { client, settings },
  );
  const isSeen = async (username: string | undefined, object = marked, oldObject = before): Promise<boolean> =>
    !(await ask({ operation: 'UPDATE', object, oldObject, userInfo: { username } })).allowed;
  return { isSeen, clock, logger };
}

const OPERATOR = 'system:serviceaccount:operators:mine';

describe('an update of our own marks is exempt from reviews', () => {
  it('for our own user only', async () => {
    const client = knowing(as(OPERATOR));
    const { isSeen } = strict(client);
    for (const object of [marked, forged]) {
      expect(await isSeen(OPERATOR, object)).toBe(false);
      expect(await isSeen(OPERATOR, before, object)).toBe(false);
      for (const stranger of ['tenant', `${OPERATOR} `, OPERATOR.toUpperCase(), '', undefined]) {
        expect(await isSeen(stranger, object)).toBe(true);
        expect(await isSeen(stranger, before, object)).toBe(true);
      }
    }
    expect(client.requests).toEqual([
      expect.objectContaining({ method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews' }),
    ]);
  });

  it('which the cluster is asked for once, however many wait for it', async () => {
    const client = knowing(as(OPERATOR));
    const { isSeen } = strict(client);
    expect(await Promise.all([isSeen(OPERATOR), isSeen('tenant'), isSeen(OPERATOR)])).toEqual([false, true, false]);
    expect(client.requests).toHaveLength(1);
  });

  it('also after a login as another user; but strangers cannot make us ask all the time', async () => {
    const client = knowing(as('first'), as('second'));
    const { isSeen, clock } = strict(client);
    expect(await isSeen('first')).toBe(false);
    for (let count = 0; count < 20; count++) expect(await isSeen('tenant')).toBe(true);
    expect(client.requests).toHaveLength(1);
    await clock.advance(11);
    expect(await isSeen('second')).toBe(false);
    expect(await isSeen('first')).toBe(false);
    expect(client.requests).toHaveLength(2);
  });

  it.each([
    ['refuses to tell', refusing],
    ['tells nothing', as(undefined)],
    ['tells nonsense', () => 'nonsense'],
    ['tells an empty name', as('')],
  ])('for nobody if the cluster %s, which is reported once, until it does', async (_title, answer) => {
    const client = knowing(answer, answer, as(OPERATOR));
    const { isSeen, clock, logger } = strict(client);
    expect(await isSeen(OPERATOR)).toBe(true);
    await clock.advance(11);
    expect(await isSeen(OPERATOR)).toBe(true);
    expect(logger.messages('warn')).toEqual([expect.stringContaining('does not know its own user in the cluster')]);
    await clock.advance(11);
    expect(await isSeen(OPERATOR)).toBe(false);
  });

  it('and nobody is asked about the user where the handlers are asked anyway', async () => {
    const client = knowing(as(OPERATOR));
    const { isSeen } = strict(client);
    expect(await isSeen(OPERATOR, objectOf({ spec: { field: 'other' } }))).toBe(true);
    expect(await strict(client, 'kopf').isSeen(OPERATOR)).toBe(true);
    expect(client.requests).toEqual([]);
  });
});
