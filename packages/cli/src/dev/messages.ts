/** What `kopf dev` and the process of its operator tell each other. */
import type { Bundle } from '../loading/bundle.js';

/** Set for processes of operators that take their handlers from their parents: the kubeconfig to be used, and no other. */
export const CHILD_VARIABLE = 'KOPF_DEV_OPERATOR';

export type ToOperator =
  | { readonly kopf: 'load'; readonly bundle: Bundle }
  | { readonly kopf: 'stop'; readonly reason: string };

export function isForOperator(message: unknown): message is ToOperator {
  return typeof message === 'object' && message !== null && 'kopf' in message;
}
