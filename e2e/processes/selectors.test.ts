/**
 * Objects that come into a selection and leave it, with operators that are killed again and again.
 * `KOPF_RELATIONS_KILLS` tells how often, `KOPF_RELATIONS_SEED` when.
 */
import { expect, it } from 'vitest';
import { randomNumbers } from '../failures/random.js';
import { describeOnClusters } from '../support/operators/clusters.js';
import { eventually } from '../support/operators/operators.js';
import { program } from '../support/operators/programs.js';

const startProgram = program(new URL('programs/selectors-program.ts', import.meta.url));

const KILLS = Number(process.env['KOPF_RELATIONS_KILLS'] ?? 4);
const SEED = process.env['KOPF_RELATIONS_SEED'] ?? '1';
const FINALIZER = 'kopf.zalando.org/KopfFinalizerMarker';
const NAMES = ['one', 'two', 'three', 'four'];

describeOnClusters('selectors of operators that are killed', (cluster) => {
  it(
    `hold exactly those that are selected in the end, after ${KILLS} kills at random moments of seed ${SEED}`,
    async () => {
      const seed = SEED === 'random' ? Date.now() % 1_000_000 : Number(SEED);
      console.log(`KOPF_RELATIONS_SEED=${seed} KOPF_RELATIONS_KILLS=${KILLS}`);
      const random = randomNumbers(seed);
      const upTo = (limit: number): number => Math.floor(random() * limit);
      const things = await cluster().newKind();
      const namespace = await cluster().newNamespace();
      const { connection } = cluster();
      const labelled = (mine: string) => ({ metadata: { labels: { mine } } });
      const wanted = new Map<string, { readonly mine: string; readonly size: number }>();
      const edit = async (): Promise<void> => {
        const name = NAMES[upTo(NAMES.length)] as string;
        const state = { mine: ['yes', 'no'][upTo(2)] as string, size: upTo(100) };
        const what = upTo(10);
        if (what === 0) {
          wanted.delete(name);
          await things.delete(namespace, name);
          return;
        }
        const changes = { ...labelled(state.mine), spec: { size: state.size } };
        const is = await things.get(namespace, name);
        // It cannot be created again before somebody has released it.
        if (is?.metadata?.deletionTimestamp !== undefined) return;
        if (is === undefined) await things.create(namespace, name, changes);
        else await things.patch(namespace, name, changes);
        wanted.set(name, state);
      };
      const start = async () => {
        const running = startProgram({ connection, selector: things.selector, namespace });
        await running.says('started');
        return running;
      };
      for (let n = 0; n < KILLS; n++) {
        const doomed = await start();
        for (let edits = 2 + upTo(8); edits > 0; edits--) await edit();
        await new Promise((resolve) => setTimeout(resolve, upTo(300)));
        doomed.kill('SIGKILL');
        await doomed.ended;
        for (let edits = upTo(4); edits > 0; edits--) await edit();
      }
      const last = await start();
      await eventually(async () => {
        for (const name of NAMES) {
          const object = await things.get(namespace, name);
          const { mine, size } = wanted.get(name) ?? {};
          expect(object?.metadata?.labels?.['mine'], name).toBe(mine);
          if (object === undefined) continue;
          expect(object.metadata?.finalizers ?? [], name).toEqual(mine === 'yes' ? [FINALIZER] : []);
          if (mine === 'yes') expect(object['status'], name).toMatchObject({ size });
        }
      });
      last.kill('SIGKILL');
      await last.ended;
    },
    60_000 + KILLS * 15_000,
  );
});
