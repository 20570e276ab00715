/** The callers: so many connections, each with one review after another. Tells its figures, and ends. */
import { Agent, request } from 'node:https';

interface Task {
  readonly url: string;
  readonly ca: string;
  readonly requests: number;
  readonly connections: number;
}

export interface LoadFigures {
  /** How many requests there were in all, also those that are not measured. */
  readonly all: number;
  readonly perSecond: number;
  /** In milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

const OBJECT = {
  apiVersion: 'kopf.dev/v1',
  kind: 'KopfExample',
  metadata: {
    name: 'example',
    namespace: 'default',
    uid: '0b7b8a5e-5a53-4f0e-8e0f-6f2f6b6a3c11',
    resourceVersion: '123456',
    generation: 3,
    creationTimestamp: '2020-01-01T00:00:00Z',
    labels: { app: 'example', tier: 'backend' },
    annotations: { note: 'x'.repeat(200) },
  },
  spec: {
    size: '10Gi',
    replicas: 3,
    items: Array.from({ length: 20 }, (_, index) => ({ index, name: `item-${index}` })),
  },
};

/** About as large as reviews of ordinary objects are. */
const REVIEW = JSON.stringify({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
    kind: { group: 'kopf.dev', version: 'v1', kind: 'KopfExample' },
    resource: { group: 'kopf.dev', version: 'v1', resource: 'kopfexamples' },
    requestKind: { group: 'kopf.dev', version: 'v1', kind: 'KopfExample' },
    requestResource: { group: 'kopf.dev', version: 'v1', resource: 'kopfexamples' },
    name: 'example',
    namespace: 'default',
    operation: 'UPDATE',
    userInfo: { username: 'admin', uid: '014fbff9a07c', groups: ['system:authenticated', 'my-admin-group'] },
    object: OBJECT,
    oldObject: { ...OBJECT, spec: { ...OBJECT.spec, size: '5Gi' } },
    options: { apiVersion: 'meta.k8s.io/v1', kind: 'UpdateOptions' },
    dryRun: false,
  },
});

const WARM_UP = 50;

process.once('message', (task) => {
  void run(task as Task).then((figures) => process.send?.(figures, () => process.exit(0)));
});

async function run({ url, ca, requests, connections }: Task): Promise<LoadFigures> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections, ca });
  const times: number[] = [];
  const call = async (): Promise<void> => {
    const begun = performance.now();
    await post(`${url}/checkSize?timeout=10s`, agent);
    times.push(performance.now() - begun);
  };
  const caller = async (share: number): Promise<void> => {
    for (let count = 0; count < share; count++) await call();
  };
  const all = (share: number): Promise<unknown> =>
    Promise.all(Array.from({ length: connections }, () => caller(share)));
  // Connections and compilers need some time to get going; that is not what is measured.
  await all(WARM_UP);
  times.length = 0;
  const begun = performance.now();
  await all(Math.ceil(requests / connections));
  const seconds = (performance.now() - begun) / 1000;
  times.sort((a, b) => a - b);
  const at = (part: number): number => times[Math.floor(times.length * part)] ?? Number.NaN;
  return { all: times.length + WARM_UP * connections, perSecond: times.length / seconds, p50: at(0.5), p99: at(0.99) };
}

function post(url: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(REVIEW) };
    const outgoing = request(url, { method: 'POST', agent, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => {
        const isAllowed = answer.statusCode === 200 && text.includes('"allowed":true');
        if (isAllowed) resolve();
        else reject(new Error(`${answer.statusCode}: ${text}`));
      });
    });
    outgoing.on('error', reject);
    outgoing.end(REVIEW);
  });
}
