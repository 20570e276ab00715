/** What handlers should have done, where they have tried to change the object that they are given. */
import { isMapping } from '../../values/json.js';

/** As the engine says it of frozen objects: these are all that a handler can get from it. */
const ASSIGNED = /^Cannot (?:assign to read only|delete) property '([^']*)' of /;
const STANZAS = new Set(['spec', 'status', 'metadata']);
const ADDED = /^Cannot add property (\S+), object is not extensible/;

/**
 * A sentence for the end of the message, with a space before it; nothing for all other errors. It is made only of an
 * error that has happened: bodies are frozen and not wrapped, so that reading them costs nothing.
 */
export function adviceOn(error: Error, body: object | undefined): string {
  if (!(error instanceof TypeError) || body === undefined) return '';
  const key = ASSIGNED.exec(error.message)?.[1] ?? ADDED.exec(error.message)?.[1];
  if (key === undefined) return '';
  const path = pathTo(body, key);
  const example = STANZAS.has(key)
    ? `patch.${key}.field = …`
    : path === undefined
      ? `patch.spec.${key} = …, or the like in patch.status and patch.metadata`
      : `patch.${path.join('.')} = …`;
  return `. Objects are read-only for handlers; to change them in the cluster, use the patch: ${example}`;
}

/** How far to look for the key: deeper ones are patched with all that is around them anyway. */
const MAX_DEPTH = 4;

/** Where the key is in the object, if it is there. What is nearer to the top is rather meant. */
function pathTo(body: object, key: string): readonly string[] | undefined {
  let level: (readonly [path: readonly string[], value: unknown])[] = [[[], body]];
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const found = level.find(([, value]) => isMapping(value) && Object.hasOwn(value, key));
    if (found !== undefined) return [...found[0], key];
    level = level.flatMap(([path, value]) =>
      isMapping(value) ? Object.entries(value).map(([name, item]) => [[...path, name], item] as const) : [],
    );
  }
  return undefined;
}
