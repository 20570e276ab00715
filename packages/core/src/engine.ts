/**
 * The second entry of core, for those who run handlers themselves.
 * Whoever only writes handlers or plugins needs `@kopf-ts/core` alone.
 */
export {};
