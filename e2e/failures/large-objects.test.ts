import { randomBytes } from 'node:crypto';
import type { HttpKubeClient } from '@kopf-ts/client';
import { type AnyObject, ApiError, TemporaryError } from '@kopf-ts/core';
import { annotationsDiffBaseStorage } from '@kopf-ts/storage';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clientOf } from '../support/client.js';
import { newNamespace } from '../support/objects.js';
import { newTestKind, type TestKind } from '../support/operators/kinds.js';
import { eventually, startOperator, type TestOperator } from '../support/operators/operators.js';
import { type PythonKopf, pythonKopf } from '../support/python-kopf.js';
import { describeOnRealCluster, realCluster } from '../support/real-cluster.js';
import { type FaultyCluster, newLine, patchStatus, SHORT_TIMES } from './faulty-cluster.js';

const LAST_HANDLED = 'kopf.zalando.org/last-handled-configuration';
const KB = 1000;
/** Kubernetes' limit of annotations, and etcd's limit of objects. */
const [MAX_ANNOTATIONS, MAX_OBJECT] = [256 * 1024, 1.5 * 1024 * 1024];

const compressible = (size: number): string => 'All work and no play. '.repeat(size / 22);
const incompressible = (size: number): string => randomBytes((size * 3) / 4).toString('base64');

describeOnRealCluster('handlers of large objects are not called twice', () => {
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
        on.create(things.selector, function made() {
          calls.push('made');
        });
        on.create(things.selector, function retried({ retry }) {
          calls.push(`retried ${retry}`);
          if (retry === 0) throw new TemporaryError('not now', { delay: 0.5 });
        });
      },
      { namespaces: [namespace], overrides: SHORT_TIMES },
    );
  const annotations = async (): Promise<Record<string, string>> =>
    (await things.get(namespace, 'one'))?.metadata?.annotations ?? {};
  const setStatus = (round: number) => patchStatus(direct, things, { namespace, name: 'one' }, { round });
  const isSeen = ({ metadata }: AnyObject) => eventually(() => expect(seen).toContain(metadata?.resourceVersion), 30);

  describe('whatever their size is', () => {
    let kopf: PythonKopf;
    beforeAll(async () => {
      kopf = await pythonKopf();
    });

    it.each<[title: string, form: '' | '-gzip' | '-digest', data: () => string]>([
      ['100 KB of words', '', () => compressible(100 * KB)],
      ['100 KB of noise', '', () => incompressible(100 * KB)],
      ['280 KB of words', '-gzip', () => compressible(280 * KB)],
      ['280 KB of noise', '-digest', () => incompressible(280 * KB)],
      ['900 KB of words', '-gzip', () => compressible(900 * KB)],
      ['900 KB of noise', '-digest', () => incompressible(900 * KB)],
    ])('%s', async (_title, form, makeData) => {
      const data = makeData();
      const operator = await start();
      await things.create(namespace, 'one', { spec: { data } });
      await eventually(async () => {
        expect(Object.keys(await annotations())).toEqual([`${LAST_HANDLED}${form}`]);
      });
      expect(calls).toEqual(['made', 'retried 0', 'retried 1']);
      for (let round = 1; round <= 5; round += 1) {
        await setStatus(round);
        await things.patch(namespace, 'one', { metadata: { labels: { round: String(round) } } });
      }
      await isSeen(await setStatus(0));
      await eventually(async () => {
        const body = (await things.get(namespace, 'one')) ?? {};
        const { labels } = body.metadata ?? {};
        expect(Object.keys(body.metadata?.annotations ?? {})).toEqual([`${LAST_HANDLED}${form}`]);
        const storage = annotationsDiffBaseStorage();
        const [stored, current] = [await storage.fetch({ body }), storage.build({ body })];
        if (form !== '-digest') expect(stored).toEqual(current);
        if (form === '' && kopf.kind === 'installed') {
          const answer = await kopf.ask({ action: 'fetch', storage: 'smart', keys: ['made', 'retried'], body });
          expect(answer).toEqual({ records: { made: null, retried: null }, essence: current, current });
        }
        expect(labels).toEqual({ round: '5' });
      });
      await operator.stop();
      seen.clear();
      const next = await start();
      await eventually(() => expect(seen.size).toBeGreaterThan(0));
      await next.stop();
      expect(calls).toEqual(['made', 'retried 0', 'retried 1']);
      expect(operator.logger.messages('error')).toEqual(["Handler 'retried' failed temporarily: not now"]);
      expect(next.logger.messages('error')).toEqual([]);
    });
  });

  describe('even if there is no room for any traces', () => {
    const createWithinLimit = async (body: (size: number) => AnyObject, limit: number): Promise<void> => {
      for (let size = limit; size > 0; size -= 40) {
        try {
          await things.create(namespace, 'one', body(size));
          return;
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
        }
      }
    };

    it.each<[what: string, limit: number, body: (size: number) => AnyObject]>([
      [
        'in the annotations',
        MAX_ANNOTATIONS,
        (size) => ({ metadata: { annotations: { 'example.com/all': 'x'.repeat(size) } }, spec: { size: 1 } }),
      ],
      ['in the object', MAX_OBJECT - 600, (size) => ({ spec: { data: 'x'.repeat(size) } })],
    ])('%s', async (_what, limit, body) => {
      const operator = await start();
      await createWithinLimit(body, limit);
      await eventually(() => expect(calls).toEqual(['made', 'retried 0', 'retried 1']));
      const errors = operator.logger.messages('error').filter((text) => text.includes('too large for the progress'));
      expect(errors).toHaveLength(1);
      operator.logger.clear();
      const patches = line.requests.filter((request) => request.startsWith('PATCH ')).length;
      for (let round = 1; round <= 11; round += 1) await isSeen(await setStatus(round % 2));
      await operator.stop();
      expect(calls).toEqual(['made', 'retried 0', 'retried 1']);
      expect(line.requests.filter((request) => request.startsWith('PATCH ')).length - patches).toBeLessThan(30);
      expect(operator.logger.messages('error')).toEqual([]);
    });
  });
});
