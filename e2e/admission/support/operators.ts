/** Operators with admission, in the process of the tests. */
import { randomBytes } from 'node:crypto';
import { AdmissionError, type AdmissionRequest, type Registry, type ReviewFn, type WebhookServer } from '@kopf-ts/core';
import { webhookServer } from '@kopf-ts/webhooks';
import { expect } from 'vitest';
import type { TestCluster } from '../../support/operators/clusters.js';
import type { TestKind } from '../../support/operators/kinds.js';
import {
  eventually,
  startOperator,
  type TestOperator,
  type TestOperatorOptions,
} from '../../support/operators/operators.js';
import { type Configuration, configuration } from './configurations.js';
import { usageOf } from './requests.js';

/** A name of configurations of nobody else. */
export const newManaged = (): string => `test-${randomBytes(4).toString('hex')}.example.com`;

export interface AdmittingOperator extends TestOperator {
  readonly managed: string;
  readonly validating: Configuration;
  readonly mutating: Configuration;
  /** The API server asks for these: the ids of handlers and the requests, in order; but not of those of the tests. */
  readonly reviews: readonly { readonly webhook: string; readonly request: AdmissionRequest['request'] }[];
}

export interface AdmissionOptions extends TestOperatorOptions {
  readonly managed?: string;
  readonly server?: WebhookServer;
}

/** Starts an operator with the handlers, and waits until the API server asks it. */
export async function startAdmission(
  cluster: TestCluster,
  declare: (registry: Registry) => void,
  options: AdmissionOptions,
): Promise<AdmittingOperator> {
  const { managed = newManaged(), server = localServer(), ...rest } = options;
  const reviews: AdmittingOperator['reviews'][number][] = [];
  const probes = await cluster.newKind({ plural: 'probes', namespaced: false });
  const operator = await startOperator(
    cluster,
    (registry) => {
      registry.on.startup(({ settings }) => {
        settings.admission.managed = managed;
        settings.admission.server = observed(server, (webhook, { request }) => {
          if (!webhook.startsWith('probe-')) reviews.push({ webhook, request });
        });
      });
      declareProbes(registry, probes);
      declare(registry);
    },
    rest,
  );
  const of = (reason: 'validating' | 'mutating') => configuration(cluster.client, reason, managed);
  try {
    await untilAsked(cluster, probes);
  } catch (error) {
    // What is stored tells who is late: the operator with its configurations, or the API server with reading them.
    const stored = await Promise.all([of('validating').get(), of('mutating').get()]);
    throw new Error(`The API server does not ask for both: ${JSON.stringify(stored)}`, { cause: error });
  }
  return Object.assign(operator, { managed, reviews, validating: of('validating'), mutating: of('mutating') });
}

/** Where API servers on this machine can reach it. */
function localServer(): WebhookServer {
  return webhookServer({ addr: '127.0.0.1' });
}

/** The same server, with somebody listening. */
function observed(server: WebhookServer, listen: (webhook: string, request: AdmissionRequest) => void): WebhookServer {
  return {
    serve(at) {
      const review: ReviewFn = (request, hints) => {
        listen(hints?.webhook ?? '', request);
        return at.review(request, hints);
      };
      return server.serve({ ...at, review });
    },
  };
}

/** Handlers that tell whether they are asked: they are in the same configurations as all others. */
function declareProbes({ on }: Registry, { selector }: TestKind): void {
  on.mutate(selector, { id: 'probe-mutation' }, ({ patch }) => {
    patch.spec['isMutated'] = true;
  });
  on.validate(selector, { id: 'probe-validation' }, ({ spec }) => {
    throw new AdmissionError(spec['isMutated'] ? 'Both are asked.' : 'Only one is asked.');
  });
}

/** API servers learn of configurations soon, but not at once. */
async function untilAsked({ connection }: TestCluster, probes: TestKind): Promise<void> {
  const usage = usageOf(connection, probes, undefined);
  await eventually(async () => {
    const { body } = await usage.create('probe', {}, '?dryRun=All');
    expect(body['message']).toContain('Both are asked.');
  });
}
