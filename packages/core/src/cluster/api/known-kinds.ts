/** Resolves kinds to resources. The cluster is asked once, and again when a kind is not known yet. */
import { KopfError } from '../../errors.js';
import type { ObjectKind } from '../../seams/api.js';
import type { KubeClient } from '../../seams/client.js';
import { formatResource, type Resource, type ResourceToken } from '../../values/resources/resource.js';
import { parseSelector, type Selector, scopeMistake } from '../../values/resources/selector.js';
import { nearNames } from '../../values/suggestions.js';
import { discover } from '../discover.js';

// biome-ignore lint/suspicious/noExplicitAny: a token of whatever object names a kind all the same
export type Kind = string | ObjectKind | ResourceToken<any>;

export interface Kinds {
  resourceOf(kind: Kind, signal: AbortSignal | undefined): Promise<Resource>;
  /** The cached resources turned out to be outdated. */
  forget?(): void;
}

/** One list of resources per client. */
const byClient = new WeakMap<KubeClient, Kinds>();

export function kindsOf(client: KubeClient): Kinds {
  let kinds = byClient.get(client);
  if (kinds === undefined) {
    kinds = discoveredKinds(client);
    byClient.set(client, kinds);
  }
  return kinds;
}

function discoveredKinds(client: KubeClient): Kinds {
  let known: readonly Resource[] = [];
  let asking: Promise<readonly Resource[]> | undefined;
  /** All concurrent callers share one request; so no caller's signal aborts it. */
  const ask = (): Promise<readonly Resource[]> => {
    asking ??= discover(client)
      .then(({ resources }) => {
        known = resources;
        return resources;
      })
      .finally(() => {
        asking = undefined;
      });
    return asking;
  };
  return {
    forget() {
      known = [];
    },
    async resourceOf(kind, signal) {
      signal?.throwIfAborted();
      const selector = selectorOf(kind);
      let found = selector.select(known);
      if (found.size === 0) found = selector.select(await ask());
      signal?.throwIfAborted();
      if (found.size > 1) throw ambiguousKind(kind, found);
      const [only] = found;
      if (only === undefined) throw unknownKind(kind, known);
      const mistake = scopeMistake(selector, only);
      if (mistake !== undefined) throw new KopfError(mistake, { code: 'KOPF_WRONG_SCOPE' });
      return only;
    },
  };
}

function selectorOf(kind: Kind): Selector {
  if (typeof kind !== 'string' && (typeof kind !== 'object' || kind === null)) {
    throw new KopfError(
      `A kind is a token, a name, or an object with apiVersion and kind, and not ${kind === null ? 'null' : typeof kind}.`,
      { code: 'KOPF_BAD_KIND' },
    );
  }
  const selector = parseSelector(isObjectKind(kind) ? fieldsOf(kind) : kind);
  if (selector.isSpecific) return selector;
  throw new KopfError(`${String(selector)} means several kinds, while verbs are for one.`, { code: 'KOPF_BAD_KIND' });
}

function isObjectKind(kind: Kind): kind is ObjectKind {
  return typeof kind === 'object' && kind !== null && 'apiVersion' in kind && 'kind' in kind;
}

function fieldsOf({ apiVersion, kind }: ObjectKind) {
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || apiVersion === '' || kind === '') {
    throw new KopfError(
      `The apiVersion and the kind of an object are texts, and not ${JSON.stringify({ apiVersion, kind })}.`,
      {
        code: 'KOPF_BAD_KIND',
      },
    );
  }
  const slash = apiVersion.indexOf('/');
  return { group: slash < 0 ? '' : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1), kind };
}

function unknownKind(kind: Kind, known: readonly Resource[]): KopfError {
  const { anyName, plural, kind: name } = selectorOf(kind);
  const wanted = String(anyName ?? plural ?? name ?? '');
  const near = known.filter((resource) => resource.preferred && isNear(wanted, resource)).slice(0, 3);
  const hint =
    near.length > 0
      ? `Did you mean ${near.map((resource) => `'${formatResource(resource)}'`).join(' or ')}?`
      : 'If it is a custom one, create its CRD first.';
  return new KopfError(`The cluster has no kind ${titleOf(kind)}. ${hint}`, { code: 'KOPF_UNKNOWN_KIND' });
}

function ambiguousKind(kind: Kind, found: ReadonlySet<Resource>): KopfError {
  const ways = [...found].map(
    ({ group, version, plural }) => `'${[group, version, plural].filter(Boolean).join('/')}'`,
  );
  return new KopfError(`${titleOf(kind)} is the name of several kinds. Write one of ${ways.join(', ')}.`, {
    code: 'KOPF_AMBIGUOUS_KIND',
  });
}

function titleOf(kind: Kind): string {
  if (typeof kind === 'string') return `'${kind}'`;
  return isObjectKind(kind) ? `'${kind.kind}' of ${kind.apiVersion}` : String(parseSelector(kind));
}

/** Of any kind, also of one that is none: what is wrong with it is told elsewhere. */
export function titleOfKind(kind: Kind): string | undefined {
  if (typeof kind === 'string') return kind;
  if (typeof kind !== 'object' || kind === null) return undefined;
  if ('selector' in kind) return String(parseSelector(kind));
  const { kind: name } = kind as Partial<ObjectKind>;
  return typeof name === 'string' ? name : undefined;
}

/** Names that differ by a letter or two, or by singular and plural. */
function isNear(wanted: string, { plural, singular = '', kind = '' }: Resource): boolean {
  return nearNames(wanted, [plural, singular, kind]).length > 0;
}
