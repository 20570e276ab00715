import { expect, it } from 'vitest';
import { newStage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);

it('knows which pods there are, and which of them run', async () => {
  await using stage = await newStage();
  const newPod = (name: string, app: string) =>
    stage.create('pods', {
      metadata: { name, labels: { app } },
      spec: { containers: [{ name: 'main', image: 'none' }] },
    });
  const known = (pods: object) =>
    stage.eventually(async () => {
      const { status } = await stage.get('kopfexamples', 'kopf-example-1');
      expect(status?.pods).toEqual(pods);
    });

  await newPod('web-1', 'web');
  await newPod('db-1', 'db');
  await using _operator = await stage.run(handlers);
  await stage.createExample();
  await known({ all: ['web-1'], running: [] });

  await newPod('web-2', 'web');
  await stage.patch('pods', 'web-2/status', { status: { phase: 'Running' } });
  await known({ all: ['web-1', 'web-2'], running: ['web-2'] });

  await stage.delete('pods', 'web-1');
  await known({ all: ['web-2'], running: ['web-2'] });
  await stage.patch('kopfexamples', 'kopf-example-1', { spec: { selector: 'app=db' } });
  await known({ all: ['db-1'], running: [] });
});
