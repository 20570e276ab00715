/**
 * The limit: what any program on Node has to do at least for the same effect, with no framework at all. One listing, one
 * watch-stream, two patches per object, with their answers read: what is stored may differ from what was sent. With
 * `ANSWERS=dropped`, they are not. For what it must do by the `WORKLOAD`, see `operator.ts`.
 */
import { readFileSync } from 'node:fs';
import https from 'node:https';

const { WORKLOAD, KUBECONFIG, OBJECTS, ANSWERS } = process.env;
const KIND = '/apis/kopf.dev/v1/kopfexamples';
const LAST_HANDLED = 'kopf.zalando.org/last-handled-configuration';

const kubeconfig = readFileSync(KUBECONFIG, 'utf8');
const [, server] = kubeconfig.match(/server"?: "?([^",}\s]+)/);
const [, token] = kubeconfig.match(/token"?: "?([^",}\s]+)/);
const headers = { authorization: `Bearer ${token}` };
const [, caFile] = kubeconfig.match(/certificate-authority"?: "?([^",}\s]+)/);
const agent = new https.Agent({ keepAlive: true, maxSockets: 64, ca: readFileSync(caFile) });
const streams = new https.Agent({ ca: readFileSync(caFile) });
const now = () => Number(process.hrtime.bigint()) / 1e6;
let seen = 0;

/** By the uids of their owners. */
const children = new Map();

/** The server may be too busy, and connections may break: even this program has to try again then. */
async function patch(path, body, method = 'PATCH') {
  for (;;) {
    const { status, object } = await send(path, body, method).catch(() => ({ status: 500 }));
    if (status < 400) return object;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function send(path, body, method) {
  return new Promise((resolve, reject) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const options = { method, agent, headers: { ...headers, 'content-type': type } };
    const request = https.request(server + path, options, (answer) => {
      const status = answer.statusCode;
      if (ANSWERS === 'dropped') answer.resume().on('end', () => resolve({ status }));
      else parsed(answer, (object) => resolve({ status, object }), reject);
    });
    request.on('error', reject);
    request.end(JSON.stringify(body));
  });
}

function list(path) {
  return new Promise((resolve, reject) => {
    const request = https.get(server + path, { agent, headers }, (answer) => {
      parsed(answer, resolve, reject);
    });
    request.on('error', reject);
  });
}

function parsed(answer, resolve, reject) {
  const chunks = [];
  answer.on('error', reject);
  answer.on('data', (chunk) => chunks.push(chunk));
  answer.on('end', () => {
    try {
      resolve(JSON.parse(Buffer.concat(chunks)));
    } catch (error) {
      reject(error);
    }
  });
}

function watch(path, onEvent, onEnd) {
  https.get(server + path, { headers, agent: streams }, (answer) => {
    let text = '';
    answer.setEncoding('utf8');
    answer.on('end', onEnd);
    answer.on('data', (chunk) => {
      text += chunk;
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
        const event = JSON.parse(text.slice(0, end));
        text = text.slice(end + 1);
        onEvent(event.object, event.type);
      }
    });
  });
}

async function handle({ metadata, spec, status }, type) {
  const { name, namespace, annotations } = metadata;
  if (WORKLOAD === 'events' && ++seen === Number(OBJECTS)) console.log(`SEEN ${now()}`);
  if (WORKLOAD === 'update' && type === 'MODIFIED') console.log(`UPDATED ${name} ${now()}`);
  if (WORKLOAD === 'reconcile') return await reconcile(metadata, status);
  if (WORKLOAD !== 'create' || status?.create_fn || annotations?.[LAST_HANDLED]) return;
  const path = `/apis/kopf.dev/v1/namespaces/${namespace}/kopfexamples/${name}`;
  await patch(path, { metadata: { annotations: { [LAST_HANDLED]: `${JSON.stringify({ spec })}\n` } } });
  await patch(`${path}/status`, { status: { create_fn: { ok: true } } });
}

/** What is there is known from the stream, and from the answers. */
async function reconcile({ name, namespace, uid }, status) {
  const path = `/apis/kopf.dev/v1/namespaces/${namespace}/kopfexamples/${name}`;
  if (!children.has(uid)) {
    const owner = {
      apiVersion: 'kopf.dev/v1',
      kind: 'KopfExample',
      name,
      uid,
      controller: true,
      blockOwnerDeletion: true,
    };
    const metadata = { name, namespace, ownerReferences: [owner] };
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { of: name } };
    remember(await patch(`/api/v1/namespaces/${namespace}/configmaps`, map, 'POST'), 'ADDED');
  }
  if (!status?.create_fn) await patch(`${path}/status`, { status: { create_fn: { ok: true } } });
}

function remember({ metadata, ...rest }, type) {
  const [{ uid } = {}] = metadata.ownerReferences ?? [];
  if (uid === undefined) return;
  if (type === 'DELETED') children.delete(uid);
  else children.set(uid, { metadata, ...rest });
}

async function followChildren() {
  const { items, metadata } = await list('/api/v1/configmaps');
  for (const object of items) remember(object);
  watch(`/api/v1/configmaps?watch=1&resourceVersion=${metadata.resourceVersion}`, remember, followChildren);
}

/** The server ends the streams of those who read too slowly, e.g. because the machine is busy. */
async function follow() {
  const { items, metadata } = await list(KIND);
  for (const object of items) handle(object);
  watch(`${KIND}?watch=1&resourceVersion=${metadata.resourceVersion}`, handle, follow);
}

if (WORKLOAD === 'reconcile') await followChildren();
await follow();
console.log('READY');
process.on('SIGTERM', () => process.exit(0));
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  console.log(`HEAP ${process.memoryUsage().heapUsed}`);
});
