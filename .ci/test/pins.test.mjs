import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path) => JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'));
const root = read('package.json');
const packages = readdirSync(new URL('../../packages', import.meta.url)).map((name) =>
  read(`packages/${name}/package.json`),
);

it('pins the same pnpm for the first install and for the builds after it', () => {
  expect(root.packageManager).toBe(`pnpm@${root.devDependencies.pnpm}`);
});

it.each(packages.map((manifest) => [manifest.name, manifest]))(
  '%s is published under the terms of the house',
  (_, manifest) => {
    expect(manifest).toMatchObject({ license: 'MIT', type: 'module', sideEffects: false, engines: root.engines });
    expect(manifest.devDependencies).toBeUndefined();
  },
);

it('all packages share one version', () => {
  expect(new Set(packages.map(({ version }) => version)).size).toBe(1);
});
