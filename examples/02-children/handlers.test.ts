import { expect, it } from 'vitest';
import { GARBAGE_COLLECTION, newStage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);

it('makes a pod that belongs to the object, and is deleted with it', { timeout: GARBAGE_COLLECTION }, async () => {
  await using stage = await newStage();
  await using operator = await stage.run(handlers);
  const { metadata } = await stage.createExample({ spec: { duration: '5m' } });

  const [pod] = await stage.eventually(async () => {
    const pods = await stage.list('pods');
    expect(pods).toHaveLength(1);
    return pods;
  });
  expect(pod).toMatchObject({
    metadata: {
      name: expect.stringMatching(/^kopf-example-1-/),
      labels: { somelabel: 'somevalue' },
      ownerReferences: [{ kind: 'KopfExample', name: 'kopf-example-1', uid: metadata?.uid, controller: true }],
    },
    spec: { containers: [{ command: ['sh', '-x', '-c', 'sleep 5m'] }] },
  });
  await stage.eventually(async () => {
    const { status } = await stage.get('kopfexamples', 'kopf-example-1');
    expect(status).toEqual({ startPod: { pod: pod?.metadata?.uid } });
  });
  expect(operator.logs.find(`The pod ${pod?.metadata?.name} is started.`)).toBeDefined();

  await stage.delete('kopfexamples', 'kopf-example-1');
  await stage.eventually(async () => expect(await stage.list('pods')).toEqual([]));
});
