import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { GARBAGE_COLLECTION, newStage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);
const object = parse(await readFile(new URL('obj.yaml', import.meta.url), 'utf8'));

it('does everything at once, and nothing is in the way of anything else', { timeout: GARBAGE_COLLECTION }, async () => {
  await using stage = await newStage({ isRealTime: true });
  const first = await stage.run(handlers);
  const named = (name: string, spec: object = {}) => ({
    ...object,
    metadata: { ...object.metadata, name },
    spec: { ...object.spec, ...spec },
  });
  await stage.eventually(() =>
    expect(stage.create('kopfexamples', named(`bad-${Date.now()}`, { items: ['bad'] }))).rejects.toThrow(/bad items/),
  );
  const { metadata } = await stage.eventually(async () => {
    const created = await stage.create('kopfexamples', named(`one-${Date.now()}`));
    expect(created['spec'].items).toEqual(['default']);
    return created;
  });
  const name = metadata?.name ?? '';

  await stage.eventually(async () => {
    const { status } = await stage.get('kopfexamples', name);
    expect(status).toMatchObject({
      createPod: { name: expect.stringMatching(name) },
      survey: { pods: 1, sawEvents: true },
    });
  });
  await stage.eventually(() => expect(first.logs.find('Made default.')).toBeDefined());
  expect(first.logs.find(`${name} is guarded.`)).toBeDefined();
  await stage.eventually(() => expect(first.logs.find(/^Creation is processed/)).toBeDefined());
  const { metadata: marked } = await stage.get('kopfexamples', name);
  expect(marked?.finalizers).toEqual(['all-at-once.kopf.dev/finalizer']);
  await first.stop();
  expect(first.logs.find('Everything is over.')).toBeDefined();

  await using second = await stage.run(handlers);
  const told = (text: string | RegExp) => stage.eventually(() => expect(second.logs.find(text)).toBeDefined());
  await told('Seen before.');
  await stage.patch('kopfexamples', name, { spec: { field: 'other' } });
  await told('Changed: change of spec.field.');
  await told('The field is not "value" any more, but "other".');
  await stage.eventually(async () => {
    const messages = (await stage.list('events')).map(({ message }) => message);
    expect(messages).toContain('The pod is there.');
    expect(messages).toContain('The field is not "value" any more, but "other".');
  });

  await stage.delete('kopfexamples', name);
  await stage.gone('kopfexamples', name);
  await told(`${name} is let go.`);
  await told(`${name} needs no guard.`);
  await stage.eventually(async () => {
    const pods = (await stage.list('pods')).filter((pod) => pod.metadata?.name?.startsWith(name));
    expect(pods).toEqual([]);
  });
});
