/**
 * The part of Standard Schema (https://standardschema.dev, version 1) that we rely on. Any library that speaks it
 * (zod, valibot, arktype…) can describe a resource, and we need none of them installed.
 */

/**
 * A schema of any library, seen without the library.
 *
 * ```ts
 * // The spec as its schema makes it, with its defaults filled in.
 * async function parsed<T>(schema: kopf.StandardSchema<unknown, T>, spec: unknown): Promise<T> {
 *   const result = await schema['~standard'].validate(spec);
 *   if (result.issues !== undefined) throw new kopf.PermanentError('The spec is malformed.');
 *   return result.value;
 * }
 * ```
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** Exists for the type checker only; never look for it at run time. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * What a value looks like before the schema has parsed it. Bodies come from the cluster and are given out as they
 * are: no defaults filled in, no transformations made. So it is the input, not the output, that handlers meet.
 */
export type SchemaInput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['input'];
