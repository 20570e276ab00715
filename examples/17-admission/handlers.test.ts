import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { newStage, type Stage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);
const labels = { checked: 'yes' };

beforeEach(() => void vi.stubEnv('SERVER', 'plain'));
afterEach(() => void vi.unstubAllEnvs());

/** How many handlers the API server is told to ask. */
const webhooksOf = async ({ client }: Stage): Promise<number> => {
  const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/examples.kopf.dev';
  const { webhooks = [] } = await client.request<{ webhooks?: unknown[] }>({ method: 'GET', path });
  return webhooks.length;
};

it('refuses, and changes what is about to be stored; but only where it is asked', async () => {
  await using stage = await newStage({ isRealTime: true });
  const operator = await stage.run(handlers);
  expect(await webhooksOf(stage)).toBe(3);

  const wrong = { labels, spec: { field: 'wrong' } };
  // It takes the API server a moment to take notice of the webhooks.
  await stage.eventually(() =>
    expect(stage.createExample({ name: `wrong-${Date.now()}`, ...wrong })).rejects.toThrow(/Anything but that!/),
  );
  await expect(stage.createExample({ name: 'one', ...wrong })).rejects.toMatchObject({ status: 422 });
  await stage.createExample({ name: 'unchecked', spec: { field: 'wrong' } });

  await stage.eventually(async () => {
    const { metadata, spec } = await stage.createExample({
      name: `one-${Date.now()}`,
      labels,
      spec: { field: undefined },
    });
    expect(spec.field).toBe('boring');
    expect(metadata?.labels?.['creator']).toMatch(/\w/);
  });

  await operator.stop();
  expect(await webhooksOf(stage)).toBe(0);
  await stage.eventually(() => stage.createExample({ name: `late-${Date.now()}`, ...wrong }));
});

it('looks at subresources, too; and does not count dry runs', async () => {
  await using stage = await newStage({ isRealTime: true });
  await using operator = await stage.run(handlers);
  await stage.createExample({ name: 'one', labels });
  // Each time with a change in it: nobody is asked about updates that change nothing.
  const setPhase = (phase: string) => stage.patch('kopfexamples', 'one/status', { status: { phase, at: Date.now() } });
  await stage.eventually(() => expect(setPhase('impossible')).rejects.toThrow(/There is no such phase\./));
  await setPhase('ready');

  operator.logs.clear();
  const path = `/apis/kopf.dev/v1/namespaces/${stage.namespace}/kopfexamples/one`;
  const change = (query: string) =>
    stage.client.request({
      method: 'PATCH',
      path: `${path}${query}`,
      body: { spec: { changed: query } },
      contentType: 'application/merge-patch+json',
    });
  await change('?dryRun=All');
  expect(operator.logs.find('Changes by now')).toBeUndefined();
  await change('');
  expect(operator.logs.find('Changes by now')).toBeDefined();
});
