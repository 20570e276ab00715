/** What can be done with a kind, path by path, as clients are told of it. */
import type { Served, Subresource } from '../kinds/served.js';
import { typeNameOf } from '../schemas/types.js';
import { type Components, type Described, kindOf } from './schemas.js';

/** What is described: a kind that is kept, or one that is only asked. */
export type Operable = Described &
  Pick<Served, 'listKind' | 'namespaced' | 'verbs'> & { readonly subresources: readonly Subresource[] };

const WRITING = { dryRun: 'string', fieldManager: 'string', fieldValidation: 'string' };
const DELETING = {
  dryRun: 'string',
  gracePeriodSeconds: 'integer',
  orphanDependents: 'boolean',
  propagationPolicy: 'string',
};
const LISTING = {
  allowWatchBookmarks: 'boolean',
  continue: 'string',
  fieldSelector: 'string',
  labelSelector: 'string',
  limit: 'integer',
  resourceVersion: 'string',
  resourceVersionMatch: 'string',
  sendInitialEvents: 'boolean',
  timeoutSeconds: 'integer',
  watch: 'boolean',
};

/** Of all verbs of the server: how they are sent, what they are called, and what can be asked of them. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  list: { method: 'get', action: 'list', id: 'list', isOfCollection: true, query: LISTING },
  create: { method: 'post', action: 'post', id: 'create', isOfCollection: true, query: WRITING },
  deletecollection: {
    method: 'delete',
    action: 'deletecollection',
    id: 'deleteCollection',
    isOfCollection: true,
    query: { ...LISTING, ...DELETING },
  },
  get: { method: 'get', action: 'get', id: 'read', isOfCollection: false, query: { resourceVersion: 'string' } },
  update: { method: 'put', action: 'put', id: 'replace', isOfCollection: false, query: WRITING },
  patch: { method: 'patch', action: 'patch', id: 'patch', isOfCollection: false, query: WRITING },
  delete: { method: 'delete', action: 'delete', id: 'delete', isOfCollection: false, query: DELETING },
};

interface Operation {
  readonly method: string;
  readonly action: string;
  readonly id: string;
  readonly isOfCollection: boolean;
  readonly query: Readonly<Record<string, string>>;
}

/** What a patch may be; strategic ones are for built-in kinds. */
const PATCHES = ['application/json-patch+json', 'application/merge-patch+json'];
const STRATEGIC = 'application/strategic-merge-patch+json';

/** All paths of the kind and of its subresources, with what can be done there. */
export function pathsOf(one: Operable, components: Components): Readonly<Record<string, object>> {
  const root = one.group === '' ? `/api/${one.version}` : `/apis/${one.group}/${one.version}`;
  const collection = `${root}/${one.namespaced ? 'namespaces/{namespace}/' : ''}${one.plural}`;
  const scope = one.namespaced ? ['namespace'] : [];
  const isOfCollection = (verb: string): boolean => OPERATIONS[verb]?.isOfCollection === true;
  const forAll = { suffix: 'ForAllNamespaces', scope: '' };
  const forOne = { suffix: '', scope: one.namespaced ? 'Namespaced' : '' };
  const paths = [
    [collection, scope, operationsOf(one, one.verbs.filter(isOfCollection), one, components, forOne)],
    [
      `${root}/${one.plural}`,
      [],
      one.namespaced
        ? operationsOf(
            one,
            one.verbs.filter((verb) => verb === 'list'),
            one,
            components,
            forAll,
          )
        : [],
    ],
    [
      `${collection}/{name}`,
      ['name', ...scope],
      operationsOf(
        one,
        one.verbs.filter((verb) => !isOfCollection(verb)),
        one,
        components,
        forOne,
      ),
    ],
    ...one.subresources
      .filter(({ name }) => name !== 'proxy')
      .map((subresource): PathRow => {
        const suffix = subresource.name.charAt(0).toUpperCase() + subresource.name.slice(1);
        const about = aboutSubresource(one, subresource);
        const operations = operationsOf(one, subresource.verbs, about, components, { ...forOne, suffix });
        return [`${collection}/{name}/${subresource.name}`, ['name', ...scope], operations];
      }),
  ] satisfies PathRow[];
  const used = paths.filter(([, , operations]) => operations.length > 0);
  return Object.fromEntries(
    used.map(([path, names, operations]) => [
      path,
      { ...Object.fromEntries(operations), ...(names.length > 0 ? { parameters: names.map(inPath) } : {}) },
    ]),
  );
}

type PathRow = [path: string, parameters: readonly string[], operations: readonly (readonly [string, object])[]];

/** What the subresource takes and gives, if it is anything that is described. */
function aboutSubresource(one: Operable, { kind, group, version }: Subresource): Described {
  if (kind === one.kind) return one;
  const of = { group: group ?? one.group, version: version ?? one.version, kind };
  return { ...of, plural: one.plural, type: typeNameOf(of.group, of.version, kind) ?? '' };
}

function operationsOf(
  one: Operable,
  verbs: readonly string[],
  about: Described,
  components: Components,
  names: { readonly scope: string; readonly suffix: string },
): (readonly [string, object])[] {
  return verbs.flatMap((verb) => {
    const operation = Object.hasOwn(OPERATIONS, verb) ? OPERATIONS[verb] : undefined;
    if (operation === undefined) return [];
    const { method, action, id, query } = operation;
    const document = {
      operationId: `${id}${camel(one.group === '' ? 'core' : one.group)}${camel(one.version)}${names.scope}${one.kind}${names.suffix}`,
      ...(Object.keys(query).length > 0 ? { parameters: Object.entries(query).map(inQuery) } : {}),
      ...bodyOf(verb, about, components),
      responses: {
        200: { description: 'OK', ...answerOf(verb, one, about, components) },
        401: { description: 'Unauthorized' },
      },
      'x-kubernetes-action': action,
      'x-kubernetes-group-version-kind': kindOf(about),
    };
    return [[method, document] as const];
  });
}

function bodyOf(verb: string, about: Described, components: Components): object {
  if (verb === 'patch') {
    const types = about.schema === undefined ? [...PATCHES, STRATEGIC] : PATCHES;
    const schema = components.ofType('meta.Patch');
    const content = Object.fromEntries(types.map((type) => [type, { schema }]));
    return { requestBody: { content, required: true } };
  }
  if (verb === 'create' || verb === 'update') {
    return { requestBody: { ...contentOf(components.ofKind(about)), required: true } };
  }
  if (!verb.startsWith('delete')) return {};
  return { requestBody: contentOf(components.ofType('meta.DeleteOptions')) };
}

function answerOf(verb: string, one: Operable, about: Described, components: Components): object {
  if (verb.startsWith('delete')) return contentOf(components.ofType('meta.Status'));
  return contentOf(verb === 'list' ? components.ofList(about, one.listKind) : components.ofKind(about));
}

function contentOf(schema: object): object {
  return { content: { 'application/json': { schema }, 'application/yaml': { schema } } };
}

function inPath(name: string): object {
  return { name, in: 'path', required: true, schema: { type: 'string', uniqueItems: true } };
}

function inQuery([name, type]: readonly [string, string]): object {
  return { name, in: 'query', schema: { type, uniqueItems: true } };
}

function camel(name: string): string {
  return name
    .split(/[^a-zA-Z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}
