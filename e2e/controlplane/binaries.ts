import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { builtBinary } from './building.js';
import { isAtLeast, lineOf, parseVersion, type Version } from './versions.js';

/** The programs that make a control plane, and the one that users talk to it with. */
const tools = {
  etcd: { versionArgs: ['--version'], wanted: '3.6', oldest: '3.5' },
  'kube-apiserver': { versionArgs: ['--version'], wanted: '1.36', oldest: '1.30' },
  kubectl: { versionArgs: ['version', '--client'], wanted: '1.36', oldest: '1.30' },
  'kube-controller-manager': { versionArgs: ['--version'], wanted: '1.36', oldest: '1.30' },
} as const;

type Tool = keyof typeof tools;

export interface Binary {
  readonly path: string;
  readonly version: string;
}

export interface Binaries {
  readonly etcd: Binary;
  readonly apiServer: Binary;
  readonly kubectl: Binary;
  /** Absent only where KUBEBUILDER_ASSETS has none (setup-envtest brings none), and nothing else gives one. */
  readonly controllerManager?: Binary;
  /** Where they come from, in words. */
  readonly source: string;
}

export type BinariesFound = { readonly kind: 'found'; readonly binaries: Binaries } | Unavailable;

interface Unavailable {
  readonly kind: 'unavailable';
  readonly reason: string;
}

export interface FindOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Told what is going on: a build takes minutes. */
  readonly say?: (text: string) => void;
  /** Makes a binary that is nowhere to be found; by default, by `go`. */
  readonly build?: typeof builtBinary;
}

type Probed = Binary & { readonly parsed: Version };
type Candidates = Partial<Record<Tool, Probed>>;
/** Whatever else is missing, a control plane can be run and talked to. */
type Enough = Candidates & Record<'etcd' | 'kube-apiserver' | 'kubectl', Probed>;

/**
 * Finds the binaries, or builds them, or tells why there are none.
 *
 * What is asked for by name (KUBEBUILDER_ASSETS) and cannot be used is an error, and so is a failed build:
 * being skipped is for machines that have no way to run this at all.
 */
export async function findBinaries(options: FindOptions = {}): Promise<BinariesFound> {
  const { env = process.env, say = () => {}, build = builtBinary } = options;
  const go = onPath('go', env);
  const builder = go === undefined ? undefined : (tool: Tool) => build(tool, { go, env, say });

  const assets = env['KUBEBUILDER_ASSETS'];
  if (assets) return found(await fromAssets(assets, env, builder), `KUBEBUILDER_ASSETS (${assets})`);

  const installed = await fromPath(env);
  if (all(installed, isWanted)) return found(installed, 'the PATH');

  if (builder !== undefined) return found(await fromSources(builder), 'sources, built by go and cached');

  // Better an older cluster than none; the versions are told, and the tests that need the newest will say so.
  if (all(installed, isRecentEnough)) return found(installed, 'the PATH');

  return { kind: 'unavailable', reason: `${whatIsWrongWith(installed)}, and there is no 'go' to build them with` };
}

/** One line about what will be used. */
export function describeBinaries({ source, ...binaries }: Binaries): string {
  const { apiServer, etcd, kubectl, controllerManager } = binaries;
  const manager = controllerManager?.version ?? 'none';
  return `kube-apiserver ${apiServer.version}, etcd ${etcd.version}, kubectl ${kubectl.version}, kube-controller-manager ${manager}, from ${source}`;
}

async function fromAssets(
  folder: string,
  env: NodeJS.ProcessEnv,
  builder: ((tool: Tool) => Promise<string>) | undefined,
): Promise<Enough> {
  const take = async (tool: Tool): Promise<Probed> => {
    const path = executable(join(folder, tool));
    if (path === undefined) throw new Error(`KUBEBUILDER_ASSETS is ${folder}, and there is no ${tool} in it.`);
    const probed = await probe(tool, path);
    if (isRecentEnough(tool, probed)) return probed;
    throw new Error(`${path} is ${probed.version}; ${tools[tool].oldest} or newer is needed.`);
  };
  const manager = 'kube-controller-manager';
  const own = {
    etcd: await take('etcd'),
    'kube-apiserver': await take('kube-apiserver'),
    kubectl: await take('kubectl'),
  };
  const path = executable(join(folder, manager)) ?? onPath(manager, env) ?? (await builder?.(manager));
  return path === undefined ? own : { ...own, [manager]: await probe(manager, path) };
}

async function fromPath(env: NodeJS.ProcessEnv): Promise<Candidates> {
  const candidates: Candidates = {};
  for (const tool of Object.keys(tools) as Tool[]) {
    const path = onPath(tool, env);
    // Something of that name that cannot even tell its version is not what we are looking for.
    const probed = path === undefined ? undefined : await probe(tool, path).catch(() => undefined);
    if (probed !== undefined) candidates[tool] = probed;
  }
  return candidates;
}

async function fromSources(builder: (tool: Tool) => Promise<string>): Promise<Enough> {
  const make = async (tool: Tool) => probe(tool, await builder(tool));
  return {
    etcd: await make('etcd'),
    'kube-apiserver': await make('kube-apiserver'),
    kubectl: await make('kubectl'),
    'kube-controller-manager': await make('kube-controller-manager'),
  };
}

async function probe(tool: Tool, path: string): Promise<Probed> {
  const { stdout } = await promisify(execFile)(path, [...tools[tool].versionArgs], { timeout: 30_000 });
  const parsed = parseVersion(stdout);
  if (parsed === undefined) throw new Error(`${path} does not tell its version, but: ${stdout.slice(0, 200)}`);
  return { path, version: parsed.text, parsed };
}

function isWanted(tool: Tool, { parsed }: Probed): boolean {
  return lineOf(parsed) === tools[tool].wanted;
}

function isRecentEnough(tool: Tool, { parsed }: Probed): boolean {
  return isAtLeast(parsed, tools[tool].oldest);
}

function all(candidates: Candidates, fits: (tool: Tool, binary: Probed) => boolean): candidates is Enough {
  return (Object.keys(tools) as Tool[]).every((tool) => {
    const candidate = candidates[tool];
    return candidate !== undefined && fits(tool, candidate);
  });
}

function whatIsWrongWith(candidates: Candidates): string {
  const problems = (Object.keys(tools) as Tool[]).flatMap((tool) => {
    const candidate = candidates[tool];
    if (candidate === undefined) return [`no ${tool} on the PATH`];
    if (!isRecentEnough(tool, candidate)) return [`${tool} ${candidate.version} is older than ${tools[tool].oldest}`];
    return [];
  });
  return problems.join(', ');
}

function found(binaries: Enough, source: string): BinariesFound {
  const { etcd, 'kube-apiserver': apiServer, kubectl, 'kube-controller-manager': controllerManager } = binaries;
  return {
    kind: 'found',
    binaries: { etcd, apiServer, kubectl, source, ...(controllerManager && { controllerManager }) },
  };
}

export function onPath(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  for (const folder of folders) {
    const path = executable(join(folder, name));
    if (path !== undefined) return path;
  }
  return undefined;
}

function executable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile() ? path : undefined;
  } catch {
    return undefined;
  }
}
