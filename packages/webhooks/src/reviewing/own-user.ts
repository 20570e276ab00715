/** Who the operator itself is for the cluster. Our own marks are exempt from reviews only if it is us who writes them. */
import { type Clock, isMapping, type KubeClient, type Logger, type Seconds, type UserInfo } from '@kopf-ts/core';
import { describeError } from '@kopf-ts/core/engine';

export interface OwnUserParts {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Somebody waits for the review meanwhile. */
const LIMIT: Seconds = 5;
/** How often to ask: after another login, we may be another user; but strangers must not make us ask all the time. */
const PAUSE: Seconds = 10;

/**
 * Tells whether it is us. The cluster is asked when that matters for the first time, and again when an unknown user does
 * what only we should do. Where the cluster does not tell, nobody is us.
 */
export function ownUser({ client, clock, logger }: OwnUserParts): (user: UserInfo) => boolean | Promise<boolean> {
  const names = new Set<string>();
  let asking: Promise<void> | undefined;
  let askedAt: Seconds = Number.NEGATIVE_INFINITY;
  let isReported = false;

  const ask = async (): Promise<void> => {
    try {
      const answer = await client.request<unknown>({
        method: 'POST',
        path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
        retries: 'none',
        timeouts: { total: LIMIT },
      });
      names.add(usernameIn(answer));
      isReported = false;
    } catch (error) {
      if (!isReported) logger.warn(`${UNKNOWN} The cluster says: ${describeError(error)}`);
      isReported = true;
    } finally {
      askedAt = clock.now();
      asking = undefined;
    }
  };

  return ({ username }) => {
    if (typeof username !== 'string' || username === '') return false;
    if (names.has(username)) return true;
    if (asking === undefined && clock.now() - askedAt < PAUSE) return false;
    asking ??= ask();
    return asking.then(() => names.has(username));
  };
}

const UNKNOWN =
  'The operator does not know its own user in the cluster, so admission handlers are asked about its own marks on ' +
  'objects (finalizers, progress), too: a handler that denies them blocks the operator on that object. ' +
  'The operator needs the permission to create selfsubjectreviews of authentication.k8s.io, which everybody has by default.';

function usernameIn(answer: unknown): string {
  const status = isMapping(answer) ? answer['status'] : undefined;
  const user = isMapping(status) ? status['userInfo'] : undefined;
  const name = isMapping(user) ? user['username'] : undefined;
  if (typeof name === 'string' && name !== '') return name;
  throw new TypeError('the answer does not name the user');
}
