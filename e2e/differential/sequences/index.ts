/** The table: areas of behaviour, and what is asked in each. */
import type { Sequence } from '../harness/sequence.js';
import { applying } from './applying.js';
import { autoscalers } from './autoscalers.js';
import { clusterKinds } from './cluster-kinds.js';
import { coreKinds } from './core-kinds.js';
import { definitions } from './definitions.js';
import { discovery } from './discovery.js';
import { dryRun } from './dry-run.js';
import { finalizers } from './finalizers.js';
import { found } from './found.js';
import { garbage } from './garbage.js';
import { generatedNames } from './generated-names.js';
import { hostile } from './hostile.js';
import { identity } from './identity.js';
import { invalidObjects } from './invalid-objects.js';
import { limits } from './limits.js';
import { locking } from './locking.js';
import { managers } from './managers.js';
import { metadata } from './metadata.js';
import { otherKinds } from './other-kinds.js';
import { outside } from './outside.js';
import { paging } from './paging.js';
import { patches } from './patches.js';
import { podDeletion } from './pod-deletion.js';
import { podSecurity } from './pod-security.js';
import { proxies } from './proxies.js';
import { quotasAndLimits } from './quotas.js';
import { authReviews } from './reviews.js';
import { schemas } from './schemas.js';
import { selectors } from './selectors.js';
import { serviceAccounts } from './service-accounts.js';
import { strategic } from './strategic.js';
import { subresources } from './subresources.js';
import { tablesOfKinds } from './tables.js';
import { termination } from './termination.js';
import { verbs } from './verbs.js';
import { versions } from './versions.js';
import { watches } from './watches.js';
import { webhooks } from './webhooks.js';
import { workloads } from './workloads.js';

export const areas: Readonly<Record<string, readonly Sequence[]>> = {
  'discovery, version and health': discovery,
  'kinds of the core': coreKinds,
  'workloads and jobs': workloads,
  'kinds of other groups': otherKinds,
  'autoscalers, budgets and evictions': autoscalers,
  'storage, priorities, slices and certificates': clusterKinds,
  'proxies to pods and services': proxies,
  'quotas, limits and priorities': quotasAndLimits,
  'standards of pod security': podSecurity,
  'reviews of authentication and authorization': authReviews,
  'users, roles and impersonation': identity,
  'service accounts and their tokens': serviceAccounts,
  verbs,
  'dry runs': dryRun,
  'names, given and generated': generatedNames,
  selectors,
  'limit and continue': paging,
  'versions of lists': versions,
  watches,
  'metadata and generations': metadata,
  'locking and preconditions': locking,
  'finalizers and deletion': finalizers,
  'status and scale': subresources,
  patches,
  'strategic merge patches': strategic,
  tables: tablesOfKinds,
  'managers of fields': managers,
  'server-side apply': applying,
  'custom resource definitions': definitions,
  'structural schemas': schemas,
  'admission webhooks': webhooks,
  'termination of namespaces': termination,
  'garbage collection': garbage,
  'wrong and hostile input': hostile,
  limits,
  'deletion of pods': podDeletion,
  'invalid objects': invalidObjects,
  'what generated requests have found': found,
  'what others have found': outside,
};
