/** Objects shown otherwise than they are: as tables for people, or without anything but their metadata. */
import { getOwn, isMapping, type Mapping } from '@kopf-ts/core';
import type { Served } from '../kinds/served.js';
import { rowConditions, type Table } from '../tables/tables.js';
import type { Wanted } from './accept.js';
import { StatusError } from './status-errors.js';

/** What is shown. */
export interface Shown {
  readonly served: Served;
  readonly query: URLSearchParams;
  /** If it is wanted as a table. */
  readonly table: Table | undefined;
  /** In a stream: what was told with the first one is not told again. */
  readonly isFurther: boolean;
}

/** The text of the object or of the list, shown as wanted. */
export function represent(text: string, wanted: Wanted, shown: Shown, now: Date): string {
  const { served, table, query, isFurther } = shown;
  if (wanted.as === undefined || wanted.as === 'APIGroupDiscoveryList') return text;
  const object = JSON.parse(text) as Mapping;
  // Refusals, and successes without an object, are what they are.
  if (object.kind === 'Status') return text;
  const apiVersion = `meta.k8s.io/${wanted.version}`;
  const items = Array.isArray(object.items) ? object.items.filter(isMapping) : undefined;
  const isList = items !== undefined && object.kind === served.listKind;
  if (wanted.as === 'Table' && table !== undefined) {
    const rows = (isList ? items : [object]).map((item) => rowOf(item, table, served, query, apiVersion, now));
    const { continue: next = '', ...rest } = object.metadata as Mapping;
    const metadata = isList
      ? { ...rest, ...(next === '' ? {} : { continue: next }) }
      : { resourceVersion: getOwn(object.metadata as Mapping, 'resourceVersion') };
    return JSON.stringify({
      kind: 'Table',
      apiVersion,
      metadata,
      columnDefinitions: isFurther ? null : table.columns,
      // The usual table of the real server has no list of rows where it has none of them.
      rows: rows.length === 0 && table.isUsual ? null : rows,
    });
  }
  if (isList !== (wanted.as === 'PartialObjectMetadataList')) {
    const isScale = object.kind === 'Scale';
    // Custom objects are not of any type of their own there.
    if (served.isCustom && !isList && !isScale) throw new StatusError(500, '', 'content is not a list');
    const room = isScale ? 'autoscaling' : served.group === '' ? 'core' : served.group.split('.')[0];
    const ofType = `*${room}.${isList ? served.listKind : object.kind}`;
    const ofCustom = isScale ? '*v1.Scale' : '*unstructured.UnstructuredList';
    const type = served.isCustom ? ofCustom : ofType;
    const what = isList ? `is a list (${type})` : `is not a list (${type})`;
    throw new StatusError(406, 'NotAcceptable', `you requested ${wanted.as}, but the requested object ${what}`);
  }
  const partial = (item: Mapping): Mapping => ({
    kind: 'PartialObjectMetadata',
    apiVersion,
    metadata: metadataOf(item, served),
  });
  if (!isList) return JSON.stringify(partial(object));
  const { continue: next = '', ...metadata } = object.metadata as Mapping;
  const list = {
    kind: 'PartialObjectMetadataList',
    apiVersion,
    metadata: next === '' ? metadata : object.metadata,
    items: items.length === 0 ? null : items.map(partial),
  };
  return JSON.stringify(list);
}

/** What is no field within the server is not among the metadata that it takes from there. */
function metadataOf(item: Mapping, served: Served): unknown {
  const { metadata } = item;
  if (served.type !== 'apps.DaemonSet' || !isMapping(metadata) || !isMapping(metadata.annotations)) return metadata;
  const { 'deprecated.daemonset.template.generation': _, ...annotations } = metadata.annotations;
  const { annotations: _annotations, ...rest } = metadata;
  return Object.keys(annotations).length === 0 ? rest : { ...metadata, annotations };
}

function rowOf(
  item: Mapping,
  table: Table,
  served: Served,
  query: URLSearchParams,
  apiVersion: string,
  now: Date,
): object {
  const row = { cells: table.cells(item, now), ...rowConditions(served.type, item) };
  switch (query.get('includeObject')) {
    case 'None':
      return { ...row, object: null };
    case 'Object':
      return { ...row, object: { apiVersion: served.apiVersion, kind: served.kind, ...item } };
    default:
      return { ...row, object: { kind: 'PartialObjectMetadata', apiVersion, metadata: metadataOf(item, served) } };
  }
}
