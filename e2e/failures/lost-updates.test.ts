import type { HttpKubeClient } from '@kopf-ts/client';
import { type Essence, resolveField, TemporaryError } from '@kopf-ts/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clientOf } from '../support/client.js';
import { newNamespace } from '../support/objects.js';
import { newTestKind, type TestKind } from '../support/operators/kinds.js';
import { eventually, startOperator } from '../support/operators/operators.js';
import { describeOnRealCluster, realCluster } from '../support/real-cluster.js';
import { type FaultyCluster, newLine, patchStatus, SHORT_TIMES } from './faulty-cluster.js';
import { randomNumbers } from './random.js';

const LAST_HANDLED = 'kopf.zalando.org/last-handled-configuration';

describeOnRealCluster('no change is lost', () => {
  let direct: HttpKubeClient;
  let things: TestKind;
  let namespace: string;
  let line: FaultyCluster;
  let calls: string[];

  beforeAll(async () => {
    direct = clientOf(realCluster());
    things = await newTestKind(direct);
  });
  afterAll(() => direct?.close());
  beforeEach(async () => {
    line = await newLine(realCluster());
    namespace = await newNamespace(direct);
    calls = [];
  });

  type Declare = Parameters<typeof startOperator>[1];
  const start = (declare: Declare) => startOperator(line, declare, { namespaces: [namespace], overrides: SHORT_TIMES });
  const edit = (version: number) => things.patch(namespace, 'one', { spec: { version } });
  const annotations = async () => (await things.get(namespace, 'one'))?.metadata?.annotations ?? {};
  /** The version that is stored as handled, when nothing is in progress any more. */
  const isSettledAt = (version: number, withinSeconds = 20) =>
    eventually(async () => {
      const { [LAST_HANDLED]: stored, ...others } = await annotations();
      expect(JSON.parse(stored ?? '{}')).toMatchObject({ spec: { version } });
      expect(others).toEqual({});
    }, withinSeconds);

  describe('if an event handler puts the same label again and again', () => {
    const declare: Declare = ({ on }) => {
      on.event(things.selector, function label({ patch }) {
        patch.meta.labels['seen'] = 'yes';
      });
      on.update(things.selector, function updated({ spec }) {
        calls.push(`updated ${spec['version']}`);
      });
    };

    it('and the object is edited soon after its creation', async () => {
      await start(declare);
      await things.create(namespace, 'one', { spec: { version: 1 } });
      await eventually(async () => {
        const handled = { spec: { version: 1 }, metadata: { labels: { seen: 'yes' } } };
        expect(JSON.parse((await annotations())[LAST_HANDLED] ?? '{}')).toEqual(handled);
      });
      const patches = line.requests.filter((request) => request.startsWith('PATCH ')).length;
      await edit(2);
      await eventually(() => expect(calls).toContain('updated 2'), 5);
      await isSettledAt(2);
      expect(calls.filter((call) => call === 'updated 2')).toHaveLength(1);
      // The label is there already: only the last handled state is written.
      expect(line.requests.filter((request) => request.startsWith('PATCH '))).toHaveLength(patches + 1);
    });

    it('and the object is edited at any moment', async () => {
      const random = randomNumbers(20_26);
      await start(declare);
      await things.create(namespace, 'one', { spec: { version: 0 } });
      let version = 0;
      for (let round = 1; round <= 15; round += 1) {
        // Our own patches take their time, so that the edits come before, during, and after them.
        const delay = line.faults.add({ match: { method: 'PATCH' }, latency: random() / 10 });
        for (let burst = Math.ceil(random() * 3); burst > 0; burst -= 1) {
          version += 1;
          await edit(version);
        }
        if (random() < 0.6) await eventually(() => expect(calls.at(-1)).toBe(`updated ${version}`), 10);
        delay.remove();
      }
      await eventually(() => expect(calls.at(-1)).toBe(`updated ${version}`), 10);
      await isSettledAt(version);
      expect(version).toBeGreaterThanOrEqual(25);
      // Some are skipped in favour of the newer ones; none is handled twice, nor after a newer one.
      const numbers = calls.map((call) => Number(call.split(' ')[1]));
      expect(numbers).toEqual([...new Set(numbers)].sort((one, two) => one - two));
    });
  });

  describe('if it is made while a handler waits for its retry', () => {
    it('by those who were done with the previous one', async () => {
      const operator = await start(({ on }) => {
        on.update(things.selector, { id: 'a' }, ({ spec, old }) => {
          calls.push(`a ${versionOf(old)}→${spec['version']}`);
        });
        on.update(things.selector, { id: 'b' }, ({ spec, old, retry }) => {
          calls.push(`b ${versionOf(old)}→${spec['version']}`);
          if (retry === 0) throw new TemporaryError('not now', { delay: 2 });
        });
      });
      await things.create(namespace, 'one', { spec: { version: 1 } });
      await isSettledAt(1);
      await edit(2);
      const isDelayed = async () => expect((await annotations())['kopf.zalando.org/b']).toContain('"delayed":"');
      await eventually(isDelayed);
      expect(calls.splice(0)).toEqual(['a 1→2', 'b 1→2']);
      await edit(3);
      await isSettledAt(3);
      expect(calls.filter((call) => call.startsWith('a')).at(-1)).toMatch(/→3$/);
      expect(calls.filter((call) => call.startsWith('b')).at(-1)).toMatch(/→3$/);
      expect(calls).toHaveLength(2);
      expect(operator.logger.messages('info')).toContainEqual(expect.stringContaining("Called again: 'a'."));
    });

    it('by anyone of many who fail at random', async () => {
      const random = randomNumbers(4_2);
      const last = new Map<string, number>();
      await start(({ on }) => {
        for (const id of ['a', 'b', 'c', 'd']) {
          on.update(things.selector, { id }, ({ spec }) => {
            if (random() < 0.4) throw new TemporaryError('not now', { delay: random() / 5 });
            last.set(id, spec['version'] as number);
          });
        }
      });
      await things.create(namespace, 'one', { spec: { version: 0 } });
      await isSettledAt(0);
      for (let round = 1; round <= 6; round += 1) {
        const delay = line.faults.add({ match: { method: 'PATCH' }, latency: random() / 10 });
        await edit(round * 10);
        await edit(round * 10 + 1);
        await eventually(() => expect(last.size).toBeGreaterThan(Math.floor(random() * 4)), 10);
        await edit(round * 10 + 2);
        delay.remove();
        await isSettledAt(round * 10 + 2);
        expect(Object.fromEntries(last)).toEqual(
          Object.fromEntries(['a', 'b', 'c', 'd'].map((id) => [id, round * 10 + 2])),
        );
        last.clear();
      }
    });

    it('even if the object does not match the handler any more: then it is called on, and that is told', async () => {
      const operator = await start(({ on }) => {
        on.field(things.selector, { field: 'status.phase', new: 'Created' }, function prepare({ new: phase, retry }) {
          calls.push(`${phase} ${retry}`);
          if (retry === 0) throw new TemporaryError('not now', { delay: 2 });
        });
      });
      const setPhase = (phase: string) => patchStatus(direct, things, { namespace, name: 'one' }, { phase });
      await things.create(namespace, 'one', { spec: { version: 1 } });
      await setPhase('Created');
      await eventually(async () => {
        expect(Object.keys(await annotations())).toEqual(expect.arrayContaining([expect.stringContaining('prepare')]));
      });
      await setPhase('Running');
      await eventually(() => expect(calls).toHaveLength(2));
      await isSettledAt(1);
      expect(calls).toEqual(['Created 0', 'Running 1']);
      const lines = operator.logger.messages('info').filter((text) => text.includes('no longer match'));
      expect(lines).toEqual([expect.stringContaining("not done yet. Still called: 'prepare/status.phase'.")]);
      const { [LAST_HANDLED]: stored = '' } = await annotations();
      expect(JSON.parse(stored)).toMatchObject({ status: { phase: 'Running' } });
    });
  });
});

function versionOf(essence: Essence | undefined): unknown {
  return resolveField(essence, ['spec', 'version']);
}
