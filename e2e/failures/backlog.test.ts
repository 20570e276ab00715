import type { HttpKubeClient } from '@kopf-ts/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { clientOf } from '../support/client.js';
import { newNamespace } from '../support/objects.js';
import { newTestKind, type TestKind } from '../support/operators/kinds.js';
import { eventually } from '../support/operators/operators.js';
import { program, type RunningProgram } from '../support/operators/programs.js';
import { describeOnRealCluster, realCluster } from '../support/real-cluster.js';
import type { BusyOperatorOptions } from './busy-operator.js';
import { newLine } from './faulty-cluster.js';

const MB = 1_000_000;

describeOnRealCluster('an object that changes while its handler is busy', () => {
  let direct: HttpKubeClient;
  let things: TestKind;
  const start = program(new URL('busy-operator.ts', import.meta.url));

  beforeAll(async () => {
    direct = clientOf(realCluster());
    things = await newTestKind(direct);
  });
  afterAll(() => direct?.close());

  // So many writes of such an object take a while, if the machine has other things to do as well.
  it('takes no more memory than one state of it, and only the newest state is handled', {
    timeout: 120_000,
  }, async () => {
    const { connection, requests } = await newLine(realCluster());
    const namespace = await newNamespace(direct);
    const filling = 'x'.repeat(173_000);
    await things.create(namespace, 'one', { spec: { filling, round: 0 } });
    const options: BusyOperatorOptions = { connection, namespace, selector: things.selector };
    const operator = start(options);
    const calls = () => operator.said.filter((line) => line.startsWith('called'));

    await operator.says('called 0');
    const before = await measure(operator, 'before');
    for (let round = 1; round <= 150; round += 1) {
      await things.patch(namespace, 'one', { spec: { round } });
    }
    await operator.says('seen 150');
    const after = await measure(operator, 'after');
    // All the states together are more than 26 MB, even as compact as possible.
    expect((after.heap - before.heap) / MB).toBeLessThan(20);
    // This is also what the runtime keeps for later.
    expect((after.process - before.process) / MB).toBeLessThan(60);
    expect(calls()).toEqual(['called 0']);

    operator.tell('release');
    await eventually(async () => {
      const { annotations = {} } = (await things.get(namespace, 'one'))?.metadata ?? {};
      expect(annotations['kopf.zalando.org/last-handled-configuration']).toContain('"round":150');
    });
    expect(calls()).toEqual(['called 0', 'called 150']);
    // The two last handled states, and maybe the progress.
    expect(requests.filter((request) => request.startsWith('PATCH ')).length).toBeLessThanOrEqual(4);
    operator.kill('SIGTERM');
    expect(await operator.ended).toBe(0);
  });
});

interface Memory {
  /** In bytes, when there is no garbage in it. */
  readonly heap: number;
  readonly process: number;
}

async function measure(operator: RunningProgram, title: string): Promise<Memory> {
  operator.tell(title);
  await operator.says(title);
  const [, heap, process] = operator.said.find((line) => line.startsWith(title))?.split(' ') ?? [];
  return { heap: Number(heap), process: Number(process) };
}
