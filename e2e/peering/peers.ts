/** Operators that are peers of each other: ours, and those of Kopf itself; and where they meet. */
import { fileURLToPath } from 'node:url';
import type { HttpKubeClient } from '@kopf-ts/client';
import { createObject, makeResource } from '@kopf-ts/core/engine';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { runKubectl } from '../controlplane/index.js';
import { clientOf } from '../support/client.js';
import { newNamespace } from '../support/objects.js';
import { type Counter, newCounter } from '../support/operators/counter.js';
import { newTestKind, type TestKind } from '../support/operators/kinds.js';
import { eventually } from '../support/operators/operators.js';
import { observe, program, type RunningProgram } from '../support/operators/programs.js';
import type { ReplicaOptions } from '../support/operators/replica.js';
import { type PythonKopf, pythonKopf } from '../support/python-kopf.js';
import { realCluster } from '../support/real-cluster.js';

const peerings = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'kopfpeerings', kind: 'KopfPeering' });
const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export type Framework = 'kopf-ts' | 'Kopf';

/** Of all peers here. Keep-alives come every second then. */
export const LIFETIME = 6;

export interface Meeting {
  readonly client: HttpKubeClient;
  readonly things: TestKind;
  readonly namespace: string;
  /** Of the peering object in that namespace. */
  readonly peering: string;
  readonly counter: Counter;
  /** `undefined` if Kopf can be used here; else, why not. */
  readonly whyNoKopf: string | undefined;
  /** A process with an operator, whose handlers of creation take so many seconds; it ends with the test. */
  start(framework: Framework, identity: string, priority: number, takes?: number): RunningProgram;
}

/** A kind for the whole file; a namespace with a peering and a counter for each test. */
export function meeting(): Meeting {
  const startReplica = program(new URL('../support/operators/replica.ts', import.meta.url));
  let client: HttpKubeClient;
  let things: TestKind;
  let kopf: PythonKopf = { kind: 'unavailable', reason: 'not looked for yet' };
  let namespace = '';
  let counter: Counter;
  const peering = 'main';

  beforeAll(async () => {
    client = clientOf(realCluster());
    // The objects are refused until their kinds are served; and another file of tests may be doing the same.
    const applying = ['apply', '--server-side', '--force-conflicts', '-f', file('../../examples/peering.yaml')];
    await eventually(() => runKubectl(realCluster(), applying), 30);
    things = await newTestKind(client);
    kopf = await pythonKopf();
  });
  afterAll(() => client?.close());
  beforeEach(async () => {
    namespace = await newNamespace(client);
    const body = { apiVersion: 'kopf.dev/v1', kind: 'KopfPeering' };
    await createObject(client, peerings, { namespace, name: peering, body });
    counter = await newCounter();
  });

  const startOurs = (identity: string, priority: number, takes: number): RunningProgram => {
    const { url: server, ca, token } = realCluster();
    const options: ReplicaOptions = {
      connection: { server, ca, token },
      selector: things.selector,
      namespace,
      identity,
      counter: counter.url,
      peers: { name: peering, priority, lifetime: LIFETIME },
      takes,
    };
    return startReplica(options);
  };
  const startKopf = (identity: string, priority: number, takes: number): RunningProgram => {
    if (kopf.kind === 'unavailable') throw new Error(kopf.reason);
    const args = ['run', file('../support/kopf_peer.py'), `--namespace=${namespace}`, `--peering=${peering}`];
    const env = {
      KUBECONFIG: realCluster().kubeconfig,
      POD_ID: identity,
      PEER_GROUP: things.group,
      PEER_PLURAL: things.plural,
      PEER_LIFETIME: String(LIFETIME),
      PEER_COUNTER: counter.url,
      PEER_TAKES: String(takes),
    };
    return observe(kopf.start([...args, `--priority=${priority}`], env));
  };

  return {
    peering,
    get client() {
      return client;
    },
    get things() {
      return things;
    },
    get namespace() {
      return namespace;
    },
    get counter() {
      return counter;
    },
    get whyNoKopf() {
      return kopf.kind === 'unavailable' ? kopf.reason : undefined;
    },
    start: (framework, identity, priority, takes = 0) =>
      (framework === 'kopf-ts' ? startOurs : startKopf)(identity, priority, takes),
  };
}
