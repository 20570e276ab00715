/** From a path to what it leads to. */

/** A path to objects of a resource. */
export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  readonly isWatchPath: boolean;
}

/** The path without the query, in parts; `undefined` if it is none that can be understood. */
export function segmentsOf(path: string): readonly string[] | undefined {
  try {
    // Decoded as a whole: a hidden slash is a slash.
    const segments = decodeURIComponent(path).split('/').slice(1);
    return segments.at(-1) === '' ? segments.slice(0, -1) : segments;
  } catch {
    return undefined;
  }
}

/** Only the shape is looked at: whether there is such a resource is another question. */
export function parseResourcePath(segments: readonly string[]): ResourcePath | undefined {
  const isCore = segments[0] === 'api';
  if (!isCore && segments[0] !== 'apis') return undefined;
  const [group, version] = isCore ? ['', segments[1]] : [segments[1], segments[2]];
  let rest = segments.slice(isCore ? 2 : 3);
  if (group === undefined || version === undefined || rest.length === 0 || rest.includes('')) return undefined;
  const isWatchPath = rest[0] === 'watch' && rest.length > 1;
  if (isWatchPath) rest = rest.slice(1);

  let namespace = '';
  // `namespaces/x` and its own subresources are about the namespace itself; anything else is inside of it.
  const isInside = rest[0] === 'namespaces' && rest.length > 2 && !['status', 'finalize'].includes(rest[2] as string);
  if (isInside) {
    namespace = rest[1] as string;
    rest = rest.slice(2);
  }
  const [plural = '', name = '', ...more] = rest;
  const subresource = more.join('/');
  return { group, version, plural, namespace, name, subresource, isWatchPath };
}
