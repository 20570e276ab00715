/** What the verbs need to know of a kind: how it is read, prepared, validated and selected. */
import type { Mapping } from '@kopf-ts/core';
import type { Cause, ServedObject, UserInfo } from '../contracts/objects.js';
import type { ResourceInfo } from '../contracts/resource.js';
import type { JsonSchema } from '../contracts/schema.js';

export interface Subresource {
  readonly name: string;
  /** What it takes and gives: the kind of the object itself, unless it is something else, such as a `Scale`. */
  readonly kind: string;
  /** Of that other kind. */
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
}

/** Of a kind that is stored in another version than the one in which it is served. */
export interface Conversion {
  /** The one in which it is stored. */
  readonly apiVersion: string;
  toStorage(object: ServedObject): ServedObject;
  fromStorage(stored: ServedObject): ServedObject;
  /** What is lost in the other version is lost at once. */
  readonly settled?: (object: ServedObject) => ServedObject;
}

export interface Decoded {
  readonly object: ServedObject;
  readonly unknownFields: readonly string[];
}

/** What happens to an object on its way in; the same for all versions of the kind but for the schema. */
export interface Strategy {
  readonly allowsUnconditionalUpdate: boolean;
  readonly allowsCreateOnUpdate: boolean;
  /** Does `metadata.generation` count the changes of everything but metadata and status? */
  readonly countsGenerations: boolean;
  /** Does `status` change only through its subresource? Then it does not count for generations. */
  readonly statusIsSeparate: boolean;
  /** Is the deleted object the answer to its deletion, instead of a `Status`? */
  readonly returnsDeleted: boolean;
  /** Are dependents left alone by a deletion that says nothing of them? */
  readonly orphansByDefault: boolean;
  /** Does nobody manage its fields? */
  readonly isUnmanaged?: boolean;
  /** Told to everyone who uses it. */
  readonly deprecation?: string;
  /** What problems are said to be problems of, if not of the kind of the request. */
  readonly reportedGroup?: string;
  readonly schemaEpoch: number;
  /** Reads what a client has sent: types are checked, unknown fields dropped, defaults set. */
  decode(raw: Mapping): Decoded;
  /** The same for what comes of an application: there, what is null is not as good as missing. */
  decodeApplied?(raw: Mapping): Decoded;
  /** An object with nothing in it, as bookmarks have it. */
  blank(): ServedObject;
  /** For what was stored under another schema; it comes in the version in which it was stored. */
  refresh?(object: ServedObject): void;
  /** Between the version it is served in and the version it is stored in; by default only the API version differs. */
  toStorage?(object: ServedObject): ServedObject;
  fromStorage?(object: ServedObject): ServedObject;
  prepareForCreate(object: ServedObject, context: PreparationContext): void;
  prepareForUpdate(object: ServedObject, old: ServedObject, subresource: string, timestamp: string): void;
  /** Beside what is checked of all metadata anyway. */
  validate(object: ServedObject): readonly Cause[];
  /** Beside what is checked of all metadata anyway. */
  validateUpdate(object: ServedObject, old: ServedObject, subresource: string): readonly Cause[];
  /**
   * Gives a valid object what it needs for itself alone, and tells what it cannot have. `old` is given for updates,
   * and `others` are all objects of the kind, in their storage version. A dry run takes nothing from anybody.
   */
  allocate?(
    object: ServedObject,
    old: ServedObject | undefined,
    others: () => Iterable<ServedObject>,
    isDryRun: boolean,
  ): readonly Cause[];
  /** What is fine, but should not be. `old` is given for updates. */
  warnings?(object: ServedObject, old: ServedObject | undefined): readonly string[];
  /** Seconds until a deletion may happen; 0 is at once. */
  gracePeriod?(object: ServedObject, requested: number | undefined): number;
  /** Turns the label of a field selector into a path, or explains why it cannot. */
  selectableField(label: string): { readonly path: string } | { readonly error: string };
  /** The value of a field by the path above, as a string. */
  fieldValue?(object: ServedObject, path: string): string | undefined;
  readonly scale?: ScalePaths;
}

export interface PreparationContext {
  /** The time as it is written into objects. */
  readonly timestamp: string;
  /** Who creates it. */
  readonly user: UserInfo;
  /** Tells the client of something. */
  warn(text: string): void;
  /** Reads another object of the cluster, in its storage version. */
  read(collection: string, namespace: string, name: string): ServedObject | undefined;
}

export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  readonly labelSelector: string | undefined;
}

export interface Served extends ResourceInfo {
  readonly apiVersion: string;
  /** The API version in which it is stored. */
  readonly storageApiVersion: string;
  readonly isCustom: boolean;
  readonly subresources: readonly Subresource[];
  readonly strategy: Strategy;
  /** Its name in the table of types, of built-in kinds. */
  readonly type?: string;
  /** As the definition has it, of custom resources. */
  readonly schema?: JsonSchema;
  /** Additional columns for people, of custom resources. */
  readonly columns?: readonly PrinterColumn[];
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

export const ALL_VERBS: readonly string[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];
export const SUBRESOURCE_VERBS: readonly string[] = ['get', 'patch', 'update'];
