/**
 * Where an operator remembers its progress and the last handled state of an object: in annotations, in the
 * status, or in several places at once, byte for byte as Kopf writes them.
 * It leaves to `@kopf-ts/core` what is to be remembered and when, and sends nothing to the cluster itself:
 * it only reads bodies and fills patches.
 */
export {};
