/** Who is known to everybody: groups, names, and what they mean. */
import type { UserInfo } from '../contracts/objects.js';

export const MASTERS = 'system:masters';
const AUTHENTICATED = 'system:authenticated';
const UNAUTHENTICATED = 'system:unauthenticated';
const SERVICE_ACCOUNT = 'system:serviceaccount:';

/** A user without credentials. */
export const ANONYMOUS: UserInfo = { username: 'system:anonymous', groups: [UNAUTHENTICATED] };

export const isAnonymous = ({ username }: UserInfo): boolean => username === ANONYMOUS.username;

/** The name of a service account as a user. */
export const usernameOfAccount = (namespace: string, name: string): string => `${SERVICE_ACCOUNT}${namespace}:${name}`;

/** The account of such a user; `undefined` if it is somebody else. */
export function accountOf(username: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!username.startsWith(SERVICE_ACCOUNT)) return undefined;
  const [namespace = '', name = '', ...more] = username.slice(SERVICE_ACCOUNT.length).split(':');
  const isName = (text: string): boolean => /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/.test(text);
  return more.length === 0 && isName(namespace) && isName(name) ? { namespace, name } : undefined;
}

export const groupsOfAccount = (namespace: string): readonly string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
];

/** Everybody with credentials is in one more group. */
export function withAuthenticated(groups: readonly string[]): readonly string[] {
  const isSettled = groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED);
  return isSettled ? groups : [...groups, AUTHENTICATED];
}

/** With the groups that the user has anyway: those of accounts, unless others are given, and that of everybody. */
export function completed({ groups, ...user }: Partial<UserInfo> & Pick<UserInfo, 'username'>): UserInfo {
  const account = groups === undefined ? accountOf(user.username) : undefined;
  const own = account === undefined ? (groups ?? []) : groupsOfAccount(account.namespace);
  return { ...user, groups: withAuthenticated([...new Set(own)]) };
}
