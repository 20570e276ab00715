/** Versions of objects: which of two states of an object is newer. */
import type { Body } from '@kopf-ts/core';
import { compareVersions } from '@kopf-ts/core/engine';

export { compareVersions };

export function versionOf(body: Body): string | undefined {
  return body.metadata?.resourceVersion;
}

/** Whether the first is surely newer than the second. */
export function isLater(one: Body, two: Body): boolean {
  return (compareVersions(versionOf(one), versionOf(two)) ?? 0) > 0;
}
