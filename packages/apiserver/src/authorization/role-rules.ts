/** Rules of roles: what they allow, whether one allows all that another does, and how they read in messages. */
import type { Access, Rule } from '../contracts/authorization.js';
import { goQuote } from '../text/go-text.js';

const ANY = '*';
const NONE: readonly string[] = [];

const includes = (list: readonly string[] | undefined, value: string): boolean =>
  list !== undefined && (list.includes(ANY) || list.includes(value));

/** Does the rule allow it? */
export function allows(rule: Rule, access: Access): boolean {
  if (!includes(rule.verbs, access.verb)) return false;
  if (access.kind === 'path') return (rule.nonResourceURLs ?? NONE).some((url) => isPathIn(url, access.path));
  const { resourceNames = NONE } = rule;
  return (
    includes(rule.apiGroups, access.group) &&
    (rule.resources ?? NONE).some((one) => isResourceIn(one, access.resource, access.subresource)) &&
    (resourceNames.length === 0 || resourceNames.includes(access.name))
  );
}

function isPathIn(url: string, path: string): boolean {
  return url === ANY || url === path || (url.endsWith(ANY) && path.startsWith(url.slice(0, -1)));
}

/** `pods`, `pods/log`, or the same subresource of everything: `*` + `/scale`. */
function isResourceIn(allowed: string, resource: string, subresource: string): boolean {
  if (allowed === ANY || allowed === (subresource === '' ? resource : `${resource}/${subresource}`)) return true;
  return subresource !== '' && allowed === `${ANY}/${subresource}`;
}

/** What of the wanted rules is not covered by the held ones: the smallest parts, for resources with all their verbs. */
export function missingRules(held: readonly Rule[], wanted: readonly Rule[]): readonly string[] {
  const missing = wanted.flatMap(partsOf).filter((part) => !held.some((rule) => covers(rule, part)));
  const joined = new Map<string, { readonly part: Rule; readonly verbs: Set<string> }>();
  for (const part of missing) {
    const key = JSON.stringify(part.nonResourceURLs === undefined ? { ...part, verbs: NONE } : part);
    const known = joined.get(key);
    if (known === undefined) joined.set(key, { part, verbs: new Set(part.verbs) });
    else for (const verb of part.verbs) known.verbs.add(verb);
  }
  return [...joined.values()].map(({ part, verbs }) => textOfRule({ ...part, verbs: [...verbs] })).sort();
}

/** One verb on one resource of one group, or on one path. */
function partsOf(rule: Rule): readonly Rule[] {
  const { apiGroups = NONE, resources = NONE, resourceNames = NONE, nonResourceURLs = NONE } = rule;
  const ofResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      (resourceNames.length === 0 ? [undefined] : resourceNames).map(
        (name): Omit<Rule, 'verbs'> => ({
          apiGroups: [group],
          resources: [resource],
          ...(name === undefined ? {} : { resourceNames: [name] }),
        }),
      ),
    ),
  );
  const ofPaths = nonResourceURLs.map((url): Omit<Rule, 'verbs'> => ({ nonResourceURLs: [url] }));
  return [...ofResources, ...ofPaths].flatMap((part) => rule.verbs.map((verb) => ({ verbs: [verb], ...part })));
}

function covers(rule: Rule, part: Rule): boolean {
  const [verb = ''] = part.verbs;
  if (!includes(rule.verbs, verb)) return false;
  const [url] = part.nonResourceURLs ?? NONE;
  if (url !== undefined) return (rule.nonResourceURLs ?? NONE).some((one) => isPathIn(one, url));
  const [group = ''] = part.apiGroups ?? NONE;
  const [resource = ''] = part.resources ?? NONE;
  const [name] = part.resourceNames ?? NONE;
  const [base = '', subresource = ''] = resource.split('/');
  const { resourceNames = NONE } = rule;
  return (
    includes(rule.apiGroups, group) &&
    (rule.resources ?? NONE).some((one) => isResourceIn(one, base, subresource)) &&
    (resourceNames.length === 0 || (name !== undefined && resourceNames.includes(name)))
  );
}

function textOfRule({ apiGroups, resources, resourceNames, nonResourceURLs, verbs }: Rule): string {
  const fields: readonly (readonly [string, readonly string[] | undefined])[] = [
    ['APIGroups', apiGroups],
    ['Resources', resources],
    ['NonResourceURLs', nonResourceURLs],
    ['ResourceNames', resourceNames],
    ['Verbs', verbs],
  ];
  const shown = fields.filter(([, list]) => list !== undefined && list.length > 0);
  return `{${shown.map(([name, list]) => `${name}:${textOfList(list ?? NONE)}`).join(', ')}}`;
}

/** As lists of strings are printed there: `["a" "b"]`. */
export function textOfList(list: readonly string[]): string {
  return `[${list.map(goQuote).join(' ')}]`;
}
