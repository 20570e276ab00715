/**
 * Requests in the name of somebody else, by the `Impersonate-…` headers.
 *
 * There are two ways to be allowed to. With the verb `impersonate` on users, groups and so on, one becomes them
 * altogether. With `impersonate:user-info` (or another mode) on them, and `impersonate-on:user-info:list` on what is
 * requested, one becomes them for that only.
 */
import type { Access, Authorizer, ResourceAccess } from '../contracts/authorization.js';
import type { UserInfo } from '../contracts/objects.js';
import type { RequestHead } from '../contracts/request.js';
import { badRequest, type StatusError } from '../http/status-errors.js';
import { goQuote } from '../text/go-text.js';
import { accessForbidden } from './refusals.js';
import { ANONYMOUS, accountOf, groupsOfAccount, isAnonymous, MASTERS, withAuthenticated } from './users.js';

interface WantedUser {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

/** `impersonate` is for everything; the others are also asked for on what is requested. */
type Mode = 'impersonate' | 'user-info' | 'serviceaccount' | 'arbitrary-node';

export interface Impersonation {
  /** The user in whose name the request is. Throws if that is not allowed. */
  effectiveUser(user: UserInfo, head: RequestHead, access: Access): UserInfo;
}

export function impersonation(authorizer: Authorizer): Impersonation {
  /** Refusals are told by the mode by which the user could impersonate somebody the last time. */
  const lastModes = new Map<string, Mode>();
  return {
    effectiveUser(user, head, access) {
      const wanted = wantedUser(head);
      if (wanted === undefined) return user;
      const last = lastModes.get(user.username);
      const modes = modesFor(wanted);
      if (last !== undefined && modes.includes(last)) modes.unshift(last);
      const refusals: StatusError[] = [];
      for (const mode of modes) {
        const refusal = refusalBy(mode, authorizer, user, wanted, access);
        if (refusal === undefined) {
          lastModes.set(user.username, mode);
          return settled(wanted);
        }
        refusals.push(refusal);
      }
      throw refusals[0] as StatusError;
    },
  };
}

const PREFIX = 'impersonate-';
const EXTRA = 'impersonate-extra-';

/** Are there such headers at all? */
export function isImpersonating({ headers }: RequestHead): boolean {
  for (const name in headers) if (name.startsWith(PREFIX)) return true;
  return false;
}

/** `undefined` if there are no such headers. */
function wantedUser(head: RequestHead): WantedUser | undefined {
  if (!isImpersonating(head)) return undefined;
  const { headers, headerLists } = head;
  const names = Object.keys(headers);
  const lists = headerLists?.() ?? {};
  const valuesOf = (name: string): readonly string[] =>
    lists[name] ?? (headers[name] === undefined ? [] : [headers[name]]);
  const [username = ''] = valuesOf('impersonate-user');
  const [uid = ''] = valuesOf('impersonate-uid');
  const groups = valuesOf('impersonate-group');
  const extra = new Map(
    names
      .filter((name) => name.startsWith(EXTRA))
      .sort()
      .map((name) => [unescaped(name.slice(EXTRA.length)), valuesOf(name)]),
  );
  if (username !== '') return { username, uid, groups, extra };
  if (uid === '' && groups.length === 0 && extra.size === 0) return undefined;
  throw badRequest(`requested ${goUser(uid, groups, extra)} without impersonating a user name`);
}

/** Names of headers have no slashes; what cannot be decoded is taken as it is. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key).toLowerCase();
  } catch {
    return key;
  }
}

function goUser(uid: string, groups: readonly string[], extra: WantedUser['extra']): string {
  const list = (values: readonly string[]): string =>
    values.length === 0 ? '[]string(nil)' : `[]string{${values.map(goQuote).join(', ')}}`;
  const entries = [...extra].map(([key, values]) => `${goQuote(key)}:${list(values)}`);
  const map = entries.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${entries.join(', ')}}`;
  return `&user.DefaultInfo{Name:"", UID:${goQuote(uid)}, Groups:${list(groups)}, Extra:${map}}`;
}

const NODE = 'system:node:';

/** The narrow modes for accounts and nodes are for their names alone. */
function modesFor({ username, uid, groups, extra }: WantedUser): Mode[] {
  const isNameOnly = uid === '' && groups.length === 0 && extra.size === 0;
  const narrow: Mode =
    accountOf(username) !== undefined ? 'serviceaccount' : username.startsWith(NODE) ? 'arbitrary-node' : 'user-info';
  return narrow === 'user-info' || isNameOnly ? [narrow, 'impersonate'] : ['impersonate'];
}

function refusalBy(
  mode: Mode,
  authorizer: Authorizer,
  user: UserInfo,
  wanted: WantedUser,
  access: Access,
): StatusError | undefined {
  const check = (one: Access): StatusError | undefined => {
    const { isAllowed, reason } = authorizer.decide(user, one);
    return isAllowed ? undefined : accessForbidden(user, one, reason);
  };
  const isNarrow = mode !== 'impersonate';
  const ofAction = isNarrow ? check({ ...access, verb: `impersonate-on:${mode}:${access.verb}` }) : undefined;
  if (ofAction !== undefined) return ofAction;
  for (const one of partsOf(wanted, mode)) {
    const taboo = isNarrow ? tabooOf(one) : undefined;
    const refusal = taboo === undefined ? check(one) : accessForbidden(user, taboo.access, taboo.reason);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

const AUTHENTICATION = 'authentication.k8s.io';

/** All that one has to be allowed to become. */
function partsOf({ username, uid, groups, extra }: WantedUser, mode: Mode): readonly ResourceAccess[] {
  const isNarrow = mode !== 'impersonate';
  const verb = isNarrow ? `impersonate:${mode}` : mode;
  const part = (group: string, resource: string, name: string, more: Partial<ResourceAccess> = {}): ResourceAccess => ({
    kind: 'resource',
    verb,
    group,
    resource,
    subresource: '',
    namespace: '',
    name,
    ...more,
  });
  const group = isNarrow ? AUTHENTICATION : '';
  const account = accountOf(username);
  const subject =
    account !== undefined
      ? part(group, 'serviceaccounts', account.name, { namespace: account.namespace })
      : mode === 'arbitrary-node'
        ? part(group, 'nodes', username.slice(NODE.length))
        : part(group, 'users', username);
  return [
    subject,
    ...(uid === '' ? [] : [part(AUTHENTICATION, 'uids', uid)]),
    ...groups.map((name) => part(group, 'groups', name)),
    ...[...extra].flatMap(([key, values]) =>
      values.map((value) => part(AUTHENTICATION, 'userextras', value, { subresource: key })),
    ),
  ];
}

/** What nobody may become in a narrow mode, whatever the roles say. */
function tabooOf(access: ResourceAccess): { readonly access: ResourceAccess; readonly reason: string } | undefined {
  if (access.resource === 'groups' && access.name === MASTERS) {
    return { access, reason: 'impersonating the system:masters group is not allowed' };
  }
  if (access.resource !== 'userextras' || access.subresource.includes('/')) return undefined;
  const why = `extra.key: Invalid value: ${goQuote(access.subresource)}: must be a domain-prefixed path (such as "acme.io/foo")`;
  return {
    access: { ...access, subresource: '', name: '' },
    reason: `impersonating an invalid key in extra is not allowed: ${why}`,
  };
}

function settled({ username, uid, groups, extra }: WantedUser): UserInfo {
  const account = accountOf(username);
  const implied = account === undefined || groups.length > 0 ? groups : groupsOfAccount(account.namespace);
  return {
    username,
    ...(uid === '' ? {} : { uid }),
    groups: isAnonymous({ username, groups }) ? ANONYMOUS.groups : withAuthenticated(implied),
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
}
