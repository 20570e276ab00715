import { basename, join } from 'node:path';
import type { AnyObject } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { applyManifests, expandManifests, findManifests, readManifests } from '../../src/dev/manifests.js';
import type { DevCluster } from '../../src/runtime.js';
import { folderWith } from '../handlers-folder.js';

const object = (kind: string, name: string, apiVersion = 'v1'): string =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: ${name}}\n`;

function clusterThat(apply: (object: AnyObject) => void): DevCluster {
  return {
    url: 'https://127.0.0.1:1',
    kubeconfig: () => '',
    kubeconfigFile: async () => '/nowhere',
    get: () => undefined,
    apply: async (objects) => objects.forEach(apply),
    stop: async () => {},
  };
}

describe('manifests beside the handlers', () => {
  it('are those with telling names', async () => {
    const telling = ['crd.yaml', 'crds.yml', 'my.crd.yaml', 'my-crd.json', 'obj.yaml', 'objects.yaml', 'peering.yaml'];
    const others = ['package.json', 'deployment.yaml', 'handlers.ts', 'tsconfig.json', 'objection.yaml'];
    const folder = await folderWith(Object.fromEntries([...telling, ...others].map((name) => [name, ''])));
    expect((await findManifests(folder)).map((file) => basename(file))).toEqual(telling.toSorted());
  });

  it('are also those of roles, where these are enforced', async () => {
    const folder = await folderWith({ 'crd.yaml': '', 'rbac.yaml': '', 'my.rbac.yml': '', 'barbac.yaml': '' });
    const found = async (withRoles: boolean) => (await findManifests(folder, withRoles)).map((file) => basename(file));
    expect(await found(true)).toEqual(['crd.yaml', 'my.rbac.yml', 'rbac.yaml']);
    expect(await found(false)).toEqual(['crd.yaml']);
  });

  it('are looked for in the folder above, if there are none', async () => {
    const folder = await folderWith({ 'crd.yaml': '', '01/handlers.ts': '', '02/obj.yaml': '' });
    expect(await findManifests(join(folder, '01'))).toEqual([join(folder, 'crd.yaml')]);
    expect(await findManifests(join(folder, '02'))).toEqual([join(folder, '02/obj.yaml')]);
  });
});

describe('manifests that are given', () => {
  it('are files, and all files in folders', async () => {
    const folder = await folderWith({ 'z.txt': '', 'dir/b.yaml': '', 'dir/deep/a.json': '', 'dir/readme.md': '' });
    const paths = [join(folder, 'z.txt'), join(folder, 'dir')];
    expect(await expandManifests(paths, folder)).toEqual(
      ['z.txt', 'dir/b.yaml', 'dir/deep/a.json'].map((name) => join(folder, name)),
    );
  });

  it('must exist', async () => {
    const folder = await folderWith({ 'empty/readme.md': '' });
    await expect(expandManifests([join(folder, 'nope.yaml')], folder)).rejects.toThrow(
      'There is nothing to apply at "nope.yaml".',
    );
    await expect(expandManifests([join(folder, 'empty')], folder)).rejects.toThrow(
      'There are no .yaml or .json files in "empty".',
    );
  });
});

describe('objects of manifests', () => {
  it('come in the order in which they can be created', async () => {
    const folder = await folderWith({
      'a.yaml': `${object('Foo', 'one', 'ex.com/v1')}---\n${object('Namespace', 'ns')}---\n# nothing\n`,
      'b.yaml': `apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: two}}\n`,
      'c.json':
        '{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "foos"}}',
    });
    const manifests = await readManifests(
      ['a.yaml', 'b.yaml', 'c.json'].map((name) => join(folder, name)),
      folder,
    );
    expect(manifests.map(({ object }) => `${object.kind} ${object.metadata?.name}`)).toEqual([
      'CustomResourceDefinition foos',
      'Namespace ns',
      'Foo one',
      'Secret two',
    ]);
  });

  it.each([
    ['metadata: {name: x}\n', 'a.yaml: an object has no apiVersion or no kind, so it is not a Kubernetes object.'],
    ['apiVersion: v1\nkind: [\n', /^a\.yaml:\d+: /],
  ])('are refused if they make no sense: %j', async (text, message) => {
    const folder = await folderWith({ 'a.yaml': text });
    await expect(readManifests([join(folder, 'a.yaml')], folder)).rejects.toThrow(message);
  });

  it('are applied one by one, until one is refused', async () => {
    const folder = await folderWith({
      'a.yaml': [object('Foo', 'one'), object('Foo', 'two'), object('Foo', 'three')].join('---\n'),
    });
    const manifests = await readManifests([join(folder, 'a.yaml')], folder);
    const applied: string[] = [];
    const cluster = clusterThat(({ metadata }) => {
      if (metadata?.name === 'two') throw new Error('There is no such kind.');
      applied.push(metadata?.name ?? '');
    });
    await expect(applyManifests(cluster, manifests, folder)).rejects.toThrow(
      'a.yaml: Foo two cannot be applied: There is no such kind.',
    );
    expect(applied).toEqual(['one']);
  });
});
