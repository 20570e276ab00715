/** Projects of users with kopf-ts installed in them, as it is built; and its commands run there. */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type LocalCluster, localCluster } from '@kopf-ts/apiserver';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { withLock } from '../controlplane/lock.js';
import { observe, type RunningProgram } from '../support/operators/programs.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

const BUILD = `import { build } from './scripts/tools.mjs';
  const { code, output } = await build({ quiet: true });
  if (code !== 0) console.error(output);
  process.exit(code);`;

/** `node_modules` with everything in it. */
let installation = '';

/**
 * Before the tests of the file, builds what has changed, and puts it aside as npm would install it: whatever is built
 * meanwhile, the tests have the same packages until their end.
 */
export function built(): void {
  beforeAll(async () => {
    await withLock(join(tmpdir(), 'kopf-ts-building.lock'), async () => {
      await promisify(execFile)(process.execPath, ['--input-type=module', '-e', BUILD], { cwd: root });
      installation = await install();
    });
  }, 600_000);
  afterAll(() => rm(dirname(installation), { recursive: true, force: true }));
}

async function install(): Promise<string> {
  const folder = join(await realpath(await mkdtemp(join(tmpdir(), 'kopf-ts-installed-'))), 'node_modules');
  await chmod(dirname(folder), 0o755);
  for (const name of await readdir(join(root, 'packages'))) {
    const source = join(root, 'packages', name);
    const manifest = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as Manifest;
    for (const part of ['package.json', 'dist']) {
      await cp(join(source, part), join(folder, manifest.name, part), { recursive: true });
    }
    for (const dependency of Object.keys(manifest.dependencies ?? {})) {
      const link = join(folder, dependency);
      if (dependency.startsWith('@kopf-ts/') || existsSync(link)) continue;
      await mkdir(dirname(link), { recursive: true });
      await symlink(await realpath(join(source, 'node_modules', dependency)), link);
    }
  }
  return folder;
}

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export interface Project {
  readonly folder: string;
  write(name: string, content: string): Promise<void>;
  read(name: string): Promise<string>;
  /** Runs the command in the folder. It ends with the test. */
  kopf(args: readonly string[], options?: KopfOptions): RunningProgram & { readonly pid: number };
}

interface KopfOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** As somebody who cannot write there. Only for those who can become somebody else. */
  readonly uid?: number;
}

/** A new folder with the files in it, of that name if there is one; `installed: false` for one with no packages. */
export async function project(
  files: Readonly<Record<string, string>>,
  { installed = true, name = '' }: { readonly installed?: boolean; readonly name?: string } = {},
): Promise<Project> {
  const parent = await realpath(await mkdtemp(join(tmpdir(), 'kopf-ts-project-')));
  const folder = join(parent, name);
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const write = async (file: string, content: string): Promise<void> => {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), content);
  };
  for (const [file, content] of Object.entries(files)) await write(file, content);
  if (installed) await symlink(installation, join(folder, 'node_modules'));
  return {
    folder,
    write,
    read: (file) => readFile(join(folder, file), 'utf8'),
    kopf(args, { env = {}, uid } = {}) {
      const program = join(installation, 'kopf-ts/dist/bin.js');
      const child = spawn(process.execPath, [program, ...args], {
        cwd: folder,
        env: { ...cleanEnvironment(), XDG_CACHE_HOME: join(parent, '.cache'), ...env },
        stdio: 'pipe',
        ...(uid === undefined ? {} : { uid }),
      });
      return Object.assign(observe(child), { pid: child.pid ?? 0 });
    },
  };
}

/** Neither the cluster nor the settings of whoever runs the tests. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(KOPF_|KUBE|NODE_OPTIONS|NODE_PATH|VITEST|FORCE_COLOR)/.test(name),
  );
  return Object.fromEntries(kept);
}

export const CRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Foo, plural: foos, singular: foo}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`;

export const foo = (name: string, field: string): string =>
  `apiVersion: example.com/v1\nkind: Foo\nmetadata: {name: ${name}, namespace: default}\nspec: {field: ${field}}\n`;

/** A cluster of the test's own, and how commands get to it. */
export async function clusterWithFoos(): Promise<{ cluster: LocalCluster; env: Readonly<Record<string, string>> }> {
  const cluster = await localCluster({ tls: true });
  onTestFinished(() => cluster.stop());
  await cluster.apply(CRD);
  return { cluster, env: { KUBECONFIG: await cluster.kubeconfigFile() } };
}
