/** What all verbs work with, and what one request is to them. */

import type { Clock } from '@kopf-ts/core';
import type { AdmissionPlugin, OwnAdmission } from '../contracts/admission.js';
import type { ServiceAccountTokens } from '../contracts/authentication.js';
import type { Authorizer } from '../contracts/authorization.js';
import type { ApiAnswer, ApiRequest } from '../contracts/request.js';
import type { Containers } from '../contracts/simulated-containers.js';
import type { Store } from '../contracts/store.js';
import type { ServedCatalog } from '../kinds/catalog.js';
import type { Served } from '../kinds/served.js';
import type { TypedDecoder } from '../typed/decode.js';
import type { OpenWatches } from '../watching/open-watches.js';

export interface Backend {
  readonly store: Store;
  readonly catalog: ServedCatalog;
  readonly clock: Clock;
  readonly admission: readonly AdmissionPlugin[];
  readonly ownAdmission: OwnAdmission;
  readonly watches: OpenWatches;
  readonly decode: TypedDecoder;
  readonly authorizer: Authorizer;
  readonly serviceAccounts: ServiceAccountTokens;
  /** What simulated containers print and answer; nothing while nothing is simulated. */
  readonly containers?: () => Containers | undefined;
}

/** A request to a resource, taken apart. */
export interface Call {
  readonly request: ApiRequest;
  readonly served: Served;
  /** Empty for all namespaces, and for cluster-scoped kinds. */
  readonly namespace: string;
  /** Empty for collections. */
  readonly name: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly query: URLSearchParams;
  /** The old way to ask for a watch: by the path. */
  readonly isWatchPath: boolean;
  readonly warnings: string[];
}

const JSON_TYPE = 'application/json';

export function jsonAnswer(status: number, body: string): ApiAnswer {
  return { status, headers: { 'content-type': JSON_TYPE }, body, isLine: true };
}

/** The time as Kubernetes writes it: UTC, whole seconds. */
export function timestampOf(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}
