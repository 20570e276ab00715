import type { HttpKubeClient } from '@kopf-ts/client';
import { type AnyObject, resolveField } from '@kopf-ts/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runKubectl } from '../controlplane/index.js';
import { clientOf } from '../support/client.js';
import { newNamespace } from '../support/objects.js';
import { newTestKind, type TestKind } from '../support/operators/kinds.js';
import { eventually, startOperator, type TestOperator } from '../support/operators/operators.js';
import { describeOnRealCluster, realCluster } from '../support/real-cluster.js';
import { type FaultyCluster, newLine, SHORT_TIMES } from './faulty-cluster.js';

const LAST_HANDLED = 'kopf.zalando.org/last-handled-configuration';
const FINALIZER = 'kopf.zalando.org/KopfFinalizerMarker';

describeOnRealCluster('objects that are replaced by somebody as a whole, without the traces of handlers', () => {
  let direct: HttpKubeClient;
  let things: TestKind;
  let namespace: string;
  let line: FaultyCluster;
  let calls: string[];
  /** All versions that the operator was told of. */
  let seen: Set<string | undefined>;

  beforeAll(async () => {
    direct = clientOf(realCluster());
    things = await newTestKind(direct);
  });
  afterAll(() => direct?.close());
  beforeEach(async () => {
    line = await newLine(realCluster());
    namespace = await newNamespace(direct);
    [calls, seen] = [[], new Set()];
  });

  const start = (): Promise<TestOperator> =>
    startOperator(
      line,
      ({ on }) => {
        on.event(things.selector, function see({ meta }) {
          seen.add(meta['resourceVersion']);
        });
        on.create(things.selector, function created({ spec }) {
          calls.push(`created ${spec['size']}`);
        });
        on.update(things.selector, function updated({ old, spec }) {
          calls.push(`updated ${resolveField(old, ['spec', 'size'])}→${spec['size']}`);
        });
        on.delete(things.selector, function deleted() {
          calls.push('deleted');
        });
      },
      { namespaces: [namespace], overrides: SHORT_TIMES },
    );
  const manifest = (size: number): AnyObject => ({
    apiVersion: `${things.group}/v1`,
    kind: 'Thing',
    metadata: { name: 'one', namespace },
    spec: { size },
  });
  const kubectl = (verb: 'create' | 'replace', size: number): Promise<string> =>
    runKubectl(realCluster(), [verb, '-f', '-'], { stdin: JSON.stringify(manifest(size)) });
  const isHandledAt = (size: number) =>
    eventually(async () => {
      const { metadata } = (await things.get(namespace, 'one')) ?? {};
      expect(Object.keys(metadata?.annotations ?? {})).toEqual([LAST_HANDLED]);
      expect(JSON.parse(metadata?.annotations?.[LAST_HANDLED] ?? '')).toEqual({ spec: { size } });
      expect(metadata?.finalizers).toEqual([FINALIZER]);
      expect(seen).toContain(metadata?.resourceVersion);
    });

  it('are updated if anything else differs; if nothing does, only the traces are restored', async () => {
    const operator = await start();
    await kubectl('create', 1);
    await isHandledAt(1);
    expect(calls.splice(0)).toEqual(['created 1']);

    await kubectl('replace', 1);
    await isHandledAt(1);
    expect(calls).toEqual([]);
    await kubectl('replace', 2);
    await isHandledAt(2);
    expect(calls).toEqual(['updated 1→2']);
    expect(operator.logger.messages('error')).toEqual([]);

    await things.delete(namespace, 'one');
    await eventually(async () => expect(await things.get(namespace, 'one')).toBeUndefined());
    expect(calls).toEqual(['updated 1→2', 'deleted']);
  });

  describe('again and again', () => {
    it('are restored each time, which is complained of once', async () => {
      const operator = await start();
      await kubectl('create', 1);
      await isHandledAt(1);
      calls.splice(0);
      for (let round = 1; round <= 10; round += 1) {
        // In some of the rounds there is nothing new but the loss.
        const size = Math.ceil(round / 2);
        const { resourceVersion } = (await things.get(namespace, 'one'))?.metadata ?? {};
        const { metadata, ...rest } = manifest(size);
        await direct.request({
          method: 'PUT',
          path: `/apis/${things.group}/v1/namespaces/${namespace}/things/one`,
          body: { ...rest, metadata: { ...metadata, resourceVersion } },
        });
        await isHandledAt(size);
      }
      expect(calls).toEqual(['updated 1→2', 'updated 2→3', 'updated 3→4', 'updated 4→5']);
      expect(operator.logger.messages('info').filter((text) => text.includes('by someone else'))).toHaveLength(1);
      expect(
        operator.logger.messages('warn').filter((text) => text.includes('Someone else keeps removing')),
      ).toHaveLength(1);
    });
  });
});
