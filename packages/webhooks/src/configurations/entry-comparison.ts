/**
 * Whether the webhooks in the cluster are those that we want, although the API server does not keep them literally:
 * it adds the defaults and drops what is empty. Pure.
 */
import { deepEqual, isMapping, type Mapping } from '@kopf-ts/core';

/** How strictly to compare. `'ours'`: it is enough if the server is trusted in our name; others may be trusted beside us. */
export type Strictness = 'exact' | 'ours';

/** Whether there is nothing to change: neither in the webhooks, nor in their order. */
export function areSameWebhooks(
  actual: unknown,
  desired: readonly Mapping[],
  strictness: Strictness = 'exact',
): boolean {
  const webhooks: readonly unknown[] = Array.isArray(actual) ? actual : [];
  return (
    webhooks.length === desired.length &&
    desired.every((wanted, index) => isSameWebhook(webhooks[index], wanted, strictness))
  );
}

function isSameWebhook(actual: unknown, desired: Mapping, strictness: Strictness): boolean {
  const [one, two] = [normalised(actual), normalised(desired)];
  // Fields of newer versions of the API are none of our business, unless we set them.
  const keys = new Set([...Object.keys(two), ...Object.keys(DEFAULTS)]);
  for (const key of keys) {
    if (key === 'clientConfig' || deepEqual(one[key], two[key])) continue;
    return false;
  }
  const [theirs, ours] = [one['clientConfig'] as Mapping, two['clientConfig'] as Mapping];
  const { caBundle: theirAuthorities, ...theirAddress } = theirs;
  const { caBundle: ourAuthorities, ...ourAddress } = ours;
  if (!deepEqual(theirAddress, ourAddress)) return false;
  return (
    theirAuthorities === ourAuthorities || (strictness === 'ours' && includesAll(theirAuthorities, ourAuthorities))
  );
}

/** What is there if nothing is said; and so it can be said or not. */
const DEFAULTS: Mapping = {
  rules: [],
  matchConditions: [],
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  reinvocationPolicy: 'Never',
  timeoutSeconds: 10,
};

const SERVICE_DEFAULTS: Mapping = { port: 443 };
const RULE_DEFAULTS: Mapping = { scope: '*' };

function normalised(webhook: unknown): Mapping {
  const given = { ...DEFAULTS, ...withoutNothing(webhook) };
  const clientConfig = withoutNothing(given['clientConfig']);
  const { service, caBundle, ...address } = clientConfig;
  const rules: readonly unknown[] = Array.isArray(given['rules']) ? given['rules'] : [];
  return {
    ...given,
    rules: rules.map((rule) => ({ ...RULE_DEFAULTS, ...withoutNothing(rule) })),
    namespaceSelector: withoutEmptiness(given['namespaceSelector']),
    objectSelector: withoutEmptiness(given['objectSelector']),
    clientConfig: {
      ...address,
      ...(service === undefined ? {} : { service: { ...SERVICE_DEFAULTS, ...withoutNothing(service) } }),
      ...(typeof caBundle === 'string' && caBundle !== '' ? { caBundle: canonical(caBundle) } : {}),
    },
  };
}

/** On the wire, `null` is as good as nothing. */
function withoutNothing(value: unknown): Mapping {
  if (!isMapping(value)) return {};
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null && field !== undefined));
}

function withoutEmptiness(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmptiness);
  if (!isMapping(value)) return value;
  return Object.fromEntries(
    Object.entries(withoutNothing(value))
      .map(([key, field]) => [key, withoutEmptiness(field)] as const)
      .filter(([, field]) => !isEmpty(field)),
  );
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isMapping(value) && Object.keys(value).length === 0;
}

/** Base64 can be written in several ways, but is read in one. */
function canonical(base64: string): string {
  return Buffer.from(base64, 'base64').toString('base64');
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

function includesAll(theirs: unknown, ours: unknown): boolean {
  if (typeof theirs !== 'string' || typeof ours !== 'string') return false;
  const known = new Set(certificatesOf(theirs));
  const needed = certificatesOf(ours);
  return needed.length > 0 && needed.every((certificate) => known.has(certificate));
}

function certificatesOf(caBundle: string): string[] {
  const pem = Buffer.from(caBundle, 'base64').toString();
  return (pem.match(CERTIFICATE) ?? []).map((certificate) => certificate.replace(/\s+/g, ''));
}
