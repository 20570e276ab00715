/** Numbers that JavaScript cannot hold exactly must at least look the same each time, or objects are updated for ever. */
import { type Body, type DiffBaseStorage, diff, Patch } from '@kopf-ts/core';
import { applyMergePatch } from '@kopf-ts/core/engine';
import { describe, expect, it } from 'vitest';
import { annotationsDiffBaseStorage, multiDiffBaseStorage, statusDiffBaseStorage } from '../../src/index.js';

const NUMBERS =
  '{"above":9007199254740993,"below":-9007199254740995,"max":9223372036854775807,"unsigned":18446744073709551615,' +
  '"huge":123456789012345678901234567890,"tiny":1e-7,"tinier":5e-324,"big":1.7976931348623157e308,"zero":-0,"one":1.0}';

const STORAGES: readonly [string, () => DiffBaseStorage][] = [
  ['annotations', () => annotationsDiffBaseStorage()],
  ['annotations, as Kopf', () => annotationsDiffBaseStorage({ compat: 'kopf' })],
  ['the status', () => statusDiffBaseStorage()],
  ['both', () => multiDiffBaseStorage([annotationsDiffBaseStorage(), statusDiffBaseStorage()])],
];

/** As if read from the cluster anew. */
const arrived = (spec: string, stored: object = {}): Body => {
  const body = JSON.parse(`{"metadata":{"name":"one","uid":"uid1"},"spec":${spec}}`) as Body;
  const after = JSON.parse(JSON.stringify(body)) as object;
  applyMergePatch(after, JSON.parse(JSON.stringify(stored)) as object);
  return JSON.parse(JSON.stringify(after).replace(JSON.stringify(body['spec']), spec)) as Body;
};

describe.each(STORAGES)('numbers in a state in %s', (_, create) => {
  it('make no difference to the very same numbers', async () => {
    const storage = create();
    const body = arrived(NUMBERS);
    const patch = new Patch();
    await storage.store({ essence: storage.build({ body }), body, patch });
    const after = arrived(NUMBERS, patch.merge);
    expect(diff(await storage.fetch({ body: after }), storage.build({ body: after }))).toEqual([]);
  });

  it('make a difference to other numbers', async () => {
    const storage = create();
    const body = arrived(NUMBERS);
    const patch = new Patch();
    await storage.store({ essence: storage.build({ body }), body, patch });
    const after = arrived(NUMBERS.replace('9223372036854775807', '9223372036854770000'), patch.merge);
    const changed = diff(await storage.fetch({ body: after }), storage.build({ body: after }));
    expect(changed.map(([operation, field]) => [operation, field])).toEqual([['change', ['spec', 'max']]]);
  });
});

it('numbers in a state that Kopf has written with all their digits make no difference', async () => {
  const key = 'kopf.zalando.org/last-handled-configuration';
  const text = `{"spec":${NUMBERS.replace('1e-7', '1e-07').replace('"zero":-0', '"zero":0')}}\n`;
  const body = arrived(NUMBERS, { metadata: { annotations: { [key]: text } } });
  const storage = annotationsDiffBaseStorage();
  expect(diff(await storage.fetch({ body }), storage.build({ body }))).toEqual([]);
});
