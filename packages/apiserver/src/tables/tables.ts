/** Objects as tables for people: with the columns of the real server, or with those of definitions. */
import { getOwn, type Mapping } from '@kopf-ts/core';
import type { Served } from '../kinds/served.js';
import { ageOf, countIn, mappingIn, type Printer, since, textIn } from './cells.js';
import { corePrinters, printEvent } from './core-printers.js';
import { valuesAt } from './json-path.js';
import { otherPrinters } from './other-printers.js';
import { workloadPrinters } from './workload-printers.js';

interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

/** By the names of the table of types. */
export type Columns = Readonly<Record<string, readonly Column[]>>;

export interface Table {
  readonly columns: readonly Column[];
  /** Does it tell nothing but names and times of creation? */
  readonly isUsual?: boolean;
  /** The cells of one row. */
  cells(object: Mapping, now: Date): readonly unknown[];
}

/** The columns of the built-in kinds are data, written together with their schemas; they are loaded when asked for. */
export async function loadColumns(): Promise<Columns> {
  const { default: columns } = await import('./columns.json', { with: { type: 'json' } });
  return columns as unknown as Columns;
}

const printers: Readonly<Record<string, Printer>> = { ...corePrinters, ...workloadPrinters, ...otherPrinters };
const EVENTS: ReadonlySet<string> = new Set(['core.Event', 'events.Event']);
const DEFAULT_CLASS = ['storageclass', 'volumeattributesclass'].map((kind) => `${kind}.kubernetes.io/is-default-class`);

/** The table of a kind, or of what its subresource is. */
export function tableOf(served: Served, subresource: string, columns: Columns): Table {
  const about = served.subresources.find(({ name }) => name === subresource);
  if (about?.kind === 'Scale') return scaleTable(served, columns);
  return served.type === undefined ? customTable(served, columns) : builtinTable(served.type, columns);
}

function builtinTable(type: string, all: Columns): Table {
  const columns = all[type] ?? usualColumns(all);
  if (EVENTS.has(type)) return { columns, cells: printEvent };
  const printer = Object.hasOwn(printers, type) ? printers[type] : undefined;
  const isUsual = printer === undefined && (columns === usualColumns(all) || isCreated(columns));
  const rest: Printer = printer ?? (isUsual ? createdAt : only(columns));
  return { columns, isUsual, cells: (object, now) => [nameOf(object), ...rest(object, now)] };
}

/** Kinds without columns of their own tell only when they were made. */
function usualColumns(all: Columns): readonly Column[] {
  return all['rbac.Role'] ?? [];
}

function isCreated(columns: readonly Column[]): boolean {
  return columns.length === 2 && columns[1]?.name === 'Created At';
}

const createdAt: Printer = (object) => [textIn(mappingIn(object, 'metadata'), 'creationTimestamp')];

/** Nobody has said what the other cells are: they stay empty, but for the age. */
function only(columns: readonly Column[]): Printer {
  return (object, now) => columns.slice(1).map(({ name }) => (name === 'Age' ? ageOf(object, now) : ''));
}

function nameOf(object: Mapping): string {
  const name = textIn(mappingIn(object, 'metadata'), 'name');
  const annotations = mappingIn(object, 'metadata', 'annotations');
  const isDefault = 'provisioner' in object && DEFAULT_CLASS.some((key) => annotations[key] === 'true');
  return isDefault ? `${name} (default)` : name;
}

function customTable(served: Served, all: Columns): Table {
  const [name, created] = usualColumns(all);
  const own = served.columns ?? [];
  const columns = own.map(({ name: title, type, format = '', description = '', priority = 0, jsonPath }): Column => {
    const text = `Custom resource definition column (in JSONPath format): ${jsonPath}`;
    return { name: title, type, format, description: description === '' ? text : description, priority };
  });
  const age = { ...(created as Column), name: 'Age' };
  if (served.columns === undefined) {
    return { columns: [name as Column, age], cells: (object, now) => [nameOf(object), ageOf(object, now)] };
  }
  return {
    columns: [name as Column, ...columns],
    cells: (object, now) => [
      nameOf(object),
      ...own.map(({ type, jsonPath }) => cellOf(valuesAt(object, jsonPath)[0], type, now)),
    ],
  };
}

/** What cannot be shown as a value of that type is not shown. */
function cellOf(value: unknown, type: string, now: Date): unknown {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'string':
      return typeof value === 'object' ? JSON.stringify(value) : String(value);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? since(value, now) : null;
    default:
      return null;
  }
}

/** Custom and built-in kinds are described with different words. */
function scaleTable(served: Served, all: Columns): Table {
  const [name, created] = usualColumns(all) as readonly [Column, Column];
  const column = (title: string, description: string): Column => ({
    ...created,
    name: title,
    type: 'integer',
    description,
  });
  const columns = served.isCustom
    ? [
        name,
        column('Desired', 'Number of desired replicas'),
        column('Available', 'Number of actual replicas'),
        { ...created, name: 'Age' },
      ]
    : [
        { ...name, format: '' },
        column('Desired', 'replicas is the desired number of instances for the scaled object.'),
        column('Available', 'replicas is the actual number of observed instances of the scaled object.'),
        { ...created, name: 'Age', type: 'string' },
      ];
  return {
    columns,
    cells: (object, now) => [
      nameOf(object),
      countIn(getOwn(object, 'spec'), 'replicas'),
      countIn(getOwn(object, 'status'), 'replicas'),
      ageOf(object, now),
    ],
  };
}

/** What else a row tells: kubectl can hide pods that are done. */
export function rowConditions(type: string | undefined, object: Mapping): object {
  const { phase } = mappingIn(object, 'status');
  if (type !== 'core.Pod' || (phase !== 'Succeeded' && phase !== 'Failed')) return {};
  const message = phase === 'Succeeded' ? 'The pod has completed successfully.' : 'The pod failed.';
  return { conditions: [{ type: 'Completed', status: 'True', reason: phase, message }] };
}
