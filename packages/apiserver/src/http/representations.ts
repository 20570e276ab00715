/** Objects shown otherwise than they are: as tables for people, or without anything but their metadata. */
import { getOwn, isMapping, type Mapping } from '@kopf-ts/core';
import type { Served } from '../kinds/served.js';
import type { Wanted } from './accept.js';
import { StatusError } from './status-errors.js';

/** The text of the object or of the list, shown as wanted. */
export function represent(text: string, wanted: Wanted, served: Served, query: URLSearchParams, now: Date): string {
  if (wanted.as === undefined || wanted.as === 'APIGroupDiscoveryList') return text;
  const object = JSON.parse(text) as Mapping;
  // Refusals, and successes without an object, are what they are.
  if (object.kind === 'Status') return text;
  const apiVersion = `meta.k8s.io/${wanted.version}`;
  const items = Array.isArray(object.items) ? object.items.filter(isMapping) : undefined;
  const isList = items !== undefined && object.kind === served.listKind;
  if (wanted.as === 'Table') {
    const rows = (isList ? items : [object]).map((item) => rowOf(item, served, query, apiVersion, now));
    const metadata = isList
      ? object.metadata
      : { resourceVersion: getOwn(object.metadata as Mapping, 'resourceVersion') };
    return JSON.stringify({
      kind: 'Table',
      apiVersion,
      metadata,
      columnDefinitions: columnsOf(served).map(({ name, type, format, description, priority }) => ({
        name,
        type,
        format,
        description,
        priority,
      })),
      rows,
    });
  }
  if (isList !== (wanted.as === 'PartialObjectMetadataList')) {
    const type = `*${served.group === '' ? 'core' : served.group.split('.')[0]}.${isList ? served.listKind : served.kind}`;
    const what = isList ? `is a list (${type})` : `is not a list (${type})`;
    throw new StatusError(406, 'NotAcceptable', `you requested ${wanted.as}, but the requested object ${what}`);
  }
  const partial = (item: Mapping): Mapping => ({ kind: 'PartialObjectMetadata', apiVersion, metadata: item.metadata });
  if (!isList) return JSON.stringify(partial(object));
  const list = { kind: 'PartialObjectMetadataList', apiVersion, metadata: object.metadata, items: items.map(partial) };
  return JSON.stringify(list);
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  readonly cell: (item: Mapping, now: Date) => unknown;
}

const NAME: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description:
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
  priority: 0,
  cell: (item) => atPath(item, '.metadata.name'),
};

const AGE: Column = {
  name: 'Age',
  type: 'date',
  format: '',
  description: 'The time since the creation.',
  priority: 0,
  cell: (item, now) => ageOf(atPath(item, '.metadata.creationTimestamp'), now),
};

function columnsOf(served: Served): readonly Column[] {
  if (served.columns === undefined) return [NAME, AGE];
  const own = served.columns.map(
    ({ name, type, format = '', description = '', priority = 0, jsonPath }): Column => ({
      name,
      type,
      format,
      description:
        description === '' ? `Custom resource definition column (in JSONPath format): ${jsonPath}` : description,
      priority,
      cell(item, now) {
        const value = atPath(item, jsonPath);
        if (value === undefined) return null;
        if (type === 'date') return ageOf(value, now);
        return typeof value === 'object' ? JSON.stringify(value) : value;
      },
    }),
  );
  return [NAME, ...own];
}

function rowOf(item: Mapping, served: Served, query: URLSearchParams, apiVersion: string, now: Date): object {
  const cells = columnsOf(served).map(({ cell }) => cell(item, now));
  switch (query.get('includeObject')) {
    case 'None':
      return { cells };
    case 'Object':
      return { cells, object: { apiVersion: served.apiVersion, kind: served.kind, ...item } };
    default:
      return { cells, object: { kind: 'PartialObjectMetadata', apiVersion, metadata: item.metadata } };
  }
}

/** Simple paths only: `.spec.replicas`, `.status.conditions[?(@.type=="Ready")].status`, `.spec.items[0].name`. */
function atPath(item: unknown, path: string): unknown {
  const steps = path.match(/\[\?\(@\.([\w.]+)\s*==\s*["']([^"']*)["']\)\]|\[(\d+)\]|(?:\\.|[^.[\]\\])+/g) ?? [];
  let value: unknown = item;
  for (const step of steps) {
    const filter = /^\[\?\(@\.([\w.]+)\s*==\s*["']([^"']*)["']\)\]$/.exec(step);
    if (filter !== null) {
      const [, key = '', expected] = filter;
      value = Array.isArray(value) ? value.find((one) => String(atPath(one, key)) === expected) : undefined;
    } else if (step.startsWith('[')) {
      value = Array.isArray(value) ? value[Number(step.slice(1, -1))] : undefined;
    } else {
      value = isMapping(value) ? getOwn(value, step.replace(/\\(.)/g, '$1')) : undefined;
    }
  }
  return value;
}

function ageOf(timestamp: unknown, now: Date): string {
  const seconds = Math.floor((now.getTime() - Date.parse(String(timestamp))) / 1000);
  if (Number.isNaN(seconds)) return '<unknown>';
  return humanDuration(Math.max(0, seconds));
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The more, the less precise: `90s`, `5m30s`, `2h`, `3d4h`, `400d`. */
function humanDuration(seconds: number): string {
  const two = (unit: number, name: string, rest: number, restName: string): string => {
    const remainder = Math.floor((seconds % unit) / rest);
    return `${Math.floor(seconds / unit)}${name}${remainder === 0 ? '' : `${remainder}${restName}`}`;
  };
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return two(MINUTE, 'm', 1, 's');
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return two(HOUR, 'h', MINUTE, 'm');
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return two(DAY, 'd', HOUR, 'h');
  if (seconds < 2 * 365 * DAY) return `${Math.floor(seconds / DAY)}d`;
  if (seconds < 8 * 365 * DAY) return two(365 * DAY, 'y', DAY, 'd');
  return `${Math.floor(seconds / (365 * DAY))}y`;
}
