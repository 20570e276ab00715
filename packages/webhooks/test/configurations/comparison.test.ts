import { describe, expect, it } from 'vitest';
import { areSameWebhooks } from '../../src/configurations/entry-comparison.js';

const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['*'], scope: '*' };
const desired = {
  name: 'id.auto.kopf.dev',
  sideEffects: 'None',
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  rules: [rule],
  objectSelector: null,
  clientConfig: { url: 'https://localhost/id', caBundle: 'QUJD' },
  timeoutSeconds: 30,
  admissionReviewVersions: ['v1', 'v1beta1'],
};
/** The same as a real API server keeps it. */
const kept = { ...desired, namespaceSelector: {}, objectSelector: {} };

describe('webhooks in the cluster', () => {
  it('are the same as wished if they differ in what the API server adds', () => {
    expect(areSameWebhooks([kept], [desired])).toBe(true);
    expect(areSameWebhooks([{ ...kept, reinvocationPolicy: 'Never' }], [desired])).toBe(true);
    expect(areSameWebhooks([{ ...kept, fromTheFuture: 'x' }], [desired])).toBe(true);
  });

  it('are the same as wished if they differ in what the API server drops', () => {
    const { rules: _rules, ...without } = kept;
    expect(areSameWebhooks([without], [{ ...desired, rules: [], matchConditions: [] }])).toBe(true);
    const selector = { matchLabels: {}, matchExpressions: [{ key: 'a', operator: 'Exists', values: [] }] };
    const reduced = { matchExpressions: [{ key: 'a', operator: 'Exists' }] };
    expect(areSameWebhooks([{ ...kept, objectSelector: reduced }], [{ ...desired, objectSelector: selector }])).toBe(
      true,
    );
    const unsafe = { clientConfig: { url: 'https://localhost/id' } };
    expect(
      areSameWebhooks(
        [{ ...kept, ...unsafe }],
        [{ ...desired, clientConfig: { ...unsafe.clientConfig, caBundle: '' } }],
      ),
    ).toBe(true);
    expect(areSameWebhooks(undefined, [])).toBe(true);
  });

  it('have the port of services even if it is not given', () => {
    const service = { namespace: 'ns', name: 'svc', path: '/id' };
    const [ours, theirs] = [{ service }, { service: { ...service, port: 443 } }];
    expect(areSameWebhooks([{ ...kept, clientConfig: theirs }], [{ ...desired, clientConfig: ours }])).toBe(true);
    const other = { service: { ...service, port: 8443 } };
    expect(areSameWebhooks([{ ...kept, clientConfig: other }], [{ ...desired, clientConfig: ours }])).toBe(false);
  });

  it.each([
    ['name', 'x'],
    ['sideEffects', 'NoneOnDryRun'],
    ['failurePolicy', 'Ignore'],
    ['matchPolicy', 'Exact'],
    ['rules', []],
    ['rules', [{ ...rule, operations: ['CREATE'] }]],
    ['rules', [{ ...rule, scope: 'Namespaced' }]],
    ['rules', [rule, rule]],
    ['objectSelector', { matchLabels: { a: 'b' } }],
    ['namespaceSelector', { matchLabels: { a: 'b' } }],
    ['matchConditions', [{ name: 'n', expression: 'false' }]],
    ['timeoutSeconds', 10],
    ['admissionReviewVersions', ['v1']],
    ['reinvocationPolicy', 'IfNeeded'],
    ['clientConfig', { url: 'https://elsewhere/id', caBundle: 'QUJD' }],
    ['clientConfig', { url: 'https://localhost/id', caBundle: 'QUJE' }],
    ['clientConfig', { url: 'https://localhost/id' }],
    ['clientConfig', undefined],
  ])('differ from the wished by %s: %j', (field, value) => {
    expect(areSameWebhooks([{ ...kept, [field]: value }], [desired])).toBe(false);
    expect(areSameWebhooks([{ ...kept, [field]: value }], [desired], 'ours')).toBe(false);
  });

  it('differ if there are more of them, or less, or in another order', () => {
    const [other, otherKept] = [
      { ...desired, name: 'other' },
      { ...kept, name: 'other' },
    ];
    expect(areSameWebhooks([kept, otherKept], [desired])).toBe(false);
    expect(areSameWebhooks([], [desired])).toBe(false);
    expect(areSameWebhooks([otherKept, kept], [desired, other])).toBe(false);
    expect(areSameWebhooks([kept, otherKept], [desired, other])).toBe(true);
    expect(areSameWebhooks('nonsense', [desired])).toBe(false);
    expect(areSameWebhooks([null], [desired])).toBe(false);
  });
});

describe('authorities of webhooks in the cluster', () => {
  const certificate = (text: string) => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;
  const trusting = (webhook: object, ...names: readonly string[]) => ({
    ...webhook,
    clientConfig: {
      url: 'https://localhost/id',
      caBundle: Buffer.from(names.map(certificate).join('')).toString('base64'),
    },
  });

  it('can be more than ours when others have changed them, as other replicas may be ahead of us', () => {
    expect(areSameWebhooks([trusting(kept, 'OLD', 'NEW')], [trusting(desired, 'OLD')], 'ours')).toBe(true);
    expect(areSameWebhooks([trusting(kept, 'NEW', 'OLD')], [trusting(desired, 'OLD', 'NEW')], 'ours')).toBe(true);
  });

  it('cannot be less than ours, or others instead', () => {
    expect(areSameWebhooks([trusting(kept, 'NEW')], [trusting(desired, 'OLD', 'NEW')], 'ours')).toBe(false);
    expect(areSameWebhooks([trusting(kept, 'NEW')], [trusting(desired, 'OLD')], 'ours')).toBe(false);
    expect(areSameWebhooks([trusting(kept)], [trusting(desired, 'OLD')], 'ours')).toBe(false);
  });

  it('must be exactly ours when we change them ourselves', () => {
    expect(areSameWebhooks([trusting(kept, 'OLD', 'NEW')], [trusting(desired, 'NEW')])).toBe(false);
    expect(areSameWebhooks([trusting(kept, 'NEW')], [trusting(desired, 'NEW')])).toBe(true);
  });

  it('do not depend on how they are encoded', () => {
    const { caBundle } = trusting(desired, 'OLD').clientConfig;
    const folded = { url: 'https://localhost/id', caBundle: `${caBundle.slice(0, 20)}\n${caBundle.slice(20)}` };
    expect(areSameWebhooks([trusting(kept, 'OLD')], [{ ...desired, clientConfig: folded }])).toBe(true);
  });
});
