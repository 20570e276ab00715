/** Structural schemas of custom resources, compiled once per version of a definition. */
import type { Cause, ServedObject } from './objects.js';

/** `openAPIV3Schema` as written in a definition. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * All three work on the whole object, in place where they change it. None touches `apiVersion`, `kind`
 * and `metadata` (of the object itself or of embedded resources), whatever the schema says of them.
 */
export interface CompiledSchema {
  /** Removes what is not specified. Returns the paths of what was removed: `spec.foo`, `spec.items[0].bar`. */
  prune(object: ServedObject): readonly string[];
  /** Drops nulls where there can be none, and are no defaults for them. */
  dropNulls(object: ServedObject): void;
  /** Puts in what is missing. */
  fillIn(object: ServedObject): void;
  /** Reads the metadata of embedded resources, and refuses those that are none. */
  readEmbedded(object: ServedObject, readMetadata: (metadata: unknown) => Record<string, unknown> | null): void;
  /**
   * All problems, in the words of kube-apiserver. `old` is given for updates, for ratcheting.
   * `part` is for updates of the `status` subresource: then only the status is checked.
   */
  validate(object: ServedObject, old?: ServedObject, part?: 'status'): readonly Cause[];
}

export interface SchemaCompiler {
  compile(schema: JsonSchema, options: { readonly preserveUnknownFields: boolean }): CompiledSchema;
  /** What is wrong with the schema itself (it must be structural); `path` is where it stands in the definition. */
  check(schema: JsonSchema, path: string): readonly Cause[];
}
