/** Objects and resources that the tests of this folder are about. */
import type { AnyObject } from '../../src/values/objects/body.js';
import { makeResource } from '../../src/values/resources/resource.js';

export const KEX = makeResource({
  group: 'kopf.dev',
  version: 'v1',
  plural: 'kopfexamples',
  kind: 'KopfExample',
  namespaced: true,
});

export const KEX_WITH_STATUS = makeResource({ ...KEX, subresources: ['status'] });

export const SECRETS = makeResource({ group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true });

/** An object with a version; all else can be added. */
export function kex(name: string, resourceVersion: string, extra: AnyObject = {}): AnyObject {
  return {
    apiVersion: 'kopf.dev/v1',
    kind: 'KopfExample',
    ...extra,
    metadata: { name, namespace: 'ns', uid: `uid-${name}`, resourceVersion, ...extra.metadata },
  };
}

/** A list as the server gives it: its items have no kinds. */
export function kexList(resourceVersion: string, items: AnyObject[], token?: string): AnyObject {
  return {
    apiVersion: 'kopf.dev/v1',
    kind: 'KopfExampleList',
    metadata: { resourceVersion, ...(token === undefined ? {} : { continue: token }) },
    items: items.map(({ apiVersion: _apiVersion, kind: _kind, ...item }) => item),
  };
}
