import { type Body, Patch } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { annotationsDiffBaseStorage, annotationsProgressStorage, statusDiffBaseStorage } from '../src/index.js';
import { operatorsAnnotations } from '../src/prefix-marks.js';

const MARK = 'op.example.com/kopf-managed';

describe('recognising annotations of Kopf-like operators', () => {
  it.each([
    ['kopf.zalando.org/anything'],
    ['sub.kopf.zalando.org/anything'],
    ['sub.sub.kopf.zalando.org/anything/else'],
  ])('takes %s for such without a mark', (key) => {
    expect(operatorsAnnotations([key])).toEqual([key]);
  });

  it.each([
    ['kopf.domain.tld/x'],
    ['domain.kopf/x'],
    ['domain-kopf.tld/x'],
    ['mykopf.zalando.org/x'],
    ['kopf.zalando.org.example.com/x'],
    ['kopf.zalando.org'],
    ['kopf-managed'],
    ['example.com/not-kopf-managed'],
    ['example.com/kopf-managed/x'],
  ])('takes %s for one of users', (key) => {
    expect(operatorsAnnotations([key])).toEqual([]);
  });

  it('takes all annotations of a marked prefix, and the mark itself, but not those of other prefixes', () => {
    const keys = [
      'example.com/a',
      MARK,
      'op.example.com/b',
      'op.example.com/c/d',
      'sub.op.example.com/e',
      'op.example.com',
    ];
    expect(operatorsAnnotations(keys)).toEqual([MARK, 'op.example.com/b', 'op.example.com/c/d']);
  });
});

describe('marking its own annotations', () => {
  const progress = annotationsProgressStorage({ prefix: 'op.example.com' });
  const diffbase = annotationsDiffBaseStorage({ prefix: 'op.example.com' });

  async function annotationsAfter(fill: (body: Body, patch: Patch) => unknown, body: Body = {}): Promise<string[]> {
    const patch = new Patch();
    await fill(body, patch);
    return Object.keys((patch.merge['metadata'] as { annotations?: object } | undefined)?.annotations ?? {});
  }

  it.each<[string, string, (body: Body, patch: Patch) => unknown]>([
    ['a record', 'fn', (body, patch) => progress.store({ key: 'fn', record: {}, body, patch })],
    ['a touch', 'touch-dummy', (body, patch) => progress.touch({ value: 'hello', body, patch })],
    ['a state', 'last-handled-configuration', (body, patch) => diffbase.store({ essence: {}, body, patch })],
  ])('comes after %s, once', async (_, name, fill) => {
    expect(await annotationsAfter(fill)).toEqual([`op.example.com/${name}`, MARK]);
    const marked: Body = { metadata: { annotations: { [MARK]: 'whatever' } } };
    expect(await annotationsAfter(fill, marked)).toEqual([`op.example.com/${name}`]);
  });

  it('comes between the first and the second record, and is not repeated', async () => {
    const keys = await annotationsAfter(async (body, patch) => {
      await progress.store({ key: 'one', record: {}, body, patch });
      await progress.store({ key: 'two', record: {}, body, patch });
    });
    expect(keys).toEqual(['op.example.com/one', MARK, 'op.example.com/two']);
  });

  it('is not needed where nothing is written', async () => {
    expect(await annotationsAfter((body, patch) => progress.touch({ value: null, body, patch }))).toEqual([]);
    expect(await annotationsAfter((body, patch) => progress.purge({ key: 'fn', body, patch }))).toEqual([]);
  });

  it.each([['kopf.zalando.org'], ['kopf.example.com']])(
    'is not done for %s, as prefixes of Kopf are known without a mark',
    async (prefix) => {
      const storage = annotationsProgressStorage({ prefix });
      const keys = await annotationsAfter((body, patch) => storage.store({ key: 'fn', record: {}, body, patch }));
      expect(keys).toEqual([`${prefix}/fn`]);
    },
  );

  it.each([['kopf'], ['kopfx.example.com']])('is done for %s, which only looks alike', async (prefix) => {
    const storage = annotationsProgressStorage({ prefix });
    const keys = await annotationsAfter((body, patch) => storage.store({ key: 'fn', record: {}, body, patch }));
    expect(keys).toEqual([`${prefix}/fn`, `${prefix}/kopf-managed`]);
  });
});

describe('the mark of a trace', () => {
  const body: Body = { metadata: { annotations: { own: 'x' } }, spec: { size: 1 } };
  const marked: Body = {
    ...body,
    metadata: { annotations: { own: 'x', 'kopf.zalando.org/traceparent': '00-0af7-b7ad-01' } },
  };

  it.each([
    ['the usual prefix', annotationsDiffBaseStorage()],
    ['another prefix', annotationsDiffBaseStorage({ prefix: 'op.example.com' })],
    ['Kopf itself', annotationsDiffBaseStorage({ compat: 'kopf' })],
    ['the status', statusDiffBaseStorage()],
  ])('is no change for storages of %s', (_, storage) => {
    expect(storage.build({ body: marked })).toEqual(storage.build({ body }));
  });

  it('is no progress', () => {
    const storage = annotationsProgressStorage();
    expect(storage.fetch({ key: 'fn', body: marked })).toBeUndefined();
  });
});
