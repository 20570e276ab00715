/**
 * The schemas of the built-in kinds are those of the real API server, and so are the types of `@kopf-ts/kinds`. After an
 * upgrade of Kubernetes, they are written anew by `npm run schemas`: it runs this very file, which then asks the Go types
 * for their side of the facts, too.
 */
import { readdir, readFile } from 'node:fs/promises';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { localCluster } from '@kopf-ts/apiserver';
import { beforeAll, expect, it } from 'vitest';
import { describeOnRealCluster, realCluster } from '../support/real-cluster.js';
import {
  builtInResources,
  type OpenApiDocument,
  openApiDocuments,
  schemasOf,
  tableColumns,
  wireFactLines,
} from './openapi-documents.js';
import {
  columnsByType,
  descriptionsOf,
  type Schemas,
  type Table,
  tableOfTypes,
  wireFactsIn,
  wireFactsOf,
} from './table-of-types.js';
import { type BuiltInResource, sourcesOfKinds } from './types-of-kinds.js';

const fileOf = (name: string, folder = 'schemas') =>
  fileURLToPath(new URL(`../../packages/apiserver/src/${folder}/${name}`, import.meta.url));
const storedTypes = async () => JSON.parse(await readFile(fileOf('types.json'), 'utf8')) as Table;
const jsonOf = (data: object) => `${JSON.stringify(data, null, 2)}\n`;
const isWriting = process.env['KOPF_TS_SCHEMAS'] === 'write';

describeOnRealCluster('the schemas of the built-in kinds', () => {
  let documents: ReadonlyMap<string, OpenApiDocument>;
  let schemas: Schemas;
  let resources: readonly BuiltInResource[];
  beforeAll(async () => {
    documents = await openApiDocuments(realCluster());
    schemas = schemasOf(documents);
    resources = await builtInResources(realCluster());
  });

  it('are those of the real server', async () => {
    const facts = isWriting ? wireFactsIn(await wireFactLines()) : wireFactsOf(await storedTypes());
    await expect(jsonOf(tableOfTypes(schemas, facts))).toMatchFileSnapshot(fileOf('types.json'));
  });

  it('have the descriptions of the real server', async () => {
    await expect(jsonOf(descriptionsOf(schemas))).toMatchFileSnapshot(fileOf('descriptions.json'));
  });

  it('have the columns of the real server in tables', async () => {
    const columns = columnsByType(await tableColumns(realCluster(), resources), await storedTypes());
    await expect(jsonOf(columns)).toMatchFileSnapshot(fileOf('columns.json', 'tables'));
  });

  it('are those that @kopf-ts/kinds has tokens and types of', async () => {
    const sources = sourcesOfKinds(schemas, resources);
    const folder = fileURLToPath(new URL('../../packages/kinds/src/', import.meta.url));
    for (const [file, text] of Object.entries(sources)) await expect(text).toMatchFileSnapshot(`${folder}${file}`);
    const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.ts'));
    expect(files.map((file) => file.replaceAll(sep, '/')).sort()).toEqual(Object.keys(sources).sort());
  });

  it('are told to the clients of the embedded server as the real one tells them', async () => {
    await using cluster = await localCluster();
    const read = async (path: string): Promise<unknown> => {
      const response = await fetch(`${cluster.url}${path}`, { headers: { authorization: `Bearer ${cluster.token}` } });
      return await response.json();
    };
    const { paths } = (await read('/openapi/v3')) as { paths: object };
    expect(Object.keys(paths)).toContain('apis/apps/v1');
    for (const name of Object.keys(paths)) {
      const { components } = (await read(`/openapi/v3/${name}`)) as OpenApiDocument;
      const real = documents.get(name)?.components.schemas ?? {};
      const expected = Object.keys(components.schemas).map((type) => [type, real[type]]);
      expect({ name, schemas: components.schemas }).toEqual({ name, schemas: Object.fromEntries(expected) });
    }
  });
});
