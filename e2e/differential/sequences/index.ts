/** The table: areas of behaviour, and what is asked in each. */
import type { Sequence } from '../harness/sequence.js';
import { coreKinds } from './core-kinds.js';
import { definitions } from './definitions.js';
import { discovery } from './discovery.js';
import { dryRun } from './dry-run.js';
import { finalizers } from './finalizers.js';
import { garbage } from './garbage.js';
import { generatedNames } from './generated-names.js';
import { hostile } from './hostile.js';
import { locking } from './locking.js';
import { metadata } from './metadata.js';
import { otherKinds } from './other-kinds.js';
import { paging } from './paging.js';
import { patches } from './patches.js';
import { authReviews } from './reviews.js';
import { schemas } from './schemas.js';
import { selectors } from './selectors.js';
import { subresources } from './subresources.js';
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
  'reviews of authentication and authorization': authReviews,
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
  'custom resource definitions': definitions,
  'structural schemas': schemas,
  'admission webhooks': webhooks,
  'termination of namespaces': termination,
  'garbage collection': garbage,
  'wrong and hostile input': hostile,
};
