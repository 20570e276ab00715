/** One fact of each kind, as operators make them: samples for observers. */
import type { Fact, FactKind, FactOf, ObservedHandler, ObservedObject } from '@kopf-ts/core';
import { makeResource } from '@kopf-ts/core/engine';
import { recordingLogger } from '../../recording-logger.js';

/** New ones each time: an observer that changes them changes only its own. */
export function sampleFacts(): readonly Fact[] {
  const resource = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'kopfexamples', kind: 'KopfExample' });
  const object: ObservedObject = { resource, kind: 'KopfExample', namespace: 'default', name: 'one', uid: 'uid-1' };
  const handler: ObservedHandler = { id: 'fn', kind: 'change' };
  const stream = { resource, namespace: null };
  const error = new Error('a sample');
  const request = { address: 'object', type: 'merge', content: { spec: { size: 1 } }, version: '6' } as const;
  const origin = { operator: 'sample', at: 1 };
  const facts: { readonly [K in FactKind]: FactOf<K> } = {
    'stream.opened': { kind: 'stream.opened', ...origin, stream, version: '5' },
    'stream.listed': { kind: 'stream.listed', ...origin, stream, count: 3, isFirst: true, duration: 0.1 },
    'stream.event': { kind: 'stream.event', ...origin, stream, type: 'MODIFIED', object, version: '5' },
    'stream.bookmark': { kind: 'stream.bookmark', ...origin, stream, version: '6' },
    'stream.lagging': { kind: 'stream.lagging', ...origin, stream, silence: 300 },
    'stream.failed': { kind: 'stream.failed', ...origin, stream, error, failures: 1, delay: 1 },
    'stream.phase': {
      kind: 'stream.phase',
      ...origin,
      stream,
      phase: 'down',
      since: 5,
      lastEventAt: undefined,
      lastGoodAt: undefined,
      error,
    },
    'object.cause': {
      kind: 'object.cause',
      ...origin,
      object,
      reason: 'update',
      paths: [['spec', 'size']],
      version: '5',
    },
    'object.phase': { kind: 'object.phase', ...origin, object, phase: 'queued', before: 'idle' },
    'object.waiting': { kind: 'object.waiting', ...origin, object, until: 60, why: 'delay' },
    'object.woken': { kind: 'object.woken', ...origin, object, why: 'time' },
    'object.failed': { kind: 'object.failed', ...origin, object, error, pause: 1 },
    'object.gone': { kind: 'object.gone', ...origin, object },
    'object.superseded': {
      kind: 'object.superseded',
      ...origin,
      object,
      reason: 'update',
      by: 'delete',
      unfinished: 1,
    },
    'object.paused': { kind: 'object.paused', ...origin, object, by: 'annotation', isPaused: true, until: 60 },
    'breaker.tripped': {
      kind: 'breaker.tripped',
      ...origin,
      object,
      fields: ['spec.size'],
      handlers: ['fn'],
      pause: 1,
    },
    'handler.considered': {
      kind: 'handler.considered',
      ...origin,
      object,
      handler,
      rejection: { filter: 'labels', wanted: 'a', found: undefined },
    },
    'call.began': { kind: 'call.began', ...origin, call: 1, handler, object, retry: 0, logger: recordingLogger() },
    'call.returned': { kind: 'call.returned', ...origin, call: 1 },
    'call.settled': { kind: 'call.settled', ...origin, call: 1 },
    'call.ended': {
      kind: 'call.ended',
      ...origin,
      ...{ call: 1, handler, object, reason: 'update', outcome: 'retried', result: undefined },
      ...{ error, retry: 0, duration: 0.5, delay: 60 },
    },
    'patch.sent': { kind: 'patch.sent', ...origin, object, requests: [request], version: '6', duration: 0.1 },
    'patch.failed': { kind: 'patch.failed', ...origin, object, requests: [], error, duration: 0.1 },
    'patch.dropped': { kind: 'patch.dropped', ...origin, object, what: 'spec.size', why: 'a sample' },
    'writes.failed': { kind: 'writes.failed', ...origin, resource, error },
    'writes.recovered': { kind: 'writes.recovered', ...origin, resource },
    'daemon.started': { kind: 'daemon.started', ...origin, object, handler },
    'daemon.stopping': { kind: 'daemon.stopping', ...origin, object, handler, why: 'resource-deleted' },
    'daemon.stopped': { kind: 'daemon.stopped', ...origin, object, handler, isOver: true },
    'daemon.waiting': { kind: 'daemon.waiting', ...origin, object, handler, delay: 5 },
    'review.answered': {
      kind: 'review.answered',
      ...origin,
      ...{
        uid: 'uid-2',
        operation: 'CREATE',
        object,
        allowed: true,
        code: undefined,
        handlers: ['fn'],
        duration: 0.01,
      },
    },
    'webhook.refused': { kind: 'webhook.refused', ...origin, code: 413, why: 'It is too large.', from: '10.0.0.1' },
    'webhook.certified': { kind: 'webhook.certified', ...origin, until: new Date(0) },
    'review.refused': { kind: 'review.refused', ...origin, error, duration: 0.01 },
    'peering.ruled': { kind: 'peering.ruled', ...origin, namespace: null, isPaused: false, why: undefined },
    'peering.left': { kind: 'peering.left', ...origin, namespace: 'default' },
    'indexing.ready': { kind: 'indexing.ready', ...origin, isReady: false, missing: ['kopfexamples'] },
    'login.ended': { kind: 'login.ended', ...origin, outcome: 'failed', error, duration: 0.1 },
    'discovery.revised': { kind: 'discovery.revised', ...origin, resources: [resource], namespaces: [null] },
    'discovery.failed': { kind: 'discovery.failed', ...origin, error, failures: 1 },
    'request.retried': {
      kind: 'request.retried',
      ...origin,
      ...{ method: 'PATCH', verb: 'patch', resource: 'kopfexamples.kopf.dev', subresource: 'status' },
      ...{
        namespace: 'default',
        name: 'name1',
        path: '/apis/kopf.dev/v1/namespaces/default/kopfexamples/name1/status',
      },
      ...{ code: 403, error, tries: 1, delay: 1 },
    },
    'request.ended': {
      kind: 'request.ended',
      ...origin,
      ...{ method: 'GET', verb: 'list', resource: 'kopfexamples.kopf.dev', subresource: undefined },
      ...{ path: '/apis/kopf.dev/v1/kopfexamples', code: 200, error: undefined, tries: 1, duration: 0.1, waited: 0 },
    },
    'error.stray': { kind: 'error.stray', ...origin, error, origin: 'rejection', handler, object },
  };
  return Object.values(facts);
}

/** The same, but without all that may be absent. */
export function sparseFacts(): readonly Fact[] {
  return sampleFacts().flatMap((fact) => {
    if (fact.kind === 'call.began') return [{ ...fact, object: undefined }];
    if (fact.kind === 'call.ended') {
      return [
        { ...fact, object: undefined, reason: undefined, error: undefined, delay: undefined, outcome: 'succeeded' },
      ];
    }
    if (fact.kind === 'error.stray') return [{ ...fact, object: undefined, handler: undefined }];
    if (fact.kind === 'review.answered') return [{ ...fact, object: undefined, handlers: [] }];
    if (fact.kind === 'object.failed') return [{ ...fact, pause: undefined }];
    if (fact.kind === 'handler.considered') return [{ ...fact, rejection: undefined }];
    if (fact.kind === 'request.retried') {
      return [{ ...fact, subresource: undefined, namespace: undefined, name: undefined, code: undefined }];
    }
    if (fact.kind === 'request.ended') return [{ ...fact, code: undefined, error: new Error('no answer') }];
    if (!('object' in fact) || fact.object === undefined) return [];
    const { resource } = fact.object;
    const object = { resource, kind: undefined, namespace: undefined, name: undefined, uid: undefined };
    return [{ ...fact, object } as Fact];
  });
}
