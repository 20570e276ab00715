/** Every namespace has an account for what has none of its own. */
import type { Controller } from '../contracts/controller.js';
import { inEveryNamespace } from './namespaced-object.js';

const NAME = 'default';

export const serviceAccountController: Controller = inEveryNamespace({
  user: 'system:serviceaccount:kube-system:service-account-controller',
  collection: 'serviceaccounts',
  name: NAME,
  objectFor: () => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: NAME } }),
  isRight: () => true,
});
