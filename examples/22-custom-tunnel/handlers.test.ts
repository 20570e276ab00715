import { settings } from 'kopf-ts';
import { testWebhookServer } from 'kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { newStage } from '../support/stage.js';
import { cloudflared } from './cloudflared.js';
import { edge } from './edge.js';
import { tunnel } from './tunnel.js';

const handlers = new URL('handlers.ts', import.meta.url);

testWebhookServer(() => ({ server: tunnel(edge) }), { describe, it });

it('lets the cluster ask through the tunnel', async () => {
  await using stage = await newStage({ isRealTime: true });
  const through = settings({ admission: { server: tunnel(edge) } });
  await using operator = await stage.run(handlers, { settings: through });
  expect(operator.logs.find(/^The tunnel is open at https:/)).toBeDefined();
  const create = () =>
    stage.createExample({ name: `one-${Date.now()}`, labels: { tunnelled: 'yes' }, spec: { field: 'wrong' } });
  await stage.eventually(() => expect(create()).rejects.toThrow(/Not through this tunnel!/));
});

it('tells if the program of the tunnel is not there', async () => {
  const path = process.env['PATH'];
  process.env['PATH'] = '/nowhere';
  try {
    await expect(cloudflared(1, new AbortController().signal)).rejects.toThrow(/cloudflared/);
  } finally {
    process.env['PATH'] = path;
  }
});
