import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Body, digestOf, digestOnly, type Essence, isDigestOnly, Patch } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { annotationsDiffBaseStorage } from '../../src/index.js';

const KEY = 'kopf.zalando.org/last-handled-configuration';
const [PACKED, DIGEST] = [`${KEY}-gzip`, `${KEY}-digest`];
const storage = annotationsDiffBaseStorage();

const dull = (size: number): Essence => ({ spec: 'dull '.repeat(size / 5) });

/** Texts that look random, and so cannot be compressed, but are the same in each run. */
function random(size: number): Essence {
  let text = '';
  for (let block = 0; text.length < size; block++) text += createHash('sha512').update(`${block}`).digest('base64');
  return { spec: text.slice(0, size) };
}

async function annotationsOf(
  essence: Essence,
  body: Body = {},
  patch = new Patch(),
): Promise<Record<string, string | null>> {
  await storage.store({ essence, body, patch });
  return (patch.merge['metadata'] as { annotations: Record<string, string | null> }).annotations;
}

const annotated = (annotations: Record<string, string | null>): Body => ({ metadata: { annotations } }) as Body;

describe('a last handled state that does not fit is packed, or kept as a digest', () => {
  it('is plain while it fits, with a reserve for the progress', async () => {
    expect(Object.keys(await annotationsOf(dull(240_000)))).toEqual([KEY]);
    expect(Object.keys(await annotationsOf(dull(250_000)))).toEqual([PACKED]);
  });

  it('is packed with gzip and base64, and read back', async () => {
    const annotations = await annotationsOf(dull(300_000));
    expect(Object.keys(annotations)).toEqual([PACKED]);
    const text = gunzipSync(Buffer.from(annotations[PACKED] ?? '', 'base64')).toString();
    expect(text).toBe(`${JSON.stringify(dull(300_000))}\n`);
    expect(await storage.fetch({ body: annotated(annotations) })).toEqual(dull(300_000));
  });

  it('is a digest if it does not fit even packed, and is recognised as such', async () => {
    const essence = random(400_000);
    const annotations = await annotationsOf(essence);
    expect(annotations).toEqual({ [DIGEST]: `{"digest":"${digestOf(essence)}"}` });
    const remains = (await storage.fetch({ body: annotated(annotations) })) ?? {};
    expect(isDigestOnly(remains)).toBe(true);
    expect(digestOf(remains)).toBe(digestOf(essence));
    expect(digestOf(remains)).not.toBe(digestOf(random(400_001)));
  });

  it('is a digest if it is too long to be unpacked again', async () => {
    expect(Object.keys(await annotationsOf(dull(4 * 1024 * 1024)))).toEqual([DIGEST]);
  });

  it('is measured together with annotations of the object', async () => {
    const body = annotated({ others: 'x'.repeat(100_000) });
    expect(Object.keys(await annotationsOf(dull(140_000), body))).toEqual([KEY]);
    expect(Object.keys(await annotationsOf(dull(150_000), body))).toEqual([PACKED]);
  });

  it('is measured together with what is in the patch, in bytes rather than in characters', async () => {
    const others = (char: string) => new Patch({ metadata: { annotations: { others: char.repeat(50_000) } } });
    expect(Object.keys(await annotationsOf(dull(150_000), {}, others('x')))).toEqual(['others', KEY]);
    expect(Object.keys(await annotationsOf(dull(150_000), {}, others('漢')))).toEqual(['others', PACKED]);
  });

  it('is measured without what the patch removes or replaces, and without its own previous states', async () => {
    const body = annotated({ gone: 'x'.repeat(100_000), [KEY]: 'x'.repeat(100_000), [PACKED]: 'x'.repeat(50_000) });
    const patch = new Patch({ metadata: { annotations: { gone: null } } });
    expect(await annotationsOf(dull(200_000), body, patch)).toEqual({
      gone: null,
      [PACKED]: null,
      [KEY]: expect.any(String),
    });
  });

  it('counts each of the annotations it is written to', async () => {
    const twice = annotationsDiffBaseStorage({ prefix: 'p'.repeat(60) });
    const patch = new Patch();
    await twice.store({ essence: dull(150_000), body: {}, patch });
    const { annotations } = patch.merge['metadata'] as { annotations: object };
    expect(Object.keys(annotations)[0]).toMatch(/-gzip$/);
  });

  it.each<[string, Essence, string]>([
    ['plain', { spec: 1 }, KEY],
    ['packed', dull(300_000), PACKED],
    ['digested', random(400_000), DIGEST],
  ])('replaces all other forms when it is %s', async (_, essence, kept) => {
    const others = [KEY, PACKED, DIGEST].filter((key) => key !== kept);
    const body = annotated(Object.fromEntries(others.map((key) => [key, '{}'])));
    expect(await annotationsOf(essence, body)).toEqual({
      [kept]: expect.any(String),
      ...Object.fromEntries(others.map((key) => [key, null])),
    });
  });

  it('takes back what was planned before in another form', async () => {
    const patch = new Patch();
    await annotationsOf({ spec: 1 }, {}, patch);
    expect(Object.keys(await annotationsOf(dull(300_000), {}, patch))).toEqual([PACKED]);
  });

  it('is read from the plain form first: only Kopf could have left it beside the others', async () => {
    const packed = gzipSync('{"spec":"packed"}').toString('base64');
    const digest = `{"digest":"${'a'.repeat(64)}"}`;
    const all = { [KEY]: '{"spec":"plain"}', [PACKED]: packed, [DIGEST]: digest };
    expect(await storage.fetch({ body: annotated(all) })).toEqual({ spec: 'plain' });
    expect(await storage.fetch({ body: annotated({ ...all, [KEY]: 'broken' }) })).toEqual({ spec: 'packed' });
  });

  it('is not unpacked if it is a bomb', async () => {
    const bomb = gzipSync(`{"spec":"${' '.repeat(50_000_000)}"}`).toString('base64');
    const problems: string[] = [];
    const malformed = (problem: string) => void problems.push(problem);
    expect(await storage.fetch({ body: annotated({ [PACKED]: bomb }), malformed })).toBeUndefined();
    expect(problems).toEqual([expect.stringContaining('cannot be unpacked')]);
  });

  it('is written again as a digest, if nothing else is known of it', async () => {
    const essence = digestOnly('a'.repeat(64));
    expect(await annotationsOf(essence)).toEqual({ [DIGEST]: `{"digest":"${'a'.repeat(64)}"}` });
  });
});

describe('a last handled state that does not fit, exactly as Kopf would write it', () => {
  const kopfs = annotationsDiffBaseStorage({ compat: 'kopf' });

  it('is plain all the same', async () => {
    const patch = new Patch();
    await kopfs.store({ essence: dull(300_000), body: {}, patch });
    expect(Object.keys((patch.merge['metadata'] as { annotations: object }).annotations)).toEqual([KEY]);
  });

  it('is still read in the other forms, and replaces them', async () => {
    const packed = gzipSync('{"spec":"packed"}').toString('base64');
    const body = annotated({ [PACKED]: packed });
    expect(await kopfs.fetch({ body })).toEqual({ spec: 'packed' });
    const patch = new Patch();
    await kopfs.store({ essence: { spec: 1 }, body, patch });
    expect(patch.merge).toEqual({ metadata: { annotations: { [KEY]: '{"spec":1}\n', [PACKED]: null } } });
  });

  it('is left as it is, if nothing but its digest is known', async () => {
    const patch = new Patch();
    await kopfs.store({ essence: digestOnly('a'.repeat(64)), body: {}, patch });
    expect(patch.merge).toEqual({});
  });
});
