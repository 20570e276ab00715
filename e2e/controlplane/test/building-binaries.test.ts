import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { builtBinary } from '../building.js';

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'kopf-ts-building-'));
});

afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

/** A compiler that writes down how it was called, and makes a file of the wanted name. */
async function compiler({ version = 'go1.26.8', fails = false } = {}) {
  const go = join(home, 'go');
  const lines = [
    '#!/bin/sh',
    `if [ "$1" = version ]; then echo "go version ${version} linux/amd64"; exit; fi`,
    `echo "$CGO_ENABLED $GOWORK $GOTOOLCHAIN [$GOFLAGS] $(basename "$PWD") $*" >> '${home}/calls'`,
    'while [ "$1" != -o ]; do shift; done',
    'echo half > "$2"',
    fails ? 'echo "no space left" >&2; exit 1' : 'echo whole > "$2"',
  ];
  await writeFile(go, `${lines.join('\n')}\n`);
  await chmod(go, 0o755);
  const said: string[] = [];
  const env = { ...process.env, XDG_CACHE_HOME: join(home, 'cache'), GOFLAGS: '-mod=vendor', GOWORK: '/elsewhere' };
  const options = { go, env, say: (text: string) => said.push(text) };
  const calls = async () => (await readFile(join(home, 'calls'), 'utf8').catch(() => '')).split('\n').filter(Boolean);
  return { options, said, calls };
}

describe.skipIf(process.platform === 'win32')('building a binary', () => {
  it('puts it into the cache of the user, and says so', async () => {
    const { options, said } = await compiler();
    const binary = await builtBinary('etcd', options);
    expect(await readFile(binary, 'utf8')).toBe('whole\n');
    expect(binary.startsWith(join(home, 'cache', 'kopf-ts', 'controlplane', 'etcd-'))).toBe(true);
    expect(said.at(-1)).toMatch(/^built etcd in \d+ s/);
  });

  it('is by the committed modules, whatever the user has set for other projects', async () => {
    const { options, calls } = await compiler();
    await builtBinary('kube-apiserver', options);
    const [call = ''] = await calls();
    expect(call).toMatch(/^0 off local \[\] kubernetes build -mod=readonly /);
    expect(call).toContain('-X k8s.io/component-base/version.gitVersion=v1.36.');
    expect(call).toMatch(/ k8s\.io\/kubernetes\/cmd\/kube-apiserver$/);
  });

  it('happens once, even if many ask for it at once', async () => {
    const { options, calls } = await compiler();
    const binaries = await Promise.all(Array.from({ length: 4 }, () => builtBinary('etcd', options)));
    expect(new Set(binaries).size).toBe(1);
    expect(await builtBinary('etcd', options)).toBe(binaries[0]);
    expect(await calls()).toHaveLength(1);
  });

  it('happens again for another version of the compiler', async () => {
    const before = await builtBinary('etcd', (await compiler()).options);
    const after = await builtBinary('etcd', (await compiler({ version: 'go1.27.0' })).options);
    expect(basename(dirname(after))).not.toBe(basename(dirname(before)));
  });

  it('leaves nothing half-made when it fails, and tells why', async () => {
    const { options } = await compiler({ fails: true });
    await expect(builtBinary('etcd', options)).rejects.toThrow(/has ended with 1:\nno space left/);
    const cache = join(home, 'cache', 'kopf-ts', 'controlplane');
    const left = await Promise.all((await readdir(cache)).map((name) => readdir(join(cache, name))));
    expect(left.flat()).toEqual([]);
    expect(await readFile(await builtBinary('etcd', (await compiler()).options), 'utf8')).toBe('whole\n');
  });
});
