/** Requests to the API server, and the patches among them by what they carry. */
import type { SentRequest } from '@kopf-ts/core';
import { isMapping } from '@kopf-ts/core';
import { parsePointer } from '@kopf-ts/core/engine';
import { byName, type Collector, type CollectorParts, LIMIT } from './collector.js';

export function requestMetrics({ registry, names }: CollectorParts): Collector {
  const labels = ['verb', 'resource'] as const;
  const requests = registry.counter({
    name: 'kopf_api_requests_total',
    help: 'Finished requests to the API server, by the status of the last response; `none` without a response.',
    labels: ['verb', 'resource', 'code'],
    limit: LIMIT,
  });
  const durations = registry.histogram({
    name: 'kopf_api_request_duration_seconds',
    help: 'Duration of requests, all tries included; watch requests are not counted.',
    labels,
    limit: LIMIT,
  });
  const retries = registry.counter({
    name: 'kopf_api_request_retries_total',
    help: 'Retries of requests.',
    labels,
    limit: LIMIT,
  });
  const failures = registry.counter({
    name: 'kopf_api_request_failed_tries_total',
    help: 'Failed tries of requests that are retried, by the status of the response; `none` if there was none.',
    labels: ['verb', 'resource', 'code'],
    limit: LIMIT,
  });
  const waits = registry.counter({
    name: 'kopf_api_request_waiting_seconds_total',
    help: 'Time that requests spent waiting for their turn or for pauses requested by the server.',
    labels,
    limit: LIMIT,
  });
  const patches = registry.counter({
    name: 'kopf_patches_total',
    help: 'Patches of objects, by outcome; one patch may take several requests.',
    labels: ['resource', 'outcome'],
    limit: LIMIT,
  });
  const parts = registry.counter({
    name: 'kopf_patch_parts_total',
    help: 'Patch requests, by content; one may carry several parts.',
    labels: ['resource', 'part'],
    limit: LIMIT,
  });
  const patchDurations = registry.histogram({
    name: 'kopf_patch_duration_seconds',
    help: 'Duration of patches, all their requests included.',
    labels: ['resource'],
    limit: LIMIT,
  });
  const ofKind = byName((resource) => ({
    sent: patches.kept({ resource, outcome: 'sent' }),
    failed: patches.kept({ resource, outcome: 'failed' }),
    duration: patchDurations.kept({ resource }),
    parts: PARTS.map((part) => parts.kept({ resource, part })),
  }));
  const ofVerb = byName((verb) =>
    byName((resource) => ({
      durations: durations.kept({ verb, resource }),
      code: byName((code) => requests.kept({ verb, resource, code })),
    })),
  );
  const carry = (kind: ReturnType<typeof ofKind>, sent: readonly SentRequest[]): void => {
    for (const request of sent) {
      const carried = partsOf(request);
      for (let part = 0; part < PARTS.length; part++) if (carried & (1 << part)) kind.parts[part]?.().inc();
    }
  };

  return {
    'request.retried'({ verb, resource: plural, subresource, code }) {
      failures.with({ verb, resource: titleOf(plural, subresource), code: codeText(code) }).inc();
    },
    'request.ended'({ verb, resource: plural, subresource, code, tries, duration, waited }) {
      const resource = titleOf(plural, subresource);
      const series = ofVerb(verb)(resource);
      series.code(codeText(code))().inc();
      if (verb !== 'watch') series.durations().observe(duration);
      if (tries > 1) retries.with({ verb, resource }).inc(tries - 1);
      if (waited > 0) waits.with({ verb, resource }).inc(waited);
    },
    'patch.sent'({ object, requests: sent, duration }) {
      const kind = ofKind(names.kindOf(object));
      kind.sent().inc();
      kind.duration().observe(duration);
      carry(kind, sent);
    },
    'patch.failed'({ object, requests: sent }) {
      const kind = ofKind(names.kindOf(object));
      kind.failed().inc();
      carry(kind, sent);
    },
    'patch.dropped': ({ object }) => patches.with({ resource: names.kindOf(object), outcome: 'dropped' }).inc(),
  };
}

function titleOf(resource: string, subresource: string | undefined): string {
  return subresource === undefined ? resource : `${resource}/${subresource}`;
}

function codeText(code: number | undefined): string {
  return code === undefined ? 'none' : String(code);
}

/** The only ones by name: there can be any others. */
const PARTS = ['annotations', 'labels', 'finalizers', 'ownerReferences', 'spec', 'status', 'other'] as const;
const SPEC = 1 << PARTS.indexOf('spec');
const STATUS = 1 << PARTS.indexOf('status');
const OTHER = 1 << PARTS.indexOf('other');

/** A bit for each of the parts, without lists and sets on the way: every patch comes by here. */
function partsOf({ type, content }: SentRequest): number {
  return type === 'json' ? partsOfOperations(content) : partsOfMerge(content);
}

function partAt(top: string, below: string): number {
  if (top === 'spec') return SPEC;
  if (top === 'status') return STATUS;
  if (top !== 'metadata') return OTHER;
  // What the patch is for, and not what it carries.
  if (below === 'resourceVersion' || below === 'uid') return 0;
  const part = 1 << PARTS.indexOf(below as (typeof PARTS)[number]);
  return part > 0 && part < SPEC ? part : OTHER;
}

function partsOfMerge(content: unknown): number {
  if (!isMapping(content)) return 0;
  let parts = 0;
  for (const top of Object.keys(content)) {
    const value = content[top];
    if (top !== 'metadata' || !isMapping(value)) parts |= partAt(top, '');
    else for (const below of Object.keys(value)) parts |= partAt(top, below);
  }
  return parts;
}

function partsOfOperations(content: unknown): number {
  if (!Array.isArray(content)) return 0;
  let parts = 0;
  for (const { op, path } of content as readonly { readonly op?: unknown; readonly path?: unknown }[]) {
    const [top = '', below = ''] = op === 'test' ? ['metadata', 'uid'] : parsePointer(String(path));
    parts |= partAt(top, below);
  }
  return parts;
}
