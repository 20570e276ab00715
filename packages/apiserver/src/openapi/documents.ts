/** The descriptions of the API in OpenAPI 3: one document per group and version, and an index of them. */
import { createHash } from 'node:crypto';
import type { Mapping } from '@kopf-ts/core';
import type { ServedCatalog } from '../kinds/catalog.js';
import type { AccessReview } from '../routing/discovery.js';
import { type Descriptions, loadDescriptions } from '../schemas/descriptions.js';
import { typeNameOf } from '../schemas/types.js';
import { type Operable, pathsOf } from './operations.js';
import { makeComponents } from './schemas.js';
import { type VersionThree, versionTwo } from './version-two.js';
import { encodeVersionTwo } from './version-two-protobuf.js';

export interface OpenApi {
  /** `/openapi/v3` */
  index(): object;
  /** By its name in the index, such as `api/v1` or `apis/example.com/v1`; `undefined` if there is none. */
  document(name: string): OpenApiDocument | undefined;
  /** `/openapi/v2`: everything at once, in the old format. */
  versionTwo(): OpenApiVersionTwo;
}

export interface OpenApiDocument {
  /** It changes whenever the content does, so that clients may keep what they have got. */
  readonly hash: string;
  content(): Promise<{ readonly text: string }>;
}

interface OpenApiVersionTwo extends OpenApiDocument {
  /** The same as protobuf. */
  protobuf(): Promise<Buffer>;
}

interface Remembered extends OpenApiDocument {
  readonly kinds: readonly Operable[];
  content(): Promise<{ readonly text: string; readonly data: VersionThree }>;
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
  const documentOf = (name: string, kinds: readonly Operable[]): Remembered => {
    const known = remembered.get(name);
    const isSame = known?.kinds.length === kinds.length && known.kinds.every((one, index) => one === kinds[index]);
    if (known !== undefined && isSame) return known;
    let made: { readonly data: VersionThree; readonly text: string } | undefined;
    // Descriptions are long, and mostly only their hashes are asked for: these are of what they are made of.
    const content = async () => {
      if (made !== undefined) return made;
      const data = describe(kinds, await loadDescriptions());
      made = { data, text: JSON.stringify(data) };
      return made;
    };
    const document = { kinds, hash: hashOf(JSON.stringify(kinds)), content };
    remembered.set(name, document);
    return document;
  };
  const allDocuments = (): readonly (readonly [string, Remembered])[] =>
    [...kindsByName()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, kinds]) => [name, documentOf(name, kinds)] as const);
  let old: OpenApiVersionTwo | undefined;

  return {
    index() {
      const entries = allDocuments().map(([name, one]) => [name, { serverRelativeURL: addressOf(name, one) }]);
      return { paths: Object.fromEntries(entries) };
    },
    document(name) {
      const kinds = kindsByName().get(name);
      return kinds === undefined ? undefined : documentOf(name, kinds);
    },
    versionTwo() {
      const documents = allDocuments().map(([, document]) => document);
      const hash = hashOf(documents.map((document) => document.hash).join());
      if (old?.hash === hash) return old;
      let data: Mapping | undefined;
      const dataOf = async (): Promise<Mapping> => {
        if (data !== undefined) return data;
        const all = await Promise.all(documents.map((document) => document.content()));
        data = versionTwo(all.map((one) => one.data));
        return data;
      };
      let bytes: Buffer | undefined;
      old = {
        hash,
        content: async () => ({ text: JSON.stringify(await dataOf()) }),
        async protobuf() {
          bytes ??= encodeVersionTwo(await dataOf());
          return bytes;
        },
      };
      return old;
    },
  };
}

function hashOf(text: string): string {
  return createHash('sha512').update(text).digest('hex').toUpperCase();
}

/** Where a document is found as long as it is this very one. */
export function addressOf(name: string, { hash }: OpenApiDocument): string {
  return `${PREFIX}${name}?hash=${hash}`;
}

function describe(kinds: readonly Operable[], descriptions: Descriptions): VersionThree {
  const { group = '', version = '' } = kinds[0] ?? {};
  const components = makeComponents(descriptions, { group, version });
  const paths = Object.assign({}, ...kinds.map((one) => pathsOf(one, components))) as Record<string, Mapping>;
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: '1.36' },
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: { schemas: components.all() as Record<string, Mapping> },
  };
}

function askable(review: AccessReview): Operable {
  return {
    ...review,
    type: typeNameOf(review.group, review.version, review.kind) ?? '',
    listKind: `${review.kind}List`,
    verbs: ['create'],
    subresources: [],
  };
}
