/** node-forge is loaded only when a certificate is to be made: most processes never make any. */
import { KopfError } from '@kopf-ts/core';

export type Forge = typeof import('node-forge');

export async function loadForge(): Promise<Forge> {
  try {
    return (await import('node-forge')).default;
  } catch (error) {
    throw new KopfError(
      'Certificates cannot be made without the package node-forge, and it cannot be loaded. ' +
        'Install it by "npm install node-forge", or give the files of a ready certificate.',
      { code: 'KOPF_MISSING_DEPENDENCY', cause: error },
    );
  }
}
