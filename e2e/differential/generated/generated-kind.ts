import type { Fields } from '../sequences/objects.js';
import type { Random } from './random.js';

/** A kind of which objects are made up. */
export interface GeneratedKind {
  readonly kind: string;
  readonly plural: string;
  /** Such as `v1` or `apps/v1`. */
  readonly apiVersion: string;
  /** Other versions under which the same objects are served. */
  readonly otherVersions?: readonly string[];
  readonly namespaced: boolean;
  /** Everything of a valid object but its identity and metadata. */
  body(random: Random): Fields;
  /** A valid status, if the kind has that subresource. */
  status?(random: Random): Fields;
  readonly scales?: boolean;
  readonly evicts?: boolean;
  /** Custom objects know no strategic patches. */
  readonly isCustom?: boolean;
  /** Fields by which objects can be selected, each with a value that some have. */
  readonly selectable?: readonly (readonly [field: string, value: string])[];
  /** A controller finishes deletions: later requests have to wait for it. */
  readonly deletesLater?: boolean;
  /** Updates need a version. */
  readonly needsVersion?: boolean;
}
