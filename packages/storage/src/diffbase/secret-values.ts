/**
 * Keeps the values of Secrets out of their last handled states, which lie in the open: in annotations that are shown
 * by `kubectl describe`, by dashboards and in backups, where the data themselves are masked or left out.
 *
 * Each value is replaced with its digest, salted by the object's uid and by the place of the value, so that equal
 * values of different objects or keys look different, and precomputed tables are of no use. It is not encryption:
 * a reader of the digest can try guesses one by one, as the uid stands nearby. A random password or key cannot be
 * found so; a short or a common one can. A slow hash would make guessing dearer, but it would also be paid for on
 * each event of each Secret.
 */
import { createHmac } from 'node:crypto';
import {
  type Body,
  deepCopy,
  type Essence,
  getOwn,
  isDigestOnly,
  isMapping,
  type Resource,
  resolveField,
  setOwn,
} from '@kopf-ts/core';
import { compactJson } from '../compact-json.js';
import type { Compat } from '../progress/progress-records.js';

/**
 * How the values of Secrets are kept: as salted digests, or as they are (as Kopf does).
 *
 * ```ts
 * const secrets: kopf.storage.SecretsMode = 'digests';
 * const storage = kopf.storage.annotationsDiffBaseStorage({ secrets });
 * ```
 */
export type SecretsMode = 'digests' | 'plain';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** What the options of a storage say of Secrets. Asked at each use, since they may be getters. */
interface SecretsOptions {
  readonly secrets?: SecretsMode;
  readonly compat?: Compat;
}

/** Conceals the values of Secrets in the essences of a storage with these options. */
export function concealing(options: SecretsOptions): (essence: Essence, object: ObjectOfKind) => Essence {
  return (essence, object) => {
    if (!isSecret(object)) return essence;
    const secretsArePlain = options.compat === 'kopf' || options.secrets === 'plain';
    return secretsArePlain ? essence : withoutSecrets(essence, object);
  };
}

interface ObjectOfKind {
  readonly body: Body;
  readonly resource?: Resource | undefined;
}

/**
 * The essence of a Secret with digests instead of the values. What is digested already is left as it is, so the essence
 * may go through it any number of times.
 */
function withoutSecrets(essence: Essence, object: ObjectOfKind): Essence {
  if (isDigestOnly(essence)) return essence;
  const salt = String(object.body.metadata?.uid ?? '');
  const masked = deepCopy(essence);
  for (const stanza of ['data', 'stringData']) {
    const values = getOwn(masked, stanza);
    if (values !== undefined) setOwn(masked, stanza, digested(values, salt, [stanza]));
  }
  // It normally is not in essences, but comes along with all annotations if a handler looks at them as a field.
  const annotations = resolveField(masked, ['metadata', 'annotations']);
  if (isMapping(annotations) && getOwn(annotations, LAST_APPLIED) !== undefined) {
    annotations[LAST_APPLIED] = digested(annotations[LAST_APPLIED], salt, ['metadata', 'annotations', LAST_APPLIED]);
  }
  return masked;
}

function isSecret({ body, resource }: ObjectOfKind): boolean {
  const isSoByItself = body.apiVersion === 'v1' && body.kind === 'Secret';
  const isSoByResource = resource?.group === '' && resource.plural === 'secrets';
  return isSoByItself || isSoByResource;
}

/** How deep the data are looked into. */
const MAX_PATH = 100;

/** The colon is what makes it different from any real value, since those are in base64. */
const DIGEST = /^sha256:[0-9a-f]{64}$/;

function digested(value: unknown, salt: string, path: readonly string[]): unknown {
  // Real data are texts, not trees: what is deep is taken as one value.
  if (isMapping(value) && path.length < MAX_PATH) {
    const masked = {};
    for (const key of Object.keys(value)) setOwn(masked, key, digested(value[key], salt, [...path, key]));
    return masked;
  }
  const isNothingToHide = value === null || (typeof value === 'string' && DIGEST.test(value));
  if (isNothingToHide) return value;
  const text = compactJson([path, value]);
  return `sha256:${createHmac('sha256', salt).update(text).digest('hex')}`;
}
