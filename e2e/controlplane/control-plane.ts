import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Binaries, findBinaries } from './binaries.js';
import { makeCertificates } from './certificates.js';
import {
  apiServerProgram,
  auditLogFile,
  auditPolicy,
  type ComponentOptions,
  certificateFile,
  controllerManagerProgram,
  type ExtraArgs,
  etcdProgram,
  etcdUrl,
  keyFile,
  type Layout,
} from './components.js';
import { kubeconfig } from './kubeconfig.js';
import { freePorts } from './ports.js';
import { type Component, type StopOptions, type Supervisor, supervise, tailOf } from './processes.js';

export interface ControlPlaneOptions {
  /** Garbage collection, namespaces, service accounts, deployments, replica and stateful sets. By default, nobody takes care of these. */
  readonly controllerManager?: boolean;
  /** Only some of them, by the names that kube-controller-manager has for them. */
  readonly controllers?: readonly string[];
  /** Records every request with its bodies: see `auditLog` of the result. */
  readonly auditLog?: boolean;
  readonly extraArgs?: ExtraArgs;
  /** By default, those that `findBinaries()` gives. */
  readonly binaries?: Binaries;
  /** How long each component may take until it is ready. */
  readonly readyWithinMs?: number;
}

/** How to reach a control plane: plain data, so that it can be handed over to other processes. */
export interface ControlPlaneAccess {
  readonly url: string;
  /** With two contexts, `token` (the current one) and `certificate`. Readable by its owner only. */
  readonly kubeconfig: string;
  /** Of an administrator. */
  readonly token: string;
  /** The authority's certificate in PEM, and the file with it. */
  readonly ca: string;
  readonly caFile: string;
  /** The administrator's client certificate. */
  readonly certFile: string;
  readonly keyFile: string;
  readonly etcdUrl: string;
  /** The folder with a log of each component. */
  readonly logs: string;
  /** JSON lines, if they were asked for. */
  readonly auditLog?: string;
  readonly kubectlPath: string;
  /** As the API server tells it, without the `v`. */
  readonly kubernetesVersion: string;
  readonly hasControllerManager: boolean;
}

export interface ControlPlane extends ControlPlaneAccess, AsyncDisposable {
  /** Runs kubectl as the administrator, and gives what it prints. */
  kubectl(args: readonly string[], options?: KubectlOptions): Promise<string>;
  /** The same data, address and credentials afterwards; connections are lost in between. */
  restartApiServer(how?: StopOptions): Promise<void>;
  /** Makes etcd forget all former versions of all objects, as it does by itself every few minutes. */
  compact(): Promise<void>;
  /** Throws if a component has died by itself. */
  check(): void;
  /** Ends all the processes and removes all the files. */
  stop(): Promise<void>;
}

interface KubectlOptions {
  /** For `-f -`. */
  readonly stdin?: string;
  /** Hears of what it prints as it comes, for those commands that go on. */
  readonly onOutput?: (text: string) => void;
}

/**
 * Starts etcd, kube-apiserver and, where asked, kube-controller-manager, on free ports of the loopback interface.
 *
 * They end when told, and in any case with this process.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const binaries = options.binaries ?? (await binariesOrError());
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(binaries, options);
    } catch (error) {
      // Somebody has taken a port between our look and their use.
      const portWasTaken = error instanceof Error && /address already in use/.test(error.message);
      if (!portWasTaken || attempt === 3) throw error;
    }
  }
}

async function binariesOrError(): Promise<Binaries> {
  const found = await findBinaries({ say: (text) => console.log(`control plane: ${text}`) });
  if (found.kind === 'unavailable') throw new Error(`There is no way to run a control plane: ${found.reason}.`);
  return found.binaries;
}

async function startOnce(binaries: Binaries, options: ControlPlaneOptions): Promise<ControlPlane> {
  const { readyWithinMs = 60_000 } = options;
  const wanted: ComponentOptions = {
    controllerManager: options.controllerManager ?? false,
    ...(options.controllers && { controllers: options.controllers }),
    auditLog: options.auditLog ?? false,
    extraArgs: options.extraArgs ?? {},
  };
  if (wanted.controllerManager && binaries.controllerManager === undefined) {
    throw new Error(`There is no kube-controller-manager: the binaries are from ${binaries.source}.`);
  }
  const folder = await mkdtemp(join(tmpdir(), 'kopf-ts-controlplane-'));
  const supervisor = supervise(folder);
  try {
    const layout = await layoutIn(folder);
    const access = await writeFiles(layout, binaries, wanted);
    const processes = new Map<string, Component>();
    const started = { access, supervisor, processes };

    processes.set('etcd', supervisor.start(etcdProgram(binaries, layout, wanted)));
    const startApiServer = async () => {
      const program = apiServerProgram(binaries, layout, wanted);
      processes.set('kube-apiserver', supervisor.start(program));
      await untilReady(started, program.logFile, `${access.url}/readyz`, readyWithinMs);
    };
    await startApiServer();
    if (wanted.controllerManager && binaries.controllerManager !== undefined) {
      const program = controllerManagerProgram(binaries.controllerManager, layout, wanted);
      processes.set('kube-controller-manager', supervisor.start(program));
      const health = `https://127.0.0.1:${layout.controllerManagerPort}/healthz`;
      await untilReady(started, program.logFile, health, readyWithinMs);
    }
    return running(started, startApiServer);
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
}

interface Started {
  readonly access: ControlPlaneAccess;
  readonly supervisor: Supervisor;
  readonly processes: Map<string, Component>;
}

function running({ access, supervisor, processes }: Started, startApiServer: () => Promise<void>): ControlPlane {
  const stop = () => supervisor.stop();
  return {
    ...access,
    kubectl: (args, options) => runKubectl(access, args, options),
    async restartApiServer(how) {
      await processes.get('kube-apiserver')?.stop(how);
      await startApiServer();
    },
    compact: () => compactEtcd(access.etcdUrl),
    check: () => throwFailureOf(processes),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function layoutIn(folder: string): Promise<Layout> {
  const logs = join(folder, 'logs');
  await mkdir(logs);
  await mkdir(join(folder, 'pki'));
  const [etcdPort = 0, etcdPeerPort = 0, apiServerPort = 0, controllerManagerPort = 0] = await freePorts(4);
  return { folder, logs, etcdPort, etcdPeerPort, apiServerPort, controllerManagerPort };
}

async function writeFiles(layout: Layout, binaries: Binaries, wanted: ComponentOptions): Promise<ControlPlaneAccess> {
  const { folder } = layout;
  const write = (path: string, text: string) => writeFile(path, text, { mode: 0o600 });
  const { serviceAccountKey, ...pairs } = await makeCertificates();
  for (const [name, { key, cert }] of Object.entries(pairs)) {
    await write(keyFile(layout, name), key);
    await write(certificateFile(layout, name), cert);
  }
  await write(keyFile(layout, 'service-accounts'), serviceAccountKey);

  const url = `https://127.0.0.1:${layout.apiServerPort}`;
  const caFile = certificateFile(layout, 'ca');
  const userOf = (name: string) => ({
    'client-certificate': certificateFile(layout, name),
    'client-key': keyFile(layout, name),
  });
  const token = randomBytes(24).toString('base64url');
  const configFile = join(folder, 'kubeconfig');
  await write(join(folder, 'tokens.csv'), `${token},admin,admin,system:masters\n`);
  await write(configFile, kubeconfig(url, caFile, { token: { token }, certificate: userOf('admin') }));
  const manager = { 'controller-manager': userOf('controllerManager') };
  await write(join(folder, 'controller-manager.kubeconfig'), kubeconfig(url, caFile, manager));
  await write(join(folder, 'audit-policy.json'), auditPolicy);
  return {
    url,
    kubeconfig: configFile,
    token,
    ca: pairs.ca.cert,
    caFile,
    certFile: certificateFile(layout, 'admin'),
    keyFile: keyFile(layout, 'admin'),
    etcdUrl: etcdUrl(layout),
    logs: layout.logs,
    kubectlPath: binaries.kubectl.path,
    kubernetesVersion: binaries.apiServer.version,
    hasControllerManager: wanted.controllerManager,
    ...(wanted.auditLog && { auditLog: auditLogFile(layout) }),
  };
}

async function untilReady(started: Started, logFile: string, url: string, withinMs: number): Promise<void> {
  const { access, processes } = started;
  const deadline = performance.now() + withinMs;
  let answer = 'nothing yet';
  while (performance.now() < deadline) {
    throwFailureOf(processes);
    answer = await answerOf(url, access).catch((error: Error) => error.message);
    if (answer === '200') return;
    await pause(50);
  }
  throw new Error(`${url} is not ready after ${withinMs / 1000} s (${answer}); the log ends with:\n${tailOf(logFile)}`);
}

function throwFailureOf(processes: ReadonlyMap<string, Component>): void {
  for (const component of processes.values()) {
    const failure = component.failure();
    if (failure !== undefined) throw failure;
  }
}

function answerOf(url: string, { ca, token }: ControlPlaneAccess): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const request = get(url, { ca, headers, agent: false, timeout: 5_000 }, (response) => {
      response.resume();
      resolve(String(response.statusCode));
    });
    request.on('timeout', () => request.destroy(new Error('no answer in 5 s')));
    request.on('error', reject);
  });
}

/** By the HTTP side of etcd's own protocol. */
async function compactEtcd(url: string): Promise<void> {
  const call = async (path: string, body: object): Promise<{ header?: { revision?: string } }> => {
    const response = await fetch(`${url}/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`etcd refuses ${path}: ${await response.text()}`);
    return (await response.json()) as { header?: { revision?: string } };
  };
  const anyKey = Buffer.from('/').toString('base64');
  const { header } = await call('range', { key: anyKey, keys_only: true });
  await call('compaction', { revision: header?.revision, physical: true });
}

/** Keeps its cache beside the kubeconfig, and never looks into the user's own configuration. */
export function runKubectl(
  access: ControlPlaneAccess,
  args: readonly string[],
  { stdin, onOutput }: KubectlOptions = {},
): Promise<string> {
  const cache = join(access.kubeconfig, '..', 'kubectl-cache');
  const allArgs = [`--kubeconfig=${access.kubeconfig}`, `--cache-dir=${cache}`, ...args];
  return new Promise((resolve, reject) => {
    const child = execFile(
      access.kubectlPath,
      allArgs,
      { maxBuffer: 2 ** 26, timeout: 60_000 },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(`kubectl ${args.join(' ')}: ${stderr.trim() || error.message}`, { cause: error }));
      },
    );
    if (onOutput !== undefined) child.stdout?.on('data', onOutput);
    child.stdin?.on('error', () => {});
    child.stdin?.end(stdin ?? '');
  });
}
