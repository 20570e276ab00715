/** From a call of `localCluster()` to the first answer over HTTP, in new processes. */
import { type Row, row } from '../figures.js';
import { type BuiltServer, messageOf } from './building.js';

const PROCESSES = 5;
/** Milliseconds. */
const GOAL = 150;
const TLS_GOAL = 200;

interface StartUp {
  readonly importing: number;
  readonly serving: number;
}

export async function measureStartUp(built: BuiltServer): Promise<readonly Row[]> {
  // The first one warms the caches of the system up.
  await once(built, false);
  const times = { http: [] as StartUp[], https: [] as StartUp[] };
  for (let process = 0; process < PROCESSES; process++) {
    times.http.push(await once(built, false));
    times.https.push(await once(built, true));
  }
  const unit = { unit: ' ms', digits: 0 };
  const all = [...times.http, ...times.https];
  return [
    row(
      "import '@kopf-ts/apiserver'",
      all.map(({ importing }) => importing),
      unit,
    ),
    row(
      '  … from there to the first answer by HTTP',
      times.http.map(({ serving }) => serving),
      { ...unit, atMost: GOAL },
    ),
    row(
      '  … and by HTTPS',
      times.https.map(({ serving }) => serving),
      { ...unit, atMost: TLS_GOAL },
    ),
  ];
}

function once(built: BuiltServer, tls: boolean): Promise<StartUp> {
  return messageOf(built.start(startUp, { args: [tls] }));
}

async function startUp(server: string, tls: boolean): Promise<void> {
  const started = performance.now();
  const { localCluster } = (await import(server)) as typeof import('@kopf-ts/apiserver');
  const imported = performance.now();
  const cluster = await localCluster({ tls });
  const { get } = tls ? await import('node:https') : await import('node:http');
  const headers = { authorization: `Bearer ${cluster.token}` };
  const ca = cluster.security.tls?.ca;
  const status = await new Promise((resolve, reject) => {
    get(`${cluster.url}/api/v1/namespaces`, { headers, ...(ca !== undefined && { ca }) }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode));
    }).on('error', reject);
  });
  const answered = performance.now();
  if (status !== 200) throw new Error(`The first answer was ${status}.`);
  process.send?.({ importing: imported - started, serving: answered - imported });
  process.disconnect?.();
  await cluster.stop();
}
