import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalCluster, localCluster } from '../../src/index.js';
import { valuesAt } from '../../src/tables/json-path.js';

let cluster: LocalCluster;
beforeEach(async () => {
  cluster = await localCluster({ controllers: false });
});
afterEach(async () => {
  await cluster.stop();
});

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}
const table = async (path: string): Promise<Table> => {
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const response = await fetch(`${cluster.url}${path}`, {
    headers: { authorization: `Bearer ${cluster.token}`, accept },
  });
  return (await response.json()) as Table;
};

describe('every kind that can be listed', () => {
  it('has as many cells as columns, and begins with its name', async () => {
    const { groups } = await cluster.client.request<{ groups: { versions: { groupVersion: string }[] }[] }>({
      method: 'GET',
      path: '/apis',
    });
    const versions = groups.flatMap((group) => group.versions.map(({ groupVersion }) => `/apis/${groupVersion}`));
    for (const root of ['/api/v1', ...versions]) {
      const { resources } = await cluster.client.request<{ resources: { name: string; verbs: string[] }[] }>({
        method: 'GET',
        path: root,
      });
      for (const { name } of resources.filter(({ verbs }) => verbs.includes('list'))) {
        const { columnDefinitions, rows } = await table(`${root}/${name}`);
        expect([name, columnDefinitions.some((column) => column.name === 'Name')]).toEqual([name, true]);
        for (const { cells } of rows ?? []) expect([name, cells.length]).toEqual([name, columnDefinitions.length]);
      }
    }
  });
});

it('pods tell their states', async () => {
  const containers = [{ name: 'one', image: 'x' }];
  await cluster.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', namespace: 'default' },
    spec: { containers },
  });
  const { columnDefinitions, rows } = await table('/api/v1/namespaces/default/pods');
  const narrow = columnDefinitions.filter(({ priority }) => priority === 0).map(({ name }) => name);
  expect(narrow).toEqual(['Name', 'Ready', 'Status', 'Restarts', 'Age']);
  expect(rows[0]?.cells).toEqual(['a', '0/1', 'Pending', '0', '0s', '<none>', '<none>', '<none>', '<none>']);
});

describe('a path of a column', () => {
  const object = {
    a: {
      'b.c': 1,
      list: [
        { n: 'x', s: 1 },
        { n: 'y', s: 2 },
      ],
      deep: { n: 'z' },
    },
  };

  it.each([
    ['.a.list[*].n', ['x', 'y']],
    ['.a.list[1].n', ['y']],
    ['.a.list[-1:].n', ['y']],
    ['.a.list[-1].n', ['y']],
    ['.a.list[0:1].n', ['x']],
    ['.a.list[?(@.n=="y")].s', [2]],
    ['.a.list[?(@.s > 1)].n', ['y']],
    ['.a.list[?(@.none)].n', []],
    ['.a.b\\.c', [1]],
    [".a['b.c']", [1]],
    ['..n', ['z', 'x', 'y']],
    ['{.a.deep.n}', ['z']],
    ['.a.none.n', []],
    ['.a.list.n', []],
    ['', [object]],
  ])('leads to what is there: %s', (path, expected) => {
    expect(valuesAt(object, path)).toEqual(expected);
  });

  it('is read in a moment, whatever it is', () => {
    const started = performance.now();
    for (const part of ['[', '[?(@', '.', "['", '\\', '[?(@.a==', '(']) valuesAt(object, part.repeat(20_000));
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
