import { ABSENT, createRegistry, PRESENT } from '@kopf-ts/core';
import { makeResource, type WebhookHandler } from '@kopf-ts/core/engine';
import { describe, expect, it } from 'vitest';
import { type EntriesOptions, neverCalled, webhookEntries } from '../../src/configurations/webhook-entries.js';

const KEX = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'kopfexamples', kind: 'KopfExample' });
const PODS = makeResource({ group: '', version: 'v1', plural: 'pods', kind: 'Pod' });
const CONFIGURATIONS = makeResource({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingwebhookconfigurations',
});

type Options = Parameters<ReturnType<typeof createRegistry>['on']['validate']>[1];

function handlers(
  ...ids: readonly (string | ({ id: string; of?: string } & Record<string, unknown>))[]
): WebhookHandler[] {
  const registry = createRegistry();
  for (const given of ids) {
    const { of = 'kopfexamples', ...options } = typeof given === 'string' ? { id: given } : given;
    registry.on.validate(of, options as Options, () => {});
  }
  return [...registry.handlers.webhooks];
}

function entries(of: readonly WebhookHandler[], options: Partial<EntriesOptions> = {}) {
  return webhookEntries(of, {
    reason: 'validating',
    managed: 'auto.kopf.dev',
    config: { url: 'https://hostname/p1/p2' },
    resources: [KEX, PODS],
    ...options,
  });
}

describe('an entry of a configuration', () => {
  it('is complete, and in the order of Kopf', () => {
    expect(JSON.stringify(entries(handlers('id')))).toBe(
      JSON.stringify([
        {
          name: 'id.auto.kopf.dev',
          sideEffects: 'None',
          failurePolicy: 'Fail',
          matchPolicy: 'Equivalent',
          rules: [
            {
              apiGroups: ['kopf.dev'],
              apiVersions: ['v1'],
              resources: ['kopfexamples'],
              operations: ['*'],
              scope: '*',
            },
          ],
          objectSelector: null,
          clientConfig: { url: 'https://hostname/p1/p2/id' },
          timeoutSeconds: 30,
          admissionReviewVersions: ['v1', 'v1beta1'],
        },
      ]),
    );
  });

  it.each([
    [{ sideEffects: true }, { sideEffects: 'NoneOnDryRun' }],
    [{ sideEffects: false }, { sideEffects: 'None' }],
    [{ ignoreFailures: true }, { failurePolicy: 'Ignore' }],
    [{ ignoreFailures: false }, { failurePolicy: 'Fail' }],
    [{ timeoutSeconds: 5 }, { timeoutSeconds: 5 }],
    [{ namespaceSelector: { matchLabels: { a: 'b' } } }, { namespaceSelector: { matchLabels: { a: 'b' } } }],
    [
      { matchConditions: [{ name: 'n', expression: 'true' }] },
      { matchConditions: [{ name: 'n', expression: 'true' }] },
    ],
  ])('has the options of the handler: %j', (options, expected) => {
    expect(entries(handlers({ id: 'id', ...options }))[0]).toMatchObject(expected);
  });

  it('has nothing of what the handler does not say', () => {
    const [entry] = entries(handlers('id'));
    expect(entry).not.toHaveProperty('namespaceSelector');
    expect(entry).not.toHaveProperty('matchConditions');
  });

  it.each([
    [undefined, ['*']],
    [['CREATE'], ['CREATE']],
    [
      ['UPDATE', 'CREATE', 'UPDATE'],
      ['UPDATE', 'CREATE'],
    ],
  ])('is for the operations of the handler, in their order: %j', (operations, expected) => {
    const [entry] = entries(handlers({ id: 'id', operations }));
    expect(entry?.['rules']).toMatchObject([{ operations: expected }]);
  });

  it.each([
    [undefined, ['kopfexamples']],
    ['status', ['kopfexamples/status']],
    ['*', ['kopfexamples', 'kopfexamples/*']],
  ])('is for the subresource of the handler: %j', (subresource, expected) => {
    const [entry] = entries(handlers({ id: 'id', subresource }));
    expect(entry?.['rules']).toMatchObject([{ resources: expected }]);
  });

  it('is for subresources alone where Kopf makes it so', () => {
    const [entry] = entries(handlers({ id: 'id', subresource: '*' }), { compat: 'kopf' });
    expect(entry?.['rules']).toMatchObject([{ resources: ['kopfexamples/*'] }]);
  });

  it.each([
    [{ lbl: PRESENT }, { matchExpressions: [{ key: 'lbl', operator: 'Exists' }] }],
    [{ lbl: ABSENT }, { matchExpressions: [{ key: 'lbl', operator: 'DoesNotExist' }] }],
    [{ lbl: 'val' }, { matchExpressions: [{ key: 'lbl', operator: 'In', values: ['val'] }] }],
    [{ lbl: () => true }, null],
    [{ fn: () => true, lbl: 'val' }, { matchExpressions: [{ key: 'lbl', operator: 'In', values: ['val'] }] }],
  ])('selects the objects by the labels, where it can: %#', (labels, expected) => {
    expect(entries(handlers({ id: 'id', labels }))[0]?.['objectSelector']).toEqual(expected);
  });

  it('does not select the objects by anything else', () => {
    const options = { annotations: { a: 'b' }, when: () => true, field: 'spec.f', value: 1 };
    expect(entries(handlers({ id: 'id', ...options }))[0]?.['objectSelector']).toBeNull();
  });

  it('selects the objects by the labels and by the given selector together', () => {
    const given = { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'Exists' }] };
    const [entry] = entries(handlers({ id: 'id', labels: { lbl: 'val' }, objectSelector: given }));
    expect(entry?.['objectSelector']).toEqual({
      matchLabels: { a: 'b' },
      matchExpressions: [
        { key: 'c', operator: 'Exists' },
        { key: 'lbl', operator: 'In', values: ['val'] },
      ],
    });
    expect(entries(handlers({ id: 'id', objectSelector: given }))[0]?.['objectSelector']).toEqual(given);
    expect(given.matchExpressions).toHaveLength(1);
  });
});

describe('the entries of a configuration', () => {
  it('are one for each handler, with one rule for each kind', () => {
    const two = entries(handlers('id1', { id: 'id2', of: 'pods' }));
    expect(two.map(({ name }) => name)).toEqual(['id1.auto.kopf.dev', 'id2.auto.kopf.dev']);
    expect(two.map(({ rules }) => rules)).toMatchObject([
      [{ resources: ['kopfexamples'] }],
      [{ apiGroups: [''], resources: ['pods'] }],
    ]);
  });

  it('are there even if there are no such kinds', () => {
    const [entry] = entries(handlers('id'), { resources: [] });
    expect(entry?.['rules']).toEqual([]);
  });

  it('have several rules for handlers of several kinds', () => {
    const registry = createRegistry();
    registry.on.validate(
      () => true,
      { id: 'id' },
      () => {},
    );
    const [entry] = entries([...registry.handlers.webhooks]);
    expect(entry?.['rules']).toMatchObject([{ resources: ['kopfexamples'] }, { resources: ['pods'] }]);
  });

  it('are of handlers of one type only', () => {
    const registry = createRegistry();
    registry.on.validate('kopfexamples', { id: 'v' }, () => {});
    registry.on.mutate('kopfexamples', { id: 'm' }, () => {});
    const all = [...registry.handlers.webhooks];
    expect(entries(all).map(({ name }) => name)).toEqual(['v.auto.kopf.dev']);
    expect(entries(all, { reason: 'mutating' }).map(({ name }) => name)).toEqual(['m.auto.kopf.dev']);
  });

  it('are of persistent handlers only, on request, and have the same names', () => {
    const all = handlers('checkSize', { id: 'checksize', persistent: true }, { id: 'CHECKSIZE', persistent: true });
    const persistent = entries(all, { onlyPersistent: true });
    expect(persistent).toEqual(entries(all).slice(1));
    expect(persistent.map(({ name }) => name)).toEqual(['checksize.auto.kopf.dev', 'checksize-3.auto.kopf.dev']);
  });

  it('have the names of Kopf if it must be so, even if the API server does not accept them', () => {
    const all = handlers('checkSize', { id: 'fn', field: 'spec.f' });
    const names = entries(all, { compat: 'kopf', managed: 'sfx' }).map(({ name }) => name);
    expect(names).toEqual(['checkSize.sfx', 'fn.spec.f.sfx']);
  });
});

describe('the address of a handler', () => {
  const addressOf = (id: string, options: Partial<EntriesOptions>) =>
    entries(handlers(id), options)[0]?.['clientConfig'];

  it.each([
    ['id', 'https://hostname/p1/p2/id'],
    ['id_', 'https://hostname/p1/p2/id_'],
    ['id!', 'https://hostname/p1/p2/id%21'],
    ['id%', 'https://hostname/p1/p2/id%25'],
    ['id/sub', 'https://hostname/p1/p2/id/sub'],
  ])('has the id after the URL of the server: %j', (id, url) => {
    expect(addressOf(id, {})).toEqual({ url });
  });

  it('has no doubled slashes, and all the rest of what the server has told', () => {
    const config = { url: 'https://hostname/p1//', caBundle: 'QUJD' };
    expect(addressOf('id', { config })).toEqual({ url: 'https://hostname/p1/id', caBundle: 'QUJD' });
    expect(config.url).toBe('https://hostname/p1//');
  });

  const inService = (path: string | undefined) => ({
    service: { namespace: 'ns', name: 'svc', port: 8443, ...(path === undefined ? {} : { path }) },
  });

  it.each([
    ['id', undefined, '/id'],
    ['id', '/p', '/p/id'],
    ['id/sub.field', '/p', '/p/id/sub.field'],
    // Those below would not be accepted by the API server as Kopf makes them.
    ['id', 'p1/p2', '/p1/p2/id'],
    ['id', '/p/', '/p/id'],
    ['id', '/', '/id'],
    ['checkSize', '/p', '/p/checksize'],
    ['id!', undefined, '/id21'],
    ['my_fn', undefined, '/my-fn'],
  ])('has the id after the path of the service, as far as possible: %j in %j', (id, path, expected) => {
    expect(addressOf(id, { config: inService(path) })).toEqual(inService(expected));
  });

  it.each([
    ['id', 'p1/p2', 'p1/p2/id'],
    ['id_', 'p1/p2', 'p1/p2/id_'],
    ['id!', 'p1/p2', 'p1/p2/id%21'],
    ['id%', 'p1/p2', 'p1/p2/id%25'],
    ['id/sub', 'p1/p2', 'p1/p2/id/sub'],
    ['x', '/p/', '/p//x'],
    ['x', undefined, '/x'],
  ])('has the id after the path of the service as in Kopf, if it must be so: %j in %j', (id, path, expected) => {
    expect(addressOf(id, { config: inService(path), compat: 'kopf' })).toEqual(inService(expected));
  });

  it('is not that of another handler, be it of another type', () => {
    const registry = createRegistry();
    registry.on.validate('kopfexamples', { id: 'checkSize' }, () => {});
    registry.on.mutate('kopfexamples', { id: 'checksize' }, () => {});
    const [entry] = entries([...registry.handlers.webhooks], { config: inService(undefined) });
    expect(entry?.['clientConfig']).toEqual(inService('/checksize-2'));
  });
});

describe('handlers that will never be called', () => {
  it('are those of the configurations themselves', () => {
    const all = handlers('id', { id: 'vain', of: 'validatingwebhookconfigurations' });
    const vain = neverCalled(all, { reason: 'validating', resources: [KEX, CONFIGURATIONS] });
    expect(vain.map(({ id }) => id)).toEqual(['vain']);
    expect(neverCalled(all, { reason: 'mutating', resources: [KEX, CONFIGURATIONS] })).toEqual([]);
  });

  it('are not those of other kinds besides, nor of none so far', () => {
    const registry = createRegistry();
    registry.on.validate(
      () => true,
      { id: 'id' },
      () => {},
    );
    const all = [...registry.handlers.webhooks];
    expect(neverCalled(all, { reason: 'validating', resources: [KEX, CONFIGURATIONS] })).toEqual([]);
    expect(neverCalled(all, { reason: 'validating', resources: [] })).toEqual([]);
  });
});
