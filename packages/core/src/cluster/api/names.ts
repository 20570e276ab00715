/** Names that cannot be valid are refused before they are sent: they would address something else. */
import { KopfError } from '../../errors.js';

/** The maximum length of any name. */
const MAX_NAME = 253;
const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** An empty name would address the whole collection. What else is permitted depends on the kind: the server decides. */
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
