import { localCluster } from '@kopf-ts/apiserver';
import type { AnyObject } from '@kopf-ts/core';
import { makeResource } from '@kopf-ts/core/engine';
import { manualClock } from '@kopf-ts/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { statusSchemas } from '../../src/discovery/status-schemas.js';

const KEX = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'kopfexamples' });
const PRESERVE = { 'x-kubernetes-preserve-unknown-fields': true };

function definition(schema: object | undefined, spec: object = {}): AnyObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'kopfexamples.kopf.dev' },
    spec: {
      group: 'kopf.dev',
      scope: 'Namespaced',
      names: { plural: 'kopfexamples', kind: 'KopfExample' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          ...(schema === undefined ? {} : { schema: { openAPIV3Schema: { type: 'object', ...schema } } }),
        },
      ],
      ...spec,
    },
  };
}

function withStatus(status: object): object {
  return { properties: { status: { type: 'object', ...status } } };
}

const CASES: readonly [string, object, boolean][] = [
  ['knows nothing of status', {}, true],
  ['knows nothing of status, but of other fields', { properties: { spec: { type: 'object', ...PRESERVE } } }, true],
  ['keeps all unknown fields', PRESERVE, false],
  ['has an empty status', withStatus({}), true],
  ['has a status with other keys', withStatus({ properties: { phase: { type: 'string' } } }), true],
  ['has the key in its status', withStatus({ properties: { fn: { type: 'string' } } }), false],
  ['has a status with any keys', withStatus({ additionalProperties: { type: 'string' } }), false],
  ['keeps unknown keys of status', withStatus(PRESERVE), false],
  [
    'keeps unknown keys of status besides the known',
    withStatus({ properties: { phase: { type: 'string' } }, ...PRESERVE }),
    false,
  ],
  ['keeps unknown fields, but describes status', { ...PRESERVE, ...withStatus({}) }, true],
];

describe('a key of status is pruned', () => {
  it.each(CASES)('as the server does it: if the schema %s', async (_title, schema, isPruned) => {
    const cluster = await localCluster({ clock: manualClock(), listen: false });
    onTestFinished(() => cluster.stop());
    await cluster.create(definition(schema));
    const created = await cluster.create({
      apiVersion: 'kopf.dev/v1',
      kind: 'KopfExample',
      metadata: { name: 'one', namespace: 'default' },
      status: { fn: 'value' },
    });
    expect((created as AnyObject)['status']?.fn).toBe(isPruned ? undefined : 'value');

    const schemas = statusSchemas();
    schemas.learn(cluster.get('customresourcedefinitions/kopfexamples.kopf.dev') as AnyObject);
    expect(schemas.prunes(KEX, 'fn')).toBe(isPruned);
  });

  it.each([
    ['the kind is unknown', undefined],
    ['there is no schema', definition(undefined)],
    ['the definition is of the times before the pruning', definition({}, { preserveUnknownFields: true })],
    ['the definition is broken', { metadata: { name: 'kopfexamples.kopf.dev' }, spec: { versions: 'many' } }],
  ])('never, if %s', (_title, known) => {
    const schemas = statusSchemas();
    if (known !== undefined) schemas.learn(known);
    expect(schemas.prunes(KEX, 'fn')).toBe(false);
  });

  it('by the schema of its own version', () => {
    const schemas = statusSchemas();
    const version = (name: string, schema: object): object => ({ name, schema: { openAPIV3Schema: schema } });
    schemas.learn(definition({}, { versions: [version('v1', {}), version('v2', PRESERVE)] }));
    expect(schemas.prunes(KEX, 'fn')).toBe(true);
    expect(schemas.prunes(makeResource({ ...KEX, version: 'v2' }), 'fn')).toBe(false);
    expect(schemas.prunes(makeResource({ ...KEX, version: 'v3' }), 'fn')).toBe(false);
  });

  it('by the common schema of all versions, as it was in the older definitions', () => {
    const schemas = statusSchemas();
    schemas.learn(definition(undefined, { preserveUnknownFields: false, validation: { openAPIV3Schema: {} } }));
    expect(schemas.prunes(KEX, 'fn')).toBe(true);
  });

  it('by the newest definition, and not when it is gone', () => {
    const schemas = statusSchemas();
    schemas.learn(definition(PRESERVE));
    schemas.learn(definition({}));
    expect(schemas.prunes(KEX, 'fn')).toBe(true);
    schemas.forget({ metadata: { name: 'kopfexamples.kopf.dev' } });
    expect(schemas.prunes(KEX, 'fn')).toBe(false);
  });

  it('also if it is called as something that every object has', () => {
    const schemas = statusSchemas();
    schemas.learn(definition(withStatus({ properties: { phase: { type: 'string' } } })));
    expect(schemas.prunes(KEX, 'constructor')).toBe(true);
    expect(schemas.prunes(KEX, '__proto__')).toBe(true);
    expect(schemas.prunes(KEX, 'phase')).toBe(false);
  });
});
