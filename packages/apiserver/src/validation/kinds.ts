/** Validation of the built-in kinds: the rules that people run into, in the words of kube-apiserver. */
import type { Cause, ServedObject } from '../contracts/objects.js';

export interface KindRules {
  validate?(object: ServedObject): readonly Cause[];
  validateUpdate?(object: ServedObject, old: ServedObject): readonly Cause[];
}

/** By the name in the table of types. */
export const builtinRules: ReadonlyMap<string, KindRules> = new Map();
