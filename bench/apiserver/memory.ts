/** How much memory a process takes that holds many objects. */
import { type Row, row } from '../figures.js';
import { type BuiltServer, messageOf } from './building.js';
import { definition, PATH, sampleOf } from './samples.js';

const OBJECTS = 50_000;
const OBJECT_BYTES = 2048;
/** Megabytes of the whole process. */
const GOAL = 450;

interface Held {
  readonly before: number;
  readonly created: number;
  readonly changed: number;
}

export async function measureMemory(built: BuiltServer): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [title, note] of [
    ['ASCII', ''],
    ['other letters, too', '名前'],
  ] as const) {
    const child = built.start(hold, {
      args: [definition(), PATH, JSON.stringify(sampleOf('thing-00000', OBJECT_BYTES, note)), OBJECTS],
      execArgv: ['--expose-gc'],
    });
    const { before, created, changed } = await messageOf<Held>(child);
    const unit = { unit: ' MB', digits: 0 };
    rows.push(
      row(`${OBJECTS} objects of ${OBJECT_BYTES} bytes (${title}): resident`, [created], { ...unit, atMost: GOAL }),
      row('  … without any', [before], unit),
      row('  … after each was changed', [changed], unit),
    );
  }
  return rows;
}

async function hold(server: string, kind: object, path: string, sample: string, count: number): Promise<void> {
  const { localCluster } = (await import(server)) as typeof import('@kopf-ts/apiserver');
  const cluster = await localCluster();
  await cluster.create(kind);
  const nameOf = (number: number): string => `thing-${String(number).padStart(5, '0')}`;
  const megabytes = async (): Promise<number> => {
    // What is collectable is told in several turns.
    for (let turn = 0; turn < 3; turn++) {
      (globalThis as { gc?: () => void }).gc?.();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return process.memoryUsage.rss() / 1024 / 1024;
  };
  const before = await megabytes();
  for (let number = 0; number < count; number++) {
    const body = JSON.parse(sample.replace('thing-00000', nameOf(number)));
    await cluster.client.request({ method: 'POST', path, body });
  }
  const created = await megabytes();
  for (let number = 0; number < count; number++) {
    await cluster.client.request({
      method: 'PATCH',
      path: `${path}/${nameOf(number)}`,
      body: { spec: { replicas: 2 } },
      contentType: 'application/merge-patch+json',
    });
  }
  const changed = await megabytes();
  process.send?.({ before, created, changed });
  process.disconnect?.();
  await cluster.stop();
}
