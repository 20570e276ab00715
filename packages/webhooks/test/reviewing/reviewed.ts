/** A reviewer on its own: handlers, reviews, and everything around that they can see. */
import {
  type AdmissionRequest,
  type AdmissionResponse,
  type AnyObject,
  createRegistry,
  type Indices,
  type Insights,
  type KubeClient,
  type KubeRequest,
  settings as makeSettings,
  type Registry,
  type Resource,
  type ReviewHints,
  type ReviewRequest,
  type Settings,
  type Tracing,
} from '@kopf-ts/core';
import { type Facts, makeResource } from '@kopf-ts/core/engine';
import { allObjects } from '@kopf-ts/reactor';
import { annotationsDiffBaseStorage, smartProgressStorage } from '@kopf-ts/storage';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { type ReviewParts, reviewer } from '../../src/reviewing/reviewer.js';

export const EXAMPLES: Resource = makeResource({
  group: 'kopf.dev',
  version: 'v1',
  plural: 'kopfexamples',
  kind: 'KopfExample',
});

/** The user of the operator, and of all reviews unless told otherwise. */
export const OPERATOR = 'someone';

/** Knows who asks, and nothing else. */
export const CLIENT: KubeClient = {
  request: <T>({ path }: KubeRequest) =>
    path === '/apis/authentication.k8s.io/v1/selfsubjectreviews'
      ? Promise.resolve({ status: { userInfo: { username: OPERATOR } } } as T)
      : Promise.reject(new Error('nobody should ask')),
  stream: () => {
    throw new Error('nobody should ask');
  },
};

export function knowing(...webhook: readonly Resource[]): Insights {
  return {
    watched: new Set(),
    indexed: new Set(),
    webhook: new Set(webhook),
    namespaces: new Set(),
    find: () => undefined,
    whenReady: () => Promise.resolve(),
    async *revisions() {
      yield;
    },
  };
}

export function objectOf(fields: AnyObject = {}): AnyObject {
  return {
    apiVersion: 'kopf.dev/v1',
    kind: 'KopfExample',
    metadata: { name: 'one', namespace: 'ns1', uid: 'uid1' },
    spec: { field: 'value' },
    ...fields,
  };
}

/** A review of a creation, unless told otherwise. */
export function reviewOf(fields: Partial<Record<keyof ReviewRequest, unknown>> = {}): AdmissionRequest {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'review-uid',
      kind: { group: 'kopf.dev', version: 'v1', kind: 'KopfExample' },
      resource: { group: 'kopf.dev', version: 'v1', resource: 'kopfexamples' },
      operation: 'CREATE',
      userInfo: { username: OPERATOR, groups: ['people'] },
      object: objectOf(),
      oldObject: null,
      dryRun: false,
      ...fields,
    } as ReviewRequest,
  };
}

export interface ReviewedOptions {
  readonly insights?: Insights;
  readonly settings?: Settings;
  readonly memo?: object;
  readonly indices?: Indices;
  readonly facts?: Facts;
  readonly tracing?: Tracing;
  readonly client?: KubeClient;
  readonly apiFor?: NonNullable<ReviewParts['apiFor']>;
  readonly poster?: NonNullable<ReviewParts['poster']>;
  readonly signal?: AbortSignal;
}

/** The settings of an operator with the usual storages. */
export function settingsWithStorages(): Settings {
  const settings = makeSettings();
  settings.persistence.progressStorage = smartProgressStorage();
  settings.persistence.diffbaseStorage = annotationsDiffBaseStorage();
  return settings;
}

export function reviewed(declare: (registry: Registry) => void = () => {}, options: ReviewedOptions = {}) {
  const { signal, memo, insights = knowing(EXAMPLES), settings = settingsWithStorages(), ...rest } = options;
  const [registry, clock, logger] = [createRegistry(), manualClock(), recordingLogger()];
  declare(registry);
  const memos = allObjects({ memo, now: () => clock.now(), logger });
  const parts = { registry, settings, clock, logger, client: CLIENT, insights, memos, ...rest };
  const review = reviewer(parts, { signal });
  const ask = async (
    fields: Partial<Record<keyof ReviewRequest, unknown>> = {},
    hints?: ReviewHints,
  ): Promise<AdmissionResponse['response']> => (await review(reviewOf(fields), hints)).response;
  return { review, ask, registry, clock, logger, memos };
}

/** The operations of a JSON-patch in a response. */
export function patchIn({ patch = '' }: AdmissionResponse['response']): unknown {
  return JSON.parse(Buffer.from(patch, 'base64').toString('utf8'));
}
