/** Between authentication and the pipeline: who acts, and whether they may. */
import type { Authorizer } from '../contracts/authorization.js';
import type { UserInfo } from '../contracts/objects.js';
import type { RequestHead } from '../contracts/request.js';
import { unauthorized } from '../http/status-errors.js';
import { impersonation, isImpersonating } from './impersonation.js';
import { accessForbidden } from './refusals.js';
import { requestedAccess } from './requested-access.js';
import { isAnonymous } from './users.js';

export interface Gatekeeper {
  /** The user in whose name the request is handled. Throws if that is not allowed. */
  admit(head: RequestHead, user: UserInfo): UserInfo;
}

export function makeGatekeeper(authorizer: Authorizer): Gatekeeper {
  const { effectiveUser } = impersonation(authorizer);
  return {
    admit(head, user) {
      // By far the most frequent case, for which there is nothing to find out.
      if (!authorizer.isEnforcing && !isAnonymous(user) && !isImpersonating(head)) return user;
      const access = requestedAccess(head.method, head.url);
      const effective = effectiveUser(user, head, access);
      const { isAllowed, reason } = authorizer.decide(effective, access);
      if (isAllowed) return effective;
      // Where roles are not enforced, strangers are not told what they would need: they need to say who they are.
      if (!authorizer.isEnforcing && isAnonymous(user)) throw unauthorized();
      throw accessForbidden(effective, access, reason);
    },
  };
}
