/** Requests to the API server, and the patches among them by what they carry. */
import type { SentRequest } from '@kopf-ts/core';
import { isMapping } from '@kopf-ts/core';
import { parsePointer } from '@kopf-ts/core/engine';
import { type Collector, type CollectorParts, LIMIT } from './collector.js';

export function requestMetrics({ registry, names }: CollectorParts): Collector {
  const labels = ['verb', 'resource'] as const;
  const requests = registry.counter({
    name: 'kopf_api_requests_total',
    help: 'Requests to the API server that have ended, by the status of the last answer; `none` if there was no answer.',
    labels: ['verb', 'resource', 'code'],
    limit: LIMIT,
  });
  const durations = registry.histogram({
    name: 'kopf_api_request_duration_seconds',
    help: 'How long requests take with all their tries; without watches, which last for as long as they are let.',
    labels,
    limit: LIMIT,
  });
  const retries = registry.counter({
    name: 'kopf_api_request_retries_total',
    help: 'How often requests were sent again.',
    labels,
    limit: LIMIT,
  });
  const waits = registry.counter({
    name: 'kopf_api_request_waiting_seconds_total',
    help: 'Time that requests have spent in waiting for their turn, and for the pauses that the server has asked for.',
    labels,
    limit: LIMIT,
  });
  const patches = registry.counter({
    name: 'kopf_patches_total',
    help: 'Patches of objects by what has become of them; one patch may be several requests.',
    labels: ['resource', 'outcome'],
    limit: LIMIT,
  });
  const parts = registry.counter({
    name: 'kopf_patch_parts_total',
    help: 'Requests of patches by what they carry; one may carry several parts.',
    labels: ['resource', 'part'],
    limit: LIMIT,
  });
  const patchDurations = registry.histogram({
    name: 'kopf_patch_duration_seconds',
    help: 'How long patches take with all their requests.',
    labels: ['resource'],
    limit: LIMIT,
  });
  const carry = (resource: string, sent: readonly SentRequest[]): void => {
    for (const request of sent) for (const part of partsOf(request)) parts.with({ resource, part }).inc();
  };

  return {
    'request.ended'({ verb, resource: plural, subresource, code, tries, duration, waited }) {
      const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
      requests.with({ verb, resource, code: code ?? 'none' }).inc();
      if (verb !== 'watch') durations.with({ verb, resource }).observe(duration);
      if (tries > 1) retries.with({ verb, resource }).inc(tries - 1);
      if (waited > 0) waits.with({ verb, resource }).inc(waited);
    },
    'patch.sent'({ object, requests: sent, duration }) {
      const resource = names.kindOf(object);
      patches.with({ resource, outcome: 'sent' }).inc();
      patchDurations.with({ resource }).observe(duration);
      carry(resource, sent);
    },
    'patch.failed'({ object, requests: sent }) {
      const resource = names.kindOf(object);
      patches.with({ resource, outcome: 'failed' }).inc();
      carry(resource, sent);
    },
    'patch.dropped': ({ object }) => patches.with({ resource: names.kindOf(object), outcome: 'dropped' }).inc(),
  };
}

/** The only ones by name: there can be any others. */
const TOP: ReadonlySet<string> = new Set(['spec', 'status']);
const METADATA: ReadonlySet<string> = new Set(['annotations', 'labels', 'finalizers', 'ownerReferences']);

function partsOf({ type, content }: SentRequest): ReadonlySet<string> {
  const paths = type === 'json' ? pathsOfOperations(content) : pathsOfMerge(content);
  return new Set(paths.map(([top = '', below = '']) => partAt(top, below)).filter((part) => part !== undefined));
}

function partAt(top: string, below: string): string | undefined {
  if (top !== 'metadata') return TOP.has(top) ? top : 'other';
  // What the patch is for, and not what it carries.
  if (below === 'resourceVersion' || below === 'uid') return undefined;
  return METADATA.has(below) ? below : 'other';
}

function pathsOfMerge(content: unknown): readonly (readonly string[])[] {
  if (!isMapping(content)) return [];
  return Object.entries(content).flatMap(([top, value]) =>
    top === 'metadata' && isMapping(value) ? Object.keys(value).map((below) => [top, below]) : [[top]],
  );
}

function pathsOfOperations(content: unknown): readonly (readonly string[])[] {
  if (!Array.isArray(content)) return [];
  const operations = content as readonly { readonly op?: unknown; readonly path?: unknown }[];
  return operations.filter(({ op }) => op !== 'test').map(({ path }) => parsePointer(String(path)));
}
