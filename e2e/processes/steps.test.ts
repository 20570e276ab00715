/** Steps of operators that are killed again and again. `KOPF_STEPS_KILLS` tells how often, `KOPF_STEPS_SEED` where. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { randomNumbers } from '../failures/random.js';
import { describeOnClusters } from '../support/operators/clusters.js';
import type { TestKind } from '../support/operators/kinds.js';
import { eventually } from '../support/operators/operators.js';
import { program, type RunningProgram } from '../support/operators/programs.js';

const startProgram = program(new URL('programs/steps-program.ts', import.meta.url));

/** The same as of the program: which is a program, and not to be imported. */
const STEPS = ['network', 'disk', 'machine', 'address', 'name'];
const KILLS = Number(process.env['KOPF_STEPS_KILLS'] ?? 4);
const SEED = process.env['KOPF_STEPS_SEED'] ?? '1';
const PREFIX = 'kopf.zalando.org';

interface Request {
  readonly name: string;
  readonly step: string;
  /** Of the request, or that the step is done, as far as the handler knows. */
  readonly key: string;
}

/** A service that does things, and counts them. */
class Service {
  readonly requests: Request[] = [];
  onRequest: ((request: Request) => Promise<void> | void) | undefined;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((incoming, outgoing) => {
      const [, name = '', step = '', key = ''] = (incoming.url ?? '').split('/');
      const request = { name, step, key };
      this.requests.push(request);
      void Promise.resolve(this.onRequest?.(request)).then(() =>
        outgoing.end(JSON.stringify({ id: `${step}-${this.requests.length}` })),
      );
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

describeOnClusters('steps of operators that are killed', (cluster) => {
  const service = new Service();
  let url = '';
  let things: TestKind;
  beforeAll(async () => {
    url = await service.start();
    things = await cluster().newKind();
  });
  afterAll(() => service.stop());

  const storedSteps = async (namespace: string, name: string): Promise<string[]> => {
    const { annotations = {} } = (await things.get(namespace, name))?.metadata ?? {};
    return STEPS.filter((step) => annotations[`${PREFIX}/build.${step}`]?.includes('"result"'));
  };

  it(
    `are not done again once they are done, at ${KILLS} random places of seed ${SEED}`,
    async () => {
      const seed = SEED === 'random' ? Date.now() % 1_000_000 : Number(SEED);
      console.log(`KOPF_STEPS_SEED=${seed} KOPF_STEPS_KILLS=${KILLS}`);
      const random = randomNumbers(seed);
      const namespace = await cluster().newNamespace();
      const { connection } = cluster();
      const start = async (): Promise<RunningProgram> => {
        const running = startProgram({ connection, selector: things.selector, namespace, service: url });
        await running.says('started');
        return running;
      };
      for (let kill = 0; kill < KILLS; kill++) {
        const name = `thing-${kill}`;
        const doomed = await start();
        // Of the two requests of each of the five steps, one is where it ends: then, or some milliseconds later.
        const place = Math.floor(random() * STEPS.length * 2);
        const delay = Math.floor(random() * 2) * Math.floor(random() * 40);
        let seen = 0;
        const isThere = new Promise<void>((resolve) => {
          service.onRequest = (request) => {
            if (request.name !== name || seen++ !== place) return;
            setTimeout(resolve, delay);
          };
        });
        await things.create(namespace, name);
        await isThere;
        doomed.kill('SIGKILL');
        await doomed.ended;
        service.onRequest = undefined;
        // What it had sent before may still be on its way to the server.
        const before = service.requests.filter((request) => request.name === name);
        const stored = await storedSteps(namespace, name);
        const done = new Set([...stored, ...before.filter(({ key }) => key === 'done').map(({ step }) => step)]);
        const isOver = (await things.get(namespace, name))?.['status'] !== undefined;
        const length = service.requests.length;

        const next = await start();
        await eventually(async () => {
          const { annotations = {} } = (await things.get(namespace, name))?.metadata ?? {};
          expect(Object.keys(annotations)).toEqual([`${PREFIX}/last-handled-configuration`]);
        });
        const repeated = service.requests.slice(length).filter((one) => one.name === name && one.key !== 'done');
        const where = `place ${place}, ${delay} ms, thing ${name}, done before: ${[...done].join(' ')}`;
        for (const { step } of repeated) expect(done, where).not.toContain(step);
        if (isOver) expect(repeated, where).toEqual([]);
        for (const step of STEPS) {
          const all = service.requests.filter((one) => one.name === name && one.step === step && one.key !== 'done');
          expect(all.length, where).toBeGreaterThan(0);
          expect(all.length, where).toBeLessThanOrEqual(2);
          expect(new Set(all.map(({ key }) => key)).size, where).toBe(1);
        }
        next.kill('SIGKILL');
        await next.ended;
      }
      const keys = service.requests.filter(({ key }) => key !== 'done').map(({ key }) => key);
      expect(new Set(keys).size).toBe(KILLS * STEPS.length);
    },
    30_000 + KILLS * 15_000,
  );
});
