import { describe, expect, it } from 'vitest';
import { ApiForbiddenError, apiError } from '../src/errors.js';

const forbidden = (message: string): string => apiError({ status: 403, payload: { kind: 'Status', message } }).message;

describe('a refusal for lack of permissions', () => {
  it.each([
    [
      'pods is forbidden: User "me" cannot list resource "pods" in API group "" at the cluster scope',
      'Missing in a ClusterRole: { apiGroups: [""], resources: ["pods"], verbs: ["list", "watch"] }',
    ],
    [
      'jobs.batch "a" is forbidden: User "me" cannot patch resource "jobs/status" in API group "batch" in the namespace "shop"',
      'Missing in a Role of the namespace "shop": { apiGroups: ["batch"], resources: ["jobs/status"], verbs: ["patch"] }',
    ],
    [
      'forbidden: User "me" cannot get path "/metrics"',
      'Missing in a ClusterRole: { nonResourceURLs: ["/metrics"], verbs: ["get"] }',
    ],
  ])('ends with the rule that is missing: %s', (words, rule) => {
    expect(forbidden(words)).toBe(`${words}. ${rule}`);
  });

  it.each(['admission webhook "a.b.c" denied the request: no', 'exceeded quota: compute, requested: pods=1'])(
    'of another sort is as the server says it: %s',
    (words) => {
      expect(forbidden(words)).toBe(words);
      expect(apiError({ status: 403, payload: words })).toBeInstanceOf(ApiForbiddenError);
    },
  );
});
