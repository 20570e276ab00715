/** How long a handler may take, so that its answer still comes before the API server gives up. */
import type { Seconds } from '@kopf-ts/core';
import type { WebhookHandler } from '@kopf-ts/core/engine';

/** What the API server is told in the configurations, where the handler says nothing else; and what it permits at most. */
const DEFAULT_TIMEOUT: Seconds = 30;

/** For the way of the answer through the network, and for a busy machine on either end. */
const MARGIN: Seconds = 0.5;
const MARGIN_PART = 0.05;

/** Since the review has come in. Of a very short time, at least a half is the handler's. */
export function deadlineOf({ timeoutSeconds }: Pick<WebhookHandler, 'timeoutSeconds'>, patience?: Seconds): Seconds {
  const declared = timeoutSeconds ?? DEFAULT_TIMEOUT;
  const isTold = patience !== undefined && patience > 0;
  const timeout = isTold ? Math.min(patience, declared) : declared;
  return timeout - Math.min(Math.max(MARGIN, timeout * MARGIN_PART), timeout / 2);
}
