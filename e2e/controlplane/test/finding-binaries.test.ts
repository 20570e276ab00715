import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findBinaries } from '../binaries.js';

const current = { etcd: '3.6.16', 'kube-apiserver': '1.36.4', kubectl: '1.36.4', 'kube-controller-manager': '1.36.4' };
const older = { etcd: '3.5.9', 'kube-apiserver': '1.31.0', kubectl: '1.31.0', 'kube-controller-manager': '1.31.0' };
const ancient = { ...older, 'kube-apiserver': '1.29.9' };

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'kopf-ts-binaries-'));
});

afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

/** A folder of programs that can do nothing but tell their versions. */
async function folderWith(name: string, versions: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(home, name);
  await mkdir(folder);
  for (const [tool, version] of Object.entries(versions)) {
    const prefix = tool === 'etcd' ? 'etcd Version: ' : tool === 'kubectl' ? 'Client Version: v' : 'Kubernetes v';
    await writeFile(join(folder, tool), `#!/bin/sh\necho '${prefix}${version}'\n`);
    await chmod(join(folder, tool), 0o755);
  }
  return folder;
}

/** Stands for a compiler: what it is asked for appears in a folder of its own. */
function builds() {
  const built: string[] = [];
  const build = async (tool: string) => {
    built.push(tool);
    const version = current[tool as keyof typeof current];
    return join(await folderWith(`built-${tool}`, { [tool]: version }), tool);
  };
  return { built, build };
}

describe.skipIf(process.platform === 'win32')('finding the binaries', () => {
  it('takes those on the PATH if they are of the wanted versions, and builds nothing', async () => {
    const PATH = await folderWith('bin', { ...current, go: 'any' });
    const { built, build } = builds();
    const found = await findBinaries({ env: { PATH }, build });
    expect(found).toMatchObject({
      kind: 'found',
      binaries: { source: 'the PATH', apiServer: { path: join(PATH, 'kube-apiserver'), version: '1.36.4' } },
    });
    expect(built).toEqual([]);
  });

  it.each([
    ['nothing', {}],
    ['some of them', { kubectl: '1.36.4' }],
    ['other versions', older],
  ])('builds all of them with go if the PATH has %s', async (_, installed) => {
    const PATH = await folderWith('bin', { ...installed, go: 'any' });
    const { built, build } = builds();
    const found = await findBinaries({ env: { PATH }, build });
    expect(found).toMatchObject({
      kind: 'found',
      binaries: { source: expect.stringContaining('go'), apiServer: { version: '1.36.4' } },
    });
    expect(built.sort()).toEqual(Object.keys(current).sort());
  });

  it('fails if the build fails: where there is go, nothing is skipped', async () => {
    const PATH = await folderWith('bin', { go: 'any' });
    const build = () => Promise.reject(new Error('no space left'));
    await expect(findBinaries({ env: { PATH }, build })).rejects.toThrow('no space left');
  });

  it('takes older ones from the PATH if there is no go', async () => {
    const PATH = await folderWith('bin', older);
    expect(await findBinaries({ env: { PATH } })).toMatchObject({
      kind: 'found',
      binaries: { apiServer: { version: '1.31.0' }, etcd: { version: '3.5.9' } },
    });
  });

  it.each([
    ['nothing is there', {}, "no etcd on the PATH, .*and there is no 'go' to build them with"],
    ['one is missing', { ...current, kubectl: undefined }, '^no kubectl on the PATH, and there'],
    ['one is too old', ancient, 'kube-apiserver 1.29.9 is older than 1.30'],
    ['one does not tell its version', { ...current, etcd: 'dev' }, 'no etcd on the PATH'],
  ])('tells the reason if %s and there is no go', async (_, installed, reason) => {
    const present = Object.entries(installed).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const PATH = await folderWith('bin', Object.fromEntries(present));
    expect(await findBinaries({ env: { PATH } })).toEqual({
      kind: 'unavailable',
      reason: expect.stringMatching(new RegExp(reason)),
    });
  });

  it('prefers KUBEBUILDER_ASSETS to everything, whatever the PATH has', async () => {
    const assets = await folderWith('assets', older);
    const PATH = await folderWith('bin', { ...current, go: 'any' });
    const { built, build } = builds();
    expect(await findBinaries({ env: { PATH, KUBEBUILDER_ASSETS: assets }, build })).toMatchObject({
      binaries: { apiServer: { path: join(assets, 'kube-apiserver') }, controllerManager: { version: '1.31.0' } },
    });
    expect(built).toEqual([]);
  });

  it('takes the controller manager from elsewhere if KUBEBUILDER_ASSETS has none', async () => {
    const { 'kube-controller-manager': _, ...three } = current;
    const KUBEBUILDER_ASSETS = await folderWith('assets', three);
    const PATH = await folderWith('bin', { go: 'any' });
    const { built, build } = builds();
    const found = await findBinaries({ env: { PATH, KUBEBUILDER_ASSETS }, build });
    expect(built).toEqual(['kube-controller-manager']);
    expect(found).toMatchObject({ binaries: { controllerManager: { version: '1.36.4' } } });
  });

  it('does without a controller manager if there is none at all', async () => {
    const { 'kube-controller-manager': _, ...three } = current;
    const KUBEBUILDER_ASSETS = await folderWith('assets', three);
    const found = await findBinaries({ env: { PATH: '', KUBEBUILDER_ASSETS } });
    expect(found).toMatchObject({ kind: 'found', binaries: { etcd: { version: '3.6.16' } } });
    expect(found).not.toHaveProperty('binaries.controllerManager');
  });

  it.each([
    ['incomplete', { etcd: '3.6.16' }, 'there is no kube-apiserver in it'],
    ['too old', ancient, '1.29.9; 1.30 or newer is needed'],
  ])('fails if KUBEBUILDER_ASSETS is %s: it was asked for by name', async (_, versions, message) => {
    const KUBEBUILDER_ASSETS = await folderWith('assets', versions);
    await expect(findBinaries({ env: { PATH: '', KUBEBUILDER_ASSETS } })).rejects.toThrow(message);
  });
});
