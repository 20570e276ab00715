/** Creations and patches per second, beside kube-apiserver and etcd, by the same clients in turns. */
import { Pool } from 'undici';
import { describeBinaries, findBinaries, startControlPlane } from '../../e2e/controlplane/index.js';
import { median, ofPairs, type Row, row } from '../figures.js';
import { type BuiltServer, messageOf } from './building.js';
import { definition, PATH, sampleOf } from './samples.js';

const CONNECTIONS = 8;
const OBJECTS = 500;
const OBJECT_BYTES = 2048;
const ROUNDS = 5;
const GOAL = 4;

interface Access {
  readonly url: string;
  readonly token: string;
  readonly ca?: string | undefined;
}

interface Contestant {
  readonly name: string;
  readonly pool: Pool;
  readonly token: string;
  readonly creates: number[];
  readonly patches: number[];
}

export async function measureThroughput(built: BuiltServer): Promise<readonly Row[]> {
  const found = await findBinaries({ say: (text) => console.log(`control plane: ${text}`) });
  const real = found.kind === 'found' ? await startControlPlane({ binaries: found.binaries }) : undefined;
  const contestants: Contestant[] = [];
  try {
    contestants.push(contestant('embedded, HTTP', await embedded(built, false)));
    contestants.push(contestant('embedded, HTTPS', await embedded(built, true)));
    if (real !== undefined) contestants.push(contestant('kube-apiserver + etcd', real));
    for (const one of contestants) await define(one);
    // The first rounds are for the compilers, and for the buffers of everyone.
    for (let round = 0; round < ROUNDS + 2; round++) {
      // In turns, and each of them first as often as last.
      const order = round % 2 === 0 ? contestants : contestants.toReversed();
      for (const one of order) await runRound(one, round);
    }
    for (const one of contestants) {
      one.creates.splice(0, 2);
      one.patches.splice(0, 2);
    }
    if (found.kind === 'found') console.log(describeBinaries(found.binaries));
    if (found.kind === 'unavailable') {
      console.log(`The comparison with kube-apiserver + etcd was skipped: ${found.reason}.`);
    }
    return report(contestants);
  } finally {
    for (const { pool } of contestants) await pool.destroy();
    await real?.stop();
  }
}

function report(contestants: readonly Contestant[]): readonly Row[] {
  for (const { name, creates, patches } of contestants) {
    console.log(`${name.padEnd(22)} ${spread(creates)} creations/s, ${spread(patches)} merge-patches/s`);
  }
  const real = contestants[2];
  if (real === undefined) return [];
  const ratio = (ours: number, theirs: number): number => ours / theirs;
  return contestants.slice(0, 2).flatMap(({ name, creates, patches }) => [
    row(`${name}: creations/s, to ${real.name}`, ofPairs(creates, real.creates, ratio), {
      unit: ' ×',
      atLeast: GOAL,
    }),
    row('  … merge-patches/s', ofPairs(patches, real.patches, ratio), { unit: ' ×', atLeast: GOAL }),
  ]);
}

function spread(rates: readonly number[]): string {
  const [middle, least, most] = [median(rates), Math.min(...rates), Math.max(...rates)].map(Math.round);
  return `${String(middle).padStart(5)} [${least}–${most}]`;
}

/** In a process of its own, as the other one is. */
async function embedded(built: BuiltServer, tls: boolean): Promise<Access> {
  return await messageOf(built.start(serve, { args: [tls] }));
}

async function serve(server: string, tls: boolean): Promise<void> {
  const { localCluster } = (await import(server)) as typeof import('@kopf-ts/apiserver');
  const { url, token, security } = await localCluster({ tls });
  process.on('disconnect', () => process.exit());
  process.send?.({ url, token, ca: security.tls?.ca });
}

function contestant(name: string, { url, token, ca }: Access): Contestant {
  const pool = new Pool(url, { connections: CONNECTIONS, ...(ca !== undefined && { connect: { ca } }) });
  return { name, pool, token, creates: [], patches: [] };
}

async function define(one: Contestant): Promise<void> {
  const body = JSON.stringify(definition());
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await expect(one, 201, { method: 'POST', path, body, type: 'application/json' });
  // It is served a moment later.
  for (;;) {
    const { statusCode, body: list } = await one.pool.request({ method: 'GET', path: PATH, headers: headersOf(one) });
    await list.dump();
    if (statusCode === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function runRound(one: Contestant, round: number): Promise<void> {
  const names = Array.from({ length: OBJECTS }, (_, index) => `thing-${round}-${index}`);
  const bodies = names.map((name) => JSON.stringify(sampleOf(name, OBJECT_BYTES)));
  const patch = JSON.stringify({ metadata: { annotations: { 'example.com/note': 'x' } }, spec: { replicas: 3 } });
  const create = (index: number): Promise<void> =>
    expect(one, 201, { method: 'POST', path: PATH, body: bodies[index] ?? '', type: 'application/json' });
  const change = (index: number): Promise<void> =>
    expect(one, 200, {
      method: 'PATCH',
      path: `${PATH}/${names[index]}`,
      body: patch,
      type: 'application/merge-patch+json',
    });
  one.creates.push(await rateOf(create));
  one.patches.push(await rateOf(change));
}

/** Per second, with as many at once as there are connections. */
async function rateOf(act: (index: number) => Promise<void>): Promise<number> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < OBJECTS) await act(next++);
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return (OBJECTS * 1000) / (performance.now() - started);
}

interface Request {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly body: string;
  readonly type: string;
}

async function expect(one: Contestant, status: number, { method, path, body, type }: Request): Promise<void> {
  const headers = { ...headersOf(one), 'content-type': type };
  const answer = await one.pool.request({ method, path, body, headers });
  const text = await answer.body.text();
  if (answer.statusCode !== status) throw new Error(`${one.name} answers ${answer.statusCode}: ${text}`);
}

function headersOf({ token }: Contestant): Record<string, string> {
  return { authorization: `Bearer ${token}`, accept: 'application/json' };
}
