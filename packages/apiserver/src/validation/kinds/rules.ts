/** What the rules of one built-in kind consist of. */
import type { Cause, ServedObject } from '../../contracts/objects.js';
import type { NameRule } from '../names.js';

export interface KindRules {
  /** For kinds whose names depend on what else is in the object. */
  nameRule?(object: ServedObject): NameRule;
  /** Of new objects, and of changed ones. */
  validate?(object: ServedObject): readonly Cause[];
  /** Of new objects, beside the above. */
  validateCreate?(object: ServedObject): readonly Cause[];
  /** Of changes, beside the above. */
  validateUpdate?(object: ServedObject, old: ServedObject): readonly Cause[];
  /** Of changes by the subresources `ephemeralcontainers` and `resize`, beside the first. */
  validateParts?(object: ServedObject, old: ServedObject, subresource: string): readonly Cause[];
  /** Of changes by the subresource `finalize`. */
  validateFinalize?(object: ServedObject): readonly Cause[];
  /** What is fine, but should not be; of new objects and of changed ones. */
  warnings?(object: ServedObject, old: ServedObject | undefined): readonly string[];
  /** Of changes of the status. */
  validateStatus?(object: ServedObject, old: ServedObject): readonly Cause[];
}
