/** What the real API server says of all its types, and what else is known of them. */
import { execFile } from 'node:child_process';
import { Agent, get } from 'node:https';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ControlPlaneAccess } from '../controlplane/index.js';
import type { Schema, Schemas } from './table-of-types.js';
import type { BuiltInResource } from './types-of-kinds.js';

export interface OpenApiDocument {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** All documents of groups and versions, by their names in the index: `api/v1`, `apis/apps/v1`. */
export async function openApiDocuments(access: ControlPlaneAccess): Promise<ReadonlyMap<string, OpenApiDocument>> {
  const agent = new Agent({ ca: access.ca, keepAlive: true });
  try {
    const index = JSON.parse(await read(access, '/openapi/v3', agent)) as {
      paths: Record<string, { serverRelativeURL: string }>;
    };
    const names = Object.keys(index.paths).filter((name) => /^(api|apis\/[^/]+)\/v\d\w*$/.test(name));
    const documents = new Map<string, OpenApiDocument>();
    for (const name of names.sort()) {
      const { serverRelativeURL } = index.paths[name] as { serverRelativeURL: string };
      documents.set(name, JSON.parse(await read(access, serverRelativeURL, agent)) as OpenApiDocument);
    }
    return documents;
  } finally {
    agent.destroy();
  }
}

/** The built-in types of all documents, which agree about what they share. Others may have defined types of their own. */
export function schemasOf(documents: ReadonlyMap<string, OpenApiDocument>): Schemas {
  const all = [...documents.values()].flatMap(({ components }) => Object.entries(components.schemas));
  return new Map(all.filter(([name]) => name.startsWith('io.k8s.')));
}

/** What `go run ./types` prints: the types themselves are asked. It needs Go, and the modules of the control plane. */
export async function wireFactLines(): Promise<string> {
  const cwd = fileURLToPath(new URL('../controlplane/build/kubernetes', import.meta.url));
  const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOTOOLCHAIN: 'local', GOFLAGS: '-mod=readonly' };
  const { stdout } = await promisify(execFile)('go', ['run', '-trimpath', '-buildvcs=false', './types'], {
    cwd,
    env,
    maxBuffer: 2 ** 24,
  });
  return stdout;
}

/** All built-in resources, but not the subresources. Others may have defined resources of their own. */
export async function builtInResources(access: ControlPlaneAccess): Promise<readonly BuiltInResource[]> {
  const agent = new Agent({ ca: access.ca, keepAlive: true });
  try {
    const { groups } = JSON.parse(await read(access, '/apis', agent)) as {
      groups: readonly {
        readonly name: string;
        readonly versions: readonly { readonly version: string }[];
        readonly preferredVersion: { readonly version: string };
      }[];
    };
    const versions = groups
      .filter(({ name }) => !name.includes('.') || name.endsWith('.k8s.io'))
      .flatMap(({ name: group, versions, preferredVersion }) =>
        versions.map(({ version }) => ({ group, version, preferred: version === preferredVersion.version })),
      );
    const found: BuiltInResource[] = [];
    for (const version of [{ group: '', version: 'v1', preferred: true }, ...versions]) {
      const { resources } = JSON.parse(await read(access, rootOf(version), agent)) as {
        resources: readonly (Pick<BuiltInResource, 'kind' | 'namespaced' | 'verbs'> & { readonly name: string })[];
      };
      for (const { name: plural, kind, namespaced, verbs } of resources) {
        if (!plural.includes('/')) found.push({ ...version, plural, kind, namespaced, verbs });
      }
    }
    return found;
  } finally {
    agent.destroy();
  }
}

/** The columns of the tables of all built-in kinds that can be listed, by group, version and kind. */
export async function tableColumns(
  access: ControlPlaneAccess,
  resources: readonly BuiltInResource[],
): Promise<ReadonlyMap<string, readonly object[]>> {
  const agent = new Agent({ ca: access.ca, keepAlive: true });
  const columns = new Map<string, readonly object[]>();
  try {
    for (const resource of resources.filter(({ verbs }) => verbs.includes('list'))) {
      const path = `${rootOf(resource)}/${resource.plural}?limit=1`;
      const table = await read(access, path, agent, 'application/json;as=Table;v=v1;g=meta.k8s.io');
      const { columnDefinitions } = JSON.parse(table) as { columnDefinitions: readonly object[] };
      columns.set(`${resource.group}/${resource.version}/${resource.kind}`, columnDefinitions);
    }
    return columns;
  } finally {
    agent.destroy();
  }
}

function rootOf({ group, version }: Pick<BuiltInResource, 'group' | 'version'>): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

function read(access: ControlPlaneAccess, path: string, agent: Agent, accept = 'application/json'): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${access.token}`, accept };
    const request = get(`${access.url}${path}`, { agent, headers, timeout: 30_000 }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => {
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`${path}: ${response.statusCode} ${text}`));
      });
      response.on('error', reject);
    });
    request.on('timeout', () => request.destroy(new Error(`no answer to ${path} in 30 s`)));
    request.on('error', reject);
  });
}
