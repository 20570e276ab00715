/** Names that cannot be right are refused before they are sent: they would be other addresses. */
import { KopfError } from '../../errors.js';

/** As long as a name of anything may be. */
const MAX_NAME = 253;
const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** An empty name would be the address of all objects. What else is permitted depends on the kind: the server says. */
export function checkedName(name: string): string {
  const isText = typeof name === 'string' && name !== '' && name.length <= MAX_NAME;
  if (isText && name !== '.' && name !== '..' && !/[/%]/.test(name)) return name;
  if (typeof name === 'object' && name !== null) {
    throw new KopfError('An object is meant by its name: pass its metadata.name, and not the whole of it.', {
      code: 'KOPF_BAD_NAME',
    });
  }
  throw new KopfError(`'${String(name)}' cannot be the name of an object.`, { code: 'KOPF_BAD_NAME' });
}

export function checkedNamespace(namespace: string): string {
  if (typeof namespace === 'string' && NAMESPACE.test(namespace)) return namespace;
  throw new KopfError(`'${String(namespace)}' cannot be the name of a namespace.`, { code: 'KOPF_BAD_NAMESPACE' });
}
