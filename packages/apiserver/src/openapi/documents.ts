/** The descriptions of the API in OpenAPI 3: one document per group and version, and an index of them. */
import { createHash } from 'node:crypto';
import type { ServedCatalog } from '../kinds/catalog.js';
import type { AccessReview } from '../routing/discovery.js';
import { type Operable, pathsOf } from './operations.js';
import { makeComponents } from './schemas.js';

export interface OpenApi {
  /** `/openapi/v3` */
  index(): object;
  /** By its name in the index, such as `api/v1` or `apis/example.com/v1`; `undefined` if there is none. */
  document(name: string): OpenApiDocument | undefined;
}

export interface OpenApiDocument {
  readonly text: string;
  /** It changes whenever the text does, so that clients may keep what they have got. */
  readonly hash: string;
}

interface Remembered extends OpenApiDocument {
  readonly kinds: readonly Operable[];
}

const PREFIX = '/openapi/v3/';

export function makeOpenApi(catalog: ServedCatalog, accessReviews: readonly AccessReview[]): OpenApi {
  const asked = accessReviews.map(askable);
  // Kinds are replaced as a whole when their definitions change: the same ones have the same document.
  const remembered = new Map<string, Remembered>();

  const kindsByName = (): ReadonlyMap<string, readonly Operable[]> => {
    const found = new Map<string, Operable[]>();
    for (const one of [...catalog.all(), ...asked]) {
      const name = one.group === '' ? `api/${one.version}` : `apis/${one.group}/${one.version}`;
      const known = found.get(name);
      if (known === undefined) found.set(name, [one]);
      else known.push(one);
    }
    return found;
  };
  const documentOf = (name: string, kinds: readonly Operable[]): OpenApiDocument => {
    const known = remembered.get(name);
    const isSame = known?.kinds.length === kinds.length && known.kinds.every((one, index) => one === kinds[index]);
    if (known !== undefined && isSame) return known;
    const text = JSON.stringify(describe(kinds));
    const hash = createHash('sha512').update(text).digest('hex').toUpperCase();
    const made = { kinds, text, hash };
    remembered.set(name, made);
    return made;
  };

  return {
    index() {
      const names = [...kindsByName()].sort(([a], [b]) => (a < b ? -1 : 1));
      const entries = names.map(([name, kinds]) => [
        name,
        { serverRelativeURL: addressOf(name, documentOf(name, kinds)) },
      ]);
      return { paths: Object.fromEntries(entries) };
    },
    document(name) {
      const kinds = kindsByName().get(name);
      return kinds === undefined ? undefined : documentOf(name, kinds);
    },
  };
}

/** Where a document is found as long as it is this very one. */
export function addressOf(name: string, { hash }: OpenApiDocument): string {
  return `${PREFIX}${name}?hash=${hash}`;
}

function describe(kinds: readonly Operable[]): object {
  const components = makeComponents();
  const paths = Object.assign({}, ...kinds.map((one) => pathsOf(one, components))) as Record<string, object>;
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: '1.36' },
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: { schemas: components.all() },
  };
}

function askable(review: AccessReview): Operable {
  return {
    ...review,
    type: `${review.group.split('.')[0]}.${review.kind}`,
    listKind: `${review.kind}List`,
    verbs: ['create'],
    subresources: [],
  };
}
