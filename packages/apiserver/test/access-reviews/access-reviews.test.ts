import { ApiError } from '@kopf-ts/core';
import { manualClock } from '@kopf-ts/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalCluster, localCluster } from '../../src/index.js';

let cluster: LocalCluster;
beforeEach(async () => {
  cluster = await localCluster({ listen: false, clock: manualClock(), controllers: false });
});
afterEach(async () => {
  await cluster.stop();
});

const AUTHENTICATION = 'authentication.k8s.io/v1';
const AUTHORIZATION = 'authorization.k8s.io/v1';

async function ask(apiVersion: string, kind: string, rest: object, namespace = ''): Promise<Record<string, unknown>> {
  const place = namespace === '' ? '' : `namespaces/${namespace}/`;
  const path = `/apis/${apiVersion}/${place}${kind.toLowerCase()}s`;
  return await cluster.client.request({ method: 'POST', path, body: { apiVersion, kind, ...rest } });
}

async function refusal(...question: Parameters<typeof ask>): Promise<string> {
  try {
    await ask(...question);
  } catch (error) {
    if (error instanceof ApiError) return `${error.status}: ${(error.payload as { message: string }).message}`;
    throw error;
  }
  return 'none';
}

const resourceAttributes = { namespace: 'default', verb: 'get', resource: 'pods' };
const nonResourceAttributes = { path: '/x', verb: 'get' };

describe('reviews of access', () => {
  it('everybody may do everything', async () => {
    const { status, spec } = await ask(AUTHORIZATION, 'SubjectAccessReview', {
      spec: { user: 'me', resourceAttributes },
    });
    expect(status).toEqual({ allowed: true });
    expect(spec).toEqual({ user: 'me', resourceAttributes });
  });

  it.each([
    [
      'about nothing',
      'SelfSubjectAccessReview',
      { spec: {} },
      'spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    ],
    [
      'about two things',
      'SelfSubjectAccessReview',
      { spec: { resourceAttributes, nonResourceAttributes } },
      'spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: cannot be specified in combination with resourceAttributes',
    ],
    [
      'about nobody',
      'SubjectAccessReview',
      { spec: { resourceAttributes } },
      'spec.user: Invalid value: "": at least one of user or group must be specified',
    ],
    [
      'with metadata',
      'SelfSubjectAccessReview',
      { metadata: { labels: { b: '<', a: '' }, name: 'x' }, spec: { resourceAttributes } },
      'metadata: Invalid value: {"name":"x","labels":{"a":"","b":"\\u003c"}}: must be empty',
    ],
    [
      'with a selector of nothing',
      'SelfSubjectAccessReview',
      { spec: { resourceAttributes: { ...resourceAttributes, fieldSelector: {} } } },
      'spec.resourceAttributes.fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required',
    ],
  ])('are refused if they are %s', async (_, kind, question, message) => {
    const text = (await refusal(AUTHORIZATION, kind, question)).replace(/,"managedFields":\[.*\](?=\}: )/, '');
    expect(text).toBe(`422: .authorization.k8s.io "" is invalid: ${message}`);
  });

  it('in a namespace are about that namespace', async () => {
    const kind = 'LocalSubjectAccessReview';
    const { metadata } = await ask(AUTHORIZATION, kind, { spec: { user: 'me', resourceAttributes } }, 'default');
    expect(metadata).toMatchObject({ namespace: 'default' });
    const elsewhere = { spec: { user: 'me', resourceAttributes: { ...resourceAttributes, namespace: 'other' } } };
    expect(await refusal(AUTHORIZATION, kind, elsewhere, 'default')).toContain(
      'spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace',
    );
    const noResource = { spec: { user: 'me', nonResourceAttributes } };
    expect(await refusal(AUTHORIZATION, kind, noResource, 'default')).toContain('disallowed on this kind of request');
    expect(await refusal(AUTHORIZATION, kind, noResource)).toMatch(/^404: /);
  });
});

describe('reviews of oneself', () => {
  it('tell who asks, and nothing of what was asked', async () => {
    const { metadata, status } = await ask(AUTHENTICATION, 'SelfSubjectReview', { metadata: { name: 'x' } });
    expect(metadata).toEqual({ creationTimestamp: '2020-01-01T00:00:00Z' });
    expect(status).toMatchObject({ userInfo: { username: 'kubernetes-admin' } });
  });

  it('tell the rules of a namespace, which is to be given', async () => {
    const kind = 'SelfSubjectRulesReview';
    expect(await refusal(AUTHORIZATION, kind, { spec: {} })).toBe('400: no namespace on request');
    const { metadata, spec } = await ask(AUTHORIZATION, kind, { spec: { namespace: 'default' } });
    expect([metadata, spec]).toEqual([{}, {}]);
  });
});

describe('reviews of tokens', () => {
  it('tell whose they are', async () => {
    const token = cluster.security.addUser({ username: 'me', uid: '5' });
    const { status } = await ask(AUTHENTICATION, 'TokenReview', { spec: { token } });
    expect(status).toMatchObject({ authenticated: true, user: { username: 'me', uid: '5' } });
  });

  it('need a token', async () => {
    const text = await refusal(AUTHENTICATION, 'TokenReview', { spec: {} });
    expect(text).toBe('400: token is required for TokenReview in authentication');
  });
});
