import { readFile } from 'node:fs/promises';
import { recordingLogger } from 'kopf-ts/testing';
import { expect, it } from 'vitest';
import { newStage } from '../support/stage.js';
import { registry } from './handlers.js';
import { smallOperator } from './operator.js';

it('works without the rest of the framework', async () => {
  await using stage = await newStage();
  const { client, clock, namespace } = stage;
  const logger = recordingLogger();
  const operator = smallOperator({ registry, namespaces: [namespace], logger, client, clock });
  await stage.during(operator.ready);

  await stage.createExample();
  await stage.eventually(async () => {
    const { metadata, status } = await stage.get('kopfexamples', 'kopf-example-1');
    expect(status).toEqual({ greeting: 'Hello, kopf-example-1!' });
    expect(metadata?.finalizers).toEqual(['small.example.com/finalizer']);
    expect(metadata?.annotations).toHaveProperty(['small.example.com/last-handled-configuration']);
  });
  await stage.eventually(async () => expect((await stage.list('events'))[0]).toMatchObject({ message: 'Politely.' }));

  await stage.delete('kopfexamples', 'kopf-example-1');
  await stage.gone('kopfexamples', 'kopf-example-1');
  expect(logger.messages('info')).toContain('Farewell, kopf-example-1!');
  await stage.during(operator.stop());
});

it('imports nothing but the packages that it names', async () => {
  const texts = await Promise.all(
    ['operator.ts', 'handlers.ts', 'main.ts'].map((file) => readFile(new URL(file, import.meta.url), 'utf8')),
  );
  const imported = texts.flatMap((text) => [...text.matchAll(/from '([^.'][^']*)'/g)].map(([, name]) => name));
  expect([...new Set(imported)].sort()).toEqual([
    '@kopf-ts/client',
    '@kopf-ts/core',
    '@kopf-ts/core/engine',
    '@kopf-ts/reactor',
    '@kopf-ts/storage',
  ]);
});
