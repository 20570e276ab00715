/**
 * Reconciliation and children with operators that are killed again and again. `KOPF_RELATIONS_KILLS` tells how often,
 * `KOPF_RELATIONS_SEED` when.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AnyObject, api } from '@kopf-ts/core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { randomNumbers } from '../failures/random.js';
import { describeOnClusters } from '../support/operators/clusters.js';
import type { TestKind } from '../support/operators/kinds.js';
import { eventually } from '../support/operators/operators.js';
import { program, type RunningProgram } from '../support/operators/programs.js';

const startProgram = program(new URL('programs/relations-program.ts', import.meta.url));

const KILLS = Number(process.env['KOPF_RELATIONS_KILLS'] ?? 5);
const SEED = process.env['KOPF_RELATIONS_SEED'] ?? '1';
const PARENTS = ['one', 'two', 'three'];

describeOnClusters('what belongs to objects, with operators that are killed,', (cluster) => {
  /** What handlers of children have told, in order: of whom, and what they have seen. */
  const told: { readonly of: string; readonly seen: string }[] = [];
  let service: Server;
  let url = '';
  let things: TestKind;
  beforeAll(async () => {
    service = createServer((incoming, outgoing) => {
      const [, of = '', seen = ''] = (incoming.url ?? '').split('/');
      told.push({ of, seen });
      outgoing.end();
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    things = await cluster().newKind();
  });
  afterAll(() => {
    service.closeAllConnections();
    service.close();
  });

  const start = async (namespace: string): Promise<RunningProgram> => {
    const { connection } = cluster();
    const running = startProgram({ connection, selector: things.selector, namespace, service: url });
    await running.says('started');
    return running;
  };
  const kill = async (running: RunningProgram): Promise<void> => {
    running.kill('SIGKILL');
    await running.ended;
  };
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  const wantedOf = (name: string, size: number): string =>
    Array.from({ length: size }, (_, n) => `${name}-${n}=${name}`).join(',');
  const stateOf = (maps: readonly AnyObject[], name: string): string =>
    maps
      .filter(({ metadata }) => metadata?.ownerReferences?.some((owner) => owner.name === name))
      .map(({ metadata, data }) => `${metadata?.name}=${data?.of}`)
      .sort()
      .join(',');

  it(
    `is as it should be in the end, after ${KILLS} kills at random moments of seed ${SEED}`,
    async () => {
      const seed = SEED === 'random' ? Date.now() % 1_000_000 : Number(SEED);
      console.log(`KOPF_RELATIONS_SEED=${seed} KOPF_RELATIONS_KILLS=${KILLS}`);
      const random = randomNumbers(seed);
      const upTo = (limit: number): number => Math.floor(random() * limit);
      const namespace = await cluster().newNamespace();
      const maps = api(cluster().client, { namespace })('configmaps');
      const sizes = new Map(PARENTS.map((name) => [name, 2]));
      for (const name of PARENTS) await things.create(namespace, name, { spec: { size: 2 } });
      const edit = async (): Promise<void> => {
        const name = PARENTS[upTo(PARENTS.length)] as string;
        const victim = `${name}-${upTo(3)}`;
        const what = upTo(3);
        if (what === 0) {
          sizes.set(name, upTo(4));
          await things.patch(namespace, name, { spec: { size: sizes.get(name) } });
        }
        if (what === 1) await maps.delete(victim, { ifGone: 'ignore' });
        if (what === 2) await maps.patch(victim, { data: { of: 'nobody' } }).catch(() => {});
      };
      for (let n = 0; n < KILLS; n++) {
        const doomed = await start(namespace);
        for (let edits = upTo(4); edits > 0; edits--) await edit();
        await pause(upTo(400));
        await kill(doomed);
        for (let edits = upTo(3); edits > 0; edits--) await edit();
      }
      const last = await start(namespace);
      const isAsWanted = async (): Promise<void> => {
        const all = await maps.list();
        for (const [name, size] of sizes) {
          expect(stateOf(all, name)).toBe(wantedOf(name, size));
          expect((await things.get(namespace, name))?.['status']).toMatchObject({ size });
          // The last one who was told was told of what there is.
          if (size > 0) expect(told.findLast(({ of }) => of === name)?.seen).toBe(wantedOf(name, size));
        }
      };
      await eventually(isAsWanted);

      await things.delete(namespace, 'three');
      await eventually(async () => expect(await things.get(namespace, 'three')).toBeUndefined());
      await kill(last);
    },
    60_000 + KILLS * 15_000,
  );

  it('is told after a restart of those parents only whose children differ', async () => {
    const namespace = await cluster().newNamespace();
    const maps = api(cluster().client, { namespace })('configmaps');
    for (const name of PARENTS) await things.create(namespace, name, { spec: { size: 2 } });
    const isStored = async (): Promise<void> => {
      for (const name of PARENTS) {
        expect(told.findLast(({ of }) => of === name)?.seen).toBe(wantedOf(name, 2));
        const { annotations = {} } = (await things.get(namespace, name))?.metadata ?? {};
        expect(Object.keys(annotations).filter((key) => key.includes('children'))).toHaveLength(1);
      }
    };
    told.length = 0;
    const first = await start(namespace);
    await eventually(isStored);
    // Until all is stored, and nobody is called any more.
    let length = -1;
    await eventually(async () => {
      const before = length;
      length = told.length;
      await pause(1000);
      expect(told.length).toBe(before);
    });
    await kill(first);
    told.length = 0;

    const second = await start(namespace);
    await pause(2000);
    await kill(second);
    expect(told).toEqual([]);

    await maps.delete('two-1');
    const third = await start(namespace);
    await eventually(async () => {
      expect(told.at(-1)).toEqual({ of: 'two', seen: wantedOf('two', 2) });
    });
    await kill(third);
    expect(new Set(told.map(({ of }) => of))).toEqual(new Set(['two']));
  }, 120_000);
});
