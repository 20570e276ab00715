/** All that the controller manager of a real cluster does here. */
import type { Controller } from '../contracts/controller.js';
import { eventExpiry } from './event-expiry.js';
import { garbageCollector } from './garbage-collector.js';
import { namespaceController } from './namespace-controller.js';
import { quotaController } from './resource-quotas.js';
import { roleAggregation } from './role-aggregation.js';
import { rootCertificatePublisher } from './root-certificates.js';
import { serviceAccountController } from './service-accounts.js';

/** In the order in which they are started. */
export const controllersOf = (certificate: string | undefined): readonly Controller[] => [
  namespaceController,
  garbageCollector,
  serviceAccountController,
  roleAggregation,
  quotaController,
  eventExpiry,
  ...(certificate === undefined ? [] : [rootCertificatePublisher(certificate)]),
];
