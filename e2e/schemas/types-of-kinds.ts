/**
 * Writes the sources of `@kopf-ts/kinds` by the OpenAPI documents of the API server and by its list of resources: for
 * each group and version, a module with the tokens of its kinds, and with the types of their objects. Only what the
 * objects of some kind are made of is written; lists, options and the like are not.
 */
import type { Schema, Schemas } from './table-of-types.js';

/** A resource that is not of another one, as the server lists them. */
export interface BuiltInResource {
  /** Empty for the core ones. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Is it of the version that the server prefers? */
  readonly preferred: boolean;
  readonly verbs: readonly string[];
}

/** The texts of all modules, by their places in the sources: `apps/v1/index.ts`. */
export function sourcesOfKinds(
  schemas: Schemas,
  resources: readonly BuiltInResource[],
): Readonly<Record<string, string>> {
  const kinds = resources.map((resource) => ({ ...resource, type: typeOf(schemas, resource) }));
  const homes = new Map(HOMES_OF_SHARED);
  for (const kind of kinds) homes.set(packageOf(kind.type), apiVersionOf(kind));
  const homeOf = (name: string): string => {
    const home = homes.get(packageOf(name));
    if (home === undefined) throw new Error(`No module is the home of ${name}.`);
    return home;
  };
  const modules = new Map<string, string[]>();
  for (const name of [
    ...reachable(
      schemas,
      kinds.map(({ type }) => type),
    ),
  ].sort()) {
    modules.set(homeOf(name), [...(modules.get(homeOf(name)) ?? []), name]);
  }
  const texts = [...modules].map(([home, names]): [string, string] => {
    const tokens = new Map(kinds.filter((kind) => apiVersionOf(kind) === home).map((kind) => [kind.type, kind]));
    return [`${home}/index.ts`, moduleText(home, names, { schemas, tokens, homeOf })];
  });
  return Object.fromEntries([['index.ts', indexText(kinds)] as const, ...texts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

type Kind = BuiltInResource & { readonly type: string };

interface Surroundings {
  readonly schemas: Schemas;
  readonly tokens: ReadonlyMap<string, Kind>;
  readonly homeOf: (name: string) => string;
}

const META = 'meta.k8s.io/v1';

/** Packages of Go that have no kinds of their own: what all kinds share is in one place. */
const HOMES_OF_SHARED: readonly (readonly [string, string])[] = [
  ['io.k8s.apimachinery.pkg.apis.meta.v1', META],
  ['io.k8s.apimachinery.pkg.api.resource', META],
  ['io.k8s.apimachinery.pkg.util.intstr', META],
  ['io.k8s.apimachinery.pkg.runtime', META],
];

/** Of these, OpenAPI says less than is known, or more than the server ever answers. */
const SPELLED_OUT: Readonly<Record<string, string>> = {
  Quantity: 'string',
  IntOrString: 'number | string',
  FieldsV1: '{ [field: string]: unknown }',
  RawExtension: '{ [field: string]: unknown }',
  JSON: 'unknown',
  JSONSchemaPropsOrArray: 'JSONSchemaProps | JSONSchemaProps[]',
  JSONSchemaPropsOrBool: 'JSONSchemaProps | boolean',
  JSONSchemaPropsOrStringArray: 'JSONSchemaProps | string[]',
};

const GENERATED = 'Written by `npm run schemas`, by what Kubernetes 1.36 says of itself; not to be edited by hand.';

function indexText(kinds: readonly Kind[]): string {
  // Of namesakes, the core ones win, and then the preferred versions: as in selectors.
  const winners = new Map<string, Kind>();
  const rank = (kind: Kind): number => (kind.group === '' ? 0 : kind.preferred ? 1 : 2);
  for (const kind of [...kinds].sort((a, b) => rank(a) - rank(b))) {
    if (!winners.has(kind.kind)) winners.set(kind.kind, kind);
  }
  const homes = [...new Set(kinds.map(apiVersionOf))].sort();
  const lines = homes.flatMap((home) => {
    const names = [...winners.values()].filter((kind) => apiVersionOf(kind) === home).map(({ kind }) => kind);
    return names.length === 0 ? [] : [`export { ${names.sort().join(', ')} } from './${home}/index.js';`];
  });
  const title = [
    'All built-in kinds of Kubernetes 1.36: tokens that carry the types of their objects, and nothing else at run time.',
    'What the objects are made of is in the modules of the groups and versions, such as `@kopf-ts/kinds/apps/v1`.',
    '',
    GENERATED,
  ];
  return `${comment(title, '')}${lines.join('\n')}\n`;
}

function moduleText(home: string, names: readonly string[], around: Surroundings): string {
  const imports = importsOf(home, names, around);
  const nameOf = (name: string): string => imports.aliases.get(name) ?? shortNameOf(name);
  const kindsFirst = [...names].sort((a, b) => Number(around.tokens.has(b)) - Number(around.tokens.has(a)));
  const declarations = kindsFirst.map((name) => declaration(name, around, nameOf));
  const title =
    home === META ? 'What objects of all kinds are made of.' : `The kinds of ${home}, and what they are made of.`;
  return [comment([title, '', GENERATED], '').trimEnd(), ...imports.lines, '', declarations.join('\n')].join('\n');
}

function importsOf(home: string, names: readonly string[], { schemas, tokens, homeOf }: Surroundings) {
  const foreign = new Set(
    names.flatMap((name) => referencesOf(schemas.get(name) ?? {})).filter((name) => homeOf(name) !== home),
  );
  const taken = new Set(names.map(shortNameOf));
  const aliases = new Map<string, string>();
  const byHome = new Map<string, string[]>();
  for (const name of [...foreign].sort()) {
    const short = shortNameOf(name);
    const alias = taken.has(short) ? `Other${short}` : short;
    taken.add(alias);
    aliases.set(name, alias);
    byHome.set(homeOf(name), [...(byHome.get(homeOf(name)) ?? []), alias === short ? short : `${short} as ${alias}`]);
  }
  const up = home
    .split('/')
    .map(() => '..')
    .join('/');
  const lines = [...byHome]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([other, items]) => {
      return `import type { ${items.sort().join(', ')} } from '${up}/${other}/index.js';`;
    });
  const core = tokens.size === 0 ? [] : ["import type { ResourceToken } from '@kopf-ts/core';"];
  return { aliases, lines: [...core, ...lines] };
}

function declaration(name: string, around: Surroundings, nameOf: (name: string) => string): string {
  const schema = around.schemas.get(name) ?? {};
  const short = shortNameOf(name);
  const doc = comment(documentation(schema.description), '');
  const spelled = SPELLED_OUT[short];
  if (spelled !== undefined) return `${doc}export type ${short} = ${spelled};\n`;
  if (schema.properties === undefined) return `${doc}export type ${short} = ${inlineType(schema, nameOf)};\n`;

  const kind = around.tokens.get(name);
  const fields = Object.entries(schema.properties)
    .sort(([a], [b]) => placeOf(a, kind) - placeOf(b, kind))
    .map(([field, described]) => fieldText(field, described, schema, kind, nameOf))
    .join('');
  // Unlike interfaces, such types are also mappings: so they fit those of `@kopf-ts/core`, which have any other field.
  const isMapping = short === 'ObjectMeta';
  const head = isMapping ? `export type ${short} = {` : `export interface ${short} {`;
  return `${doc}${head}\n${fields}}${isMapping ? ';' : ''}\n${kind === undefined ? '' : tokenText(kind)}`;
}

/** As people write objects down; OpenAPI goes by the alphabet. */
function placeOf(field: string, kind: Kind | undefined): number {
  const place = ['apiVersion', 'kind', 'metadata', 'spec'].indexOf(field);
  return kind === undefined || place < 0 ? 4 : place;
}

function fieldText(
  field: string,
  described: Schema,
  { required = [] }: Schema,
  kind: Kind | undefined,
  nameOf: (name: string) => string,
): string {
  const doc = comment(documentation(described.description), '  ');
  if (kind !== undefined && field === 'apiVersion') return `  apiVersion?: '${apiVersionOf(kind)}';\n`;
  if (kind !== undefined && field === 'kind') return `  kind?: '${kind.kind}';\n`;
  const isAlways = required.includes(field) || isAlwaysThere(field, described, kind);
  const key = /^[A-Za-z_$][\w$]*$/.test(field) ? field : `'${field}'`;
  return `${doc}  ${key}${isAlways ? '' : '?'}: ${inlineType(described, nameOf)};\n`;
}

/** The server always answers with these, though it does not have to be told. Nobody would leave them out anyway. */
function isAlwaysThere(field: string, described: Schema, kind: Kind | undefined): boolean {
  if (field === 'metadata') return kind !== undefined;
  return field === 'spec' && JSON.stringify(described.default) === '{}';
}

function inlineType(schema: Schema, nameOf: (name: string) => string): string {
  const [reference] = ownReferences(schema);
  if (reference !== undefined) return nameOf(reference);
  if (schema.items !== undefined) {
    const item = inlineType(schema.items, nameOf);
    return item.includes(' ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
  }
  if (schema.additionalProperties !== undefined) {
    return `{ [key: string]: ${inlineType(schema.additionalProperties, nameOf)} }`;
  }
  if (schema.enum !== undefined) return schema.enum.map((value) => `'${value}'`).join(' | ');
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'number':
      return schema.type;
    case 'integer':
      return 'number';
    case 'object':
      return '{ [field: string]: unknown }';
    default:
      throw new Error(`There is no type for ${JSON.stringify(schema)}.`);
  }
}

function tokenText({ group, version, plural, kind, namespaced }: Kind): string {
  const where = namespaced ? 'They are in namespaces.' : 'They are of the cluster, and not in namespaces.';
  const token = `{ selector: { group: '${group}', version: '${version}', plural: '${plural}' }, namespaced: ${namespaced} }`;
  const type = `ResourceToken<${kind}, ${namespaced ? 'string' : 'undefined'}>`;
  return `${comment([`The ${plural} of \`${apiVersionOf({ group, version })}\`. ${where}`], '')}export const ${kind}: ${type} = ${token};\n`;
}

function typeOf(schemas: Schemas, { group, version, kind }: BuiltInResource): string {
  for (const [name, schema] of schemas) {
    const kinds = schema['x-kubernetes-group-version-kind'] ?? [];
    const isIt = kinds.length === 1 && kinds[0]?.group === group && kinds[0].version === version;
    if (isIt && kinds[0]?.kind === kind) return name;
  }
  throw new Error(`The OpenAPI has no type of ${group}/${version} ${kind}.`);
}

/** All types that objects of these are made of, at whatever depth. */
function reachable(schemas: Schemas, roots: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (name: string): void => {
    if (found.has(name)) return;
    found.add(name);
    const spelled = SPELLED_OUT[shortNameOf(name)] ?? '';
    const fields = spelled.includes('JSONSchemaProps') ? [] : referencesOf(schemas.get(name) ?? {});
    for (const next of fields) visit(next);
  };
  for (const root of roots) visit(root);
  return found;
}

function referencesOf(schema: Schema): string[] {
  const inner = [...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties];
  return [...ownReferences(schema), ...inner.flatMap((one) => (one === undefined ? [] : referencesOf(one)))];
}

/** Defaults and texts cannot stand beside a reference, so most of them are wrapped. */
function ownReferences({ $ref, allOf = [] }: Schema): string[] {
  return [...($ref === undefined ? [] : [$ref.slice($ref.lastIndexOf('/') + 1)]), ...allOf.flatMap(ownReferences)];
}

function packageOf(name: string): string {
  return name.slice(0, name.lastIndexOf('.'));
}

function shortNameOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

function apiVersionOf({ group, version }: Pick<BuiltInResource, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

/** The first sentence, and what is said of better ways: the rest is a page of its own, for most of the fields. */
function documentation(description = ''): string[] {
  const text = description.replace(/\s+/g, ' ').replaceAll('*/', '*\u200B/').trim();
  const [, deprecation] = /\bDeprecated: (.+?)(?:\.(?= [A-Z])|$)/.exec(text) ?? [];
  const rest = deprecation === undefined ? text : text.slice(0, text.indexOf('Deprecated: ')).trim();
  const first = /^.*?[^.]\.(?= [A-Z`"'(])/.exec(rest)?.[0] ?? rest;
  const lines = first === '' ? [] : wrapped(first);
  return deprecation === undefined ? lines : [...lines, ...wrapped(`@deprecated ${deprecation.replace(/\.?$/, '.')}`)];
}

const WIDTH = 110;

function wrapped(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < WIDTH) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function comment(lines: readonly string[], indent: string): string {
  if (lines.length === 0) return '';
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}
