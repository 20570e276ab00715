/**
 * Writes the table of the built-in types by the OpenAPI documents of the API server. The grammar of the table is
 * described where it is read: packages/apiserver/src/schemas/types.ts.
 */

/** What an OpenAPI document says of a type or of a field. */
export interface Schema {
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly 'x-kubernetes-group-version-kind'?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-patch-merge-key'?: string;
  readonly 'x-kubernetes-patch-strategy'?: string;
  readonly 'x-kubernetes-unions'?: readonly object[];
}

/** By the names that they have in OpenAPI, such as `io.k8s.api.core.v1.Pod`. */
export type Schemas = ReadonlyMap<string, Schema>;

/** By the names of the table, such as `core.Pod`. */
export type Table = Readonly<Record<string, string>>;

/** By the same names: what is known of the fields but for OpenAPI, in the words of the table. */
export type WireFacts = ReadonlyMap<string, string>;

/** How packages are called in the table, if not by the word before their version. */
const PACKAGES: readonly (readonly [prefix: string, name: string])[] = [
  ['io.k8s.apimachinery.pkg.apis.meta.v1.', 'meta.'],
  ['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.', 'apiextensions.'],
  ['io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.', 'apiregistration.'],
];

/** `core.Pod` for `io.k8s.api.core.v1.Pod`, `autoscaling.v2.MetricSpec` for `io.k8s.api.autoscaling.v2.MetricSpec`. */
function shortNameOf(name: string): string {
  for (const [prefix, short] of PACKAGES) if (name.startsWith(prefix)) return short + name.slice(prefix.length);
  return name.replace(/^io\.k8s\.api\./, '').replace(/^([^.]+)\.v1\./, '$1.');
}

/** The table: one text for each type that has facts; others, such as times, are known to the reader. */
export function tableOfTypes(schemas: Schemas, facts: WireFacts): Table {
  const rows = new Map<string, string>();
  for (const [longName, schema] of schemas) {
    const name = shortNameOf(longName);
    const known = facts.get(name);
    if (known !== undefined) rows.set(name, rowOf(schema, known));
  }
  // In protobuf there are some more: those whose fields are among the fields of others elsewhere.
  for (const row of [...rows.values()]) {
    for (const [, name = ''] of row.matchAll(/(?:^| )~#\d+:(\S+)/g)) {
      if (!rows.has(name)) rows.set(name, facts.get(name) ?? '');
    }
  }
  return sorted(rows);
}

/** The texts, apart: they are eight times as large, and rarely asked for. The one of the type itself has no name. */
export function descriptionsOf(schemas: Schemas): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const rows = [...schemas].map(([name, { description, properties = {} }]) => {
    const texts = Object.entries(properties).map(([field, schema]) => [field, schema.description] as const);
    const known = [['', description] as const, ...texts].filter(([, text]) => text !== undefined);
    return [shortNameOf(name), Object.fromEntries(known) as Record<string, string>] as const;
  });
  return sorted(new Map(rows));
}

/** The columns of tables, by the names of the table of types instead of group, version and kind. */
export function columnsByType(
  columns: ReadonlyMap<string, readonly object[]>,
  table: Table,
): Readonly<Record<string, readonly object[]>> {
  const rows = Object.entries(table).flatMap(([name, text]) => {
    const found = columns.get(/^@kind=(\S+)/.exec(text)?.[1] ?? '');
    return found === undefined ? [] : [[name, found] as const];
  });
  return sorted(new Map(rows));
}

/** The facts that a table was made with. */
export function wireFactsOf(table: Table): WireFacts {
  const rows = Object.entries(table).map(([name, row]): [string, string] => {
    const fields = row.split(' ').filter((word) => !word.startsWith('@'));
    return [name, fields.map((field) => field.split(';')[0]).join(' ')];
  });
  return new Map(rows);
}

/** Of the lines that `build/kubernetes/types` prints. */
export function wireFactsIn(lines: string): WireFacts {
  const rows = lines
    .trim()
    .split('\n')
    .map((line): [string, string] => {
      const [name = '', ...fields] = line.replace(/io\.k8s\.[\w.-]+/g, shortNameOf).split(' ');
      return [name, fields.join(' ')];
    });
  return new Map(rows);
}

function sorted<T>(rows: ReadonlyMap<string, T>): Readonly<Record<string, T>> {
  return Object.fromEntries([...rows].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function rowOf(schema: Schema, facts: string): string {
  const kind = schema['x-kubernetes-group-version-kind'];
  const words = [
    // Some are of each group; these are known to the reader.
    ...(kind?.length === 1 && kind[0]?.group !== undefined && !isShared(kind[0].kind)
      ? [`@kind=${kind[0].group}/${kind[0].version}/${kind[0].kind}`]
      : []),
    ...(schema['x-kubernetes-map-type'] === undefined ? [] : [`@${schema['x-kubernetes-map-type']}`]),
    ...(schema['x-kubernetes-unions'] === undefined
      ? []
      : [`@unions=${JSON.stringify(schema['x-kubernetes-unions'])}`]),
    ...facts
      .split(' ')
      .filter((fact) => fact !== '')
      .map((fact) => fieldOf(schema, fact)),
  ];
  return words.join(' ');
}

function isShared(kind: string): boolean {
  return kind === 'DeleteOptions' || kind === 'WatchEvent';
}

function fieldOf({ properties = {}, required = [] }: Schema, fact: string): string {
  const [, name = '', marks = '', type = ''] = /^(.*?)([?*0]*)(?:#\d+)?:(.*)$/.exec(fact) ?? [];
  if (name === '~') return fact;
  const schema = properties[name];
  if (schema === undefined) throw new Error(`The OpenAPI has no field '${name}'.`);
  const leaf = leafOf(schema);
  const keys = schema['x-kubernetes-list-map-keys'];
  const mergeKey = schema['x-kubernetes-patch-merge-key'];
  const notes = [
    required.includes(name) && '!',
    !isUsualDefault(schema, marks, type) && `=${schema.default === undefined ? '' : JSON.stringify(schema.default)}`,
    schema['x-kubernetes-list-type'] && `L=${schema['x-kubernetes-list-type']}${keys ? `:${keys.join(',')}` : ''}`,
    schema['x-kubernetes-map-type'] && `M=${schema['x-kubernetes-map-type']}`,
    schema['x-kubernetes-patch-strategy'] &&
      `P=${schema['x-kubernetes-patch-strategy']}${mergeKey ? `:${mergeKey}` : ''}`,
    leaf.enum && `E=${leaf.enum.map(encodeURIComponent).join('|')}`,
  ].filter((note) => typeof note === 'string');
  const text = [fact, ...notes].join(';');
  if (/\s/.test(text)) throw new Error(`The table has no words for '${text}'.`);
  return text;
}

function leafOf(schema: Schema): Schema {
  const inner = schema.items ?? schema.additionalProperties;
  return inner === undefined ? schema : leafOf(inner);
}

const ZEROS: Readonly<Record<string, unknown>> = { s: '', b: false, i: 0, l: 0 };

/** Structures that are always there are empty by default, and so are values that are always written. */
function isUsualDefault(schema: Schema, marks: string, type: string): boolean {
  const isAlways = !marks.includes('*');
  const scalar = type.replace(/@.*/, '');
  const isStruct = /^[a-z][\w]*\.[\w.]+$/.test(type);
  const usual = isStruct && isAlways ? {} : isAlways && !marks.includes('?') ? ZEROS[scalar] : undefined;
  return JSON.stringify(usual) === JSON.stringify(schema.default);
}
