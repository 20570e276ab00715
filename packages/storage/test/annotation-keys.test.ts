import type { Body } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { formKeys } from '../src/annotation-keys.js';
import { annotationsDiffBaseStorage, annotationsProgressStorage } from '../src/index.js';

const x = (count: number) => 'x'.repeat(count);
const ofDeployment: Body = { kind: 'ReplicaSet', metadata: { ownerReferences: [{ kind: 'Deployment' }] } };

/** The names after the slash: of the current format, and of the older one if different. */
function names(key: string, prefix: string, body: Body = {}): string[] {
  return formKeys(key, body, { prefix, v1: true }).map((annotation) => {
    expect(annotation.startsWith(`${prefix}/`)).toBe(true);
    return annotation.slice(prefix.length + 1);
  });
}

describe('annotations of a key with the default prefix', () => {
  it.each<[string, ...string[]]>([
    ['create_fn/spec.field', 'create_fn.spec.field'],
    ['a_b.c-d/e', 'a_b.c-d.e'],
    ['create_fn.<locals>.inner/sub', 'create_fn._locals_.inner.sub'],
    ['lambda:/app/handlers.py:42', 'lambda:.app.handlers.py:42'],
    [x(46), x(46)],
    [x(47), x(47), `${x(39)}-xRCOAQ`],
    [x(63), x(63), `${x(39)}-GINbRg`],
    [x(64), `${x(56)}-SItAqA`, `${x(39)}-SItAqA`],
    [`create_fn/${'s'.repeat(40)}`, `create_fn.${'s'.repeat(40)}`, `create_fn.${'s'.repeat(29)}-32vLjA`],
    [`create_fn/${'s'.repeat(60)}`, `create_fn.${'s'.repeat(46)}-tA7ABQ`, `create_fn.${'s'.repeat(29)}-1QUs-A`],
    ['Ä'.repeat(64), `${'Ä'.repeat(56)}-7cM.xw`, `${'Ä'.repeat(39)}-7cM.xw`],
    ['😀'.repeat(64), `${'😀'.repeat(56)}-j8nWkg`, `${'😀'.repeat(39)}-j8nWkg`],
    ['é/<ß>'.repeat(20), `${'é._ß_'.repeat(11)}é-0oaklw`, `${'é._ß_'.repeat(7)}é._ß-SCvEKQ`],
    ['fn'.repeat(323), `${'fn'.repeat(28)}-Az-r.g`, `${'fn'.repeat(19)}f-Az-r.g`],
  ])('%s', (key, ...expected) => {
    expect(names(key, 'kopf.zalando.org')).toEqual(expected);
  });
});

describe('annotations of a key with a longer prefix', () => {
  const prefix = 'my-operator.example.com';

  it('are safe in both formats', () => {
    expect(names('a_b.c-d/e', prefix)).toEqual(['a_b.c-d.e']);
  });

  it('fit into the older format up to 39 characters', () => {
    expect(names(x(39), prefix)).toEqual([x(39)]);
  });

  it.each([
    ['x', '-tEokcg'],
    ['y', '-VZlvhw'],
    ['z', '-LlPQyA'],
  ])('are cut and hashed in the older format from 40 characters: %s', (char, suffix) => {
    expect(names(char.repeat(40), prefix)).toEqual([char.repeat(40), char.repeat(32) + suffix]);
  });

  it.each([
    ['x', '-SItAqA'],
    ['y', '-0d251g'],
    ['z', '-E7wvIA'],
  ])('are cut and hashed in the current format from 64 characters: %s', (char, suffix) => {
    expect(names(char.repeat(63), prefix)[0]).toBe(char.repeat(63));
    expect(names(char.repeat(64), prefix)[0]).toBe(char.repeat(56) + suffix);
  });

  it.each([
    [60, 'crea-AZjFuA'],
    [62, 'cr-AZjFuA'],
    [63, 'c-AZjFuA'],
    [70, '-AZjFuA'],
  ])(
    'have the older format cut from the end, if the prefix leaves no room at all: of %i characters',
    (length, former) => {
      expect(names('create_fn', 'p'.repeat(length))).toEqual(['create_fn', former]);
    },
  );

  it.each([
    ['', '-EnHPJQ'],
    ['a', '-yiNMVQ'],
    ['abc', '-Y5BiSA'],
    ['kopf', '-oXj8iw'],
  ])('have nothing but the hash in the older format, if there is no room for anything else: %j', (key, former) => {
    expect(names(key, 'p'.repeat(70))).toEqual([key, former]);
  });

  it('are of the current format only, if told so', () => {
    expect(formKeys(x(40), {}, { prefix, v1: false })).toEqual([`${prefix}/${x(40)}`]);
  });
});

describe('annotations of ReplicaSets', () => {
  it('are different from those of the Deployments that they come from', () => {
    expect(names('xyz', 'kopf.zalando.org', ofDeployment)).toEqual(['xyz-ofDRS']);
  });

  it.each<[string, ...string[]]>([
    [x(40), `${x(40)}-ofDRS`],
    [x(41), `${x(41)}-ofDRS`, `${x(39)}-qvEBIw`],
    [x(57), `${x(57)}-ofDRS`, `${x(39)}-apS2bg`],
    [x(58), `${x(56)}-gYrsww`, `${x(39)}-gYrsww`],
  ])('are hashed together with the difference: %s', (key, ...expected) => {
    expect(names(key, 'kopf.zalando.org', ofDeployment)).toEqual(expected);
  });

  it.each<[string, Body]>([
    ['other kinds of Deployments', { ...ofDeployment, kind: 'Pod' }],
    ['ReplicaSets of others', { kind: 'ReplicaSet', metadata: { ownerReferences: [{ kind: 'Other' }] } }],
    ['ReplicaSets of nobody', { kind: 'ReplicaSet', metadata: {} }],
    ['ReplicaSets without anything', { kind: 'ReplicaSet' }],
  ])('are ordinary for %s', (_, body) => {
    expect(names('xyz', 'kopf.zalando.org', body)).toEqual(['xyz']);
  });
});

describe.each([
  ['progress', annotationsProgressStorage],
  ['diff-base', annotationsDiffBaseStorage],
])('the prefix of a %s storage', (_, create) => {
  async function warningsOf(prefix: string): Promise<string[]> {
    const warnings: string[] = [];
    const listener = (warning: Error) => void warnings.push(warning.message);
    process.on('warning', listener);
    create({ prefix });
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', listener);
    return warnings;
  }

  it('must not be empty', () => {
    expect(() => create({ prefix: '' })).toThrow(/must have a prefix/);
  });

  it('is warned of if it is too long for Kubernetes', async () => {
    expect(await warningsOf('p'.repeat(189))).toEqual([]);
    expect(await warningsOf('p'.repeat(190))).toEqual([expect.stringContaining('The annotations prefix is too long')]);
  });
});
