/** The default: everybody with credentials may do everything, and anybody may ask how the server is. */
import type { Authorizer } from '../contracts/authorization.js';
import { isAnonymous } from './users.js';

const PUBLIC: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz', '/version', '/version/']);

export const allowAll: Authorizer = {
  isEnforcing: false,
  decide(user, access) {
    const isPublic = access.kind === 'path' && access.verb === 'get' && PUBLIC.has(access.path);
    return { isAllowed: isPublic || !isAnonymous(user), reason: '' };
  },
  rulesOf: () => ({
    rules: [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    ],
    problems: [],
  }),
};
