/** Versions of objects: which of two states of an object is newer. */
import type { Body } from '@kopf-ts/core';

export { compareVersions } from '@kopf-ts/core/engine';

export function versionOf(body: Body): string | undefined {
  return body.metadata?.resourceVersion;
}
