/** Addresses that lead through the API server to a pod or a service. */

export interface ProxiedPath {
  readonly kind: 'pods' | 'services';
  readonly namespace: string;
  /** As it is in the address: `name`, `name:port` or `scheme:name:port`. */
  readonly id: string;
  /** What follows, with its slash, as it came; empty if nothing does. */
  readonly rest: string;
  /** With its question mark; empty if there is none. */
  readonly search: string;
}

const PATTERN = /^\/api\/v1\/namespaces\/([^/]+)\/(pods|services)\/([^/]+)\/proxy(\/.*)?$/;

/** `undefined` if it is another address. */
export function proxiedPathOf(url: string): ProxiedPath | undefined {
  if (!url.includes('/proxy')) return undefined;
  const start = url.indexOf('?');
  const path = start < 0 ? url : url.slice(0, start);
  const [, namespace = '', kind, id = '', rest = ''] = PATTERN.exec(path) ?? [];
  if (kind === undefined) return undefined;
  try {
    return {
      kind: kind as ProxiedPath['kind'],
      namespace: decodeURIComponent(namespace),
      id: decodeURIComponent(id),
      rest,
      search: start < 0 ? '' : url.slice(start),
    };
  } catch {
    return undefined;
  }
}
