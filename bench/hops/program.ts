/**
 * An operator with one handler that patches the status, on a server of one object. It is warmed up by some updates; then
 * V8 counts what is called while nothing happens, and while one more update is handled. Sends both to its parent.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Session } from 'node:inspector/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { createRegistry, type Logger } from '@kopf-ts/core';
import { operator } from 'kopf-ts';

const WARM_UP = 5;
/** Long enough for the operator to be done with an update but for its echo, and for some beats of what beats. */
const SETTLING_MS = 250;
const KIND = '/apis/kopf.dev/v1/kopfexamples';
const OBJECT = '/apis/kopf.dev/v1/namespaces/default/kopfexamples/object';

type Fields = Record<string, unknown>;

const verbs = ['get', 'list', 'watch', 'patch'];
const documents: Record<string, Fields> = {
  '/api': { versions: [] },
  '/apis': { groups: [{ name: 'kopf.dev', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } }] },
  '/apis/kopf.dev/v1': {
    resources: [
      { name: 'kopfexamples', singularName: 'kopfexample', kind: 'KopfExample', namespaced: true, verbs },
      { name: 'kopfexamples/status', kind: 'KopfExample', namespaced: true, verbs: ['get', 'patch'] },
    ],
  },
};
const object: Fields = {
  apiVersion: 'kopf.dev/v1',
  kind: 'KopfExample',
  metadata: { name: 'object', namespace: 'default', uid: 'uid', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { number: 0 },
};
let version = 1000;
let patches = 0;
let stream: ServerResponse | undefined;
/** Events of the operator's own patches: they are other events, and come after those of the measured one. */
const echoes: string[] = [];

function stored(change: Fields): string {
  merge(object, change);
  merge(object, { metadata: { resourceVersion: String(++version) } });
  return `${JSON.stringify({ type: 'MODIFIED', object })}\n`;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
  const give = (status: number, document: Fields): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(document));
  };
  if (pathname === KIND && searchParams.has('watch')) {
    stream = response.writeHead(200, { 'content-type': 'application/json' });
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const bookmark = {
      kind: 'KopfExample',
      apiVersion: 'kopf.dev/v1',
      metadata: { resourceVersion: '1000', annotations },
    };
    if (searchParams.has('sendInitialEvents')) {
      stream.write(`${JSON.stringify({ type: 'ADDED', object })}\n`);
      stream.write(`${JSON.stringify({ type: 'BOOKMARK', object: bookmark })}\n`);
    }
  } else if (pathname === KIND) {
    give(200, { metadata: { resourceVersion: String(version) }, items: [object] });
  } else if (pathname.startsWith(OBJECT) && request.method === 'PATCH') {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
    echoes.push(stored(JSON.parse(text) as Fields));
    give(200, object);
    patches += 1;
  } else {
    const document = documents[pathname];
    if (document) give(200, document);
    else give(404, { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 });
  }
}

function merge(target: Fields, change: Fields): void {
  for (const [key, value] of Object.entries(change)) {
    if (value === null) delete target[key];
    else if (typeof value !== 'object' || Array.isArray(value)) target[key] = value;
    else {
      target[key] ??= {};
      merge(target[key] as Fields, value as Fields);
    }
  }
}

const silent: Logger = {
  debug() {},
  info() {},
  warn: (message) => console.error(message),
  error: (message, fields) => console.error(message, fields?.error),
  isEnabled: () => false,
  child: () => silent,
};

const folder = mkdtempSync(join(tmpdir(), 'kopf-ts-hops-'));
const server = createServer((request, response) => void answer(request, response));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const kubeconfig = {
  'current-context': 'own',
  contexts: [{ name: 'own', context: { cluster: 'own', user: 'own' } }],
  clusters: [{ name: 'own', cluster: { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } }],
  users: [{ name: 'own', user: { token: 'token' } }],
};
process.env['KUBECONFIG'] = join(folder, 'kubeconfig');
writeFileSync(process.env['KUBECONFIG'], JSON.stringify(kubeconfig));

const registry = createRegistry();
let calls = 0;
registry.on.create('kopfexamples', { id: 'create_fn' }, () => undefined);
registry.on.update('kopfexamples', { id: 'update_fn' }, async ({ patch, spec }) => {
  calls += 1;
  patch.status['number'] = spec['number'];
});
const running = operator({ registry, clusterwide: true, standalone: true, logger: silent });
await running.ready;

async function update(number: number): Promise<void> {
  const expected = calls + 1;
  const patchesBefore = patches;
  stream?.write(stored({ spec: { number } }));
  while (calls < expected || patches === patchesBefore) await setImmediate();
  await setTimeout(SETTLING_MS);
  if (calls !== expected) throw new Error(`The handler was called ${calls - expected + 1} times for one update.`);
}

async function releaseEchoes(): Promise<void> {
  while (echoes.length > 0) {
    for (const echo of echoes.splice(0)) stream?.write(echo);
    await setTimeout(SETTLING_MS);
  }
}

const { session } = globalThis as unknown as { readonly session: Session };
await setTimeout(SETTLING_MS);
await releaseEchoes();
for (let round = 1; round <= WARM_UP; round++) {
  await update(round);
  await releaseEchoes();
}

/** How often it all was called meanwhile, in this very script. */
async function counted(act: () => Promise<void>): Promise<object> {
  await session.post('Profiler.takePreciseCoverage');
  await act();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const own = result.find(({ url }) => url === import.meta.url);
  if (own === undefined) throw new Error('V8 tells nothing of the program.');
  return own.functions;
}

// As long as an update takes, and longer: all that runs by itself has then run.
const idle = await counted(async () => void (await setTimeout(3 * SETTLING_MS)));
const before = patches;
const busy = await counted(() => update(1000));
process.send?.({ idle, busy, requests: patches - before });
session.disconnect();
rmSync(folder, { recursive: true, force: true });
process.exit();
