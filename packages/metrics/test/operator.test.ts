import { describe, expect, it } from 'vitest';
import { counted, HANDLER, KIND, objectOf, POD } from './support/counted.js';

const object = objectOf('one');
const stream = { resource: KIND, namespace: null };
const error = new Error('a sample');

/** One call from its beginning to its end. */
function call(
  { tell, logger }: ReturnType<typeof counted>,
  number: number,
  {
    handler = HANDLER,
    outcome = 'succeeded' as 'succeeded' | 'failed' | 'retried',
    retry = 0,
    duration = 0.3,
    of = object,
  } = {},
): void {
  tell({ kind: 'call.began', call: number, handler, object: of, retry, logger });
  tell({ kind: 'call.returned', call: number });
  tell({ kind: 'call.settled', call: number });
  const rest = { result: undefined, error: undefined, delay: undefined };
  tell({ kind: 'call.ended', call: number, handler, object: of, reason: 'update', outcome, retry, duration, ...rest });
}

describe('Calls of handlers', () => {
  it('are counted by their outcomes, with their durations and retries', async () => {
    const place = counted();
    call(place, 1);
    call(place, 2, { outcome: 'retried' });
    call(place, 3, { outcome: 'failed', retry: 1, duration: 2 });
    const labels = 'handler="fn",type="change",resource="kopfexamples.kopf.dev",reason="update"';
    expect(await place.lines('kopf_handler_calls_total')).toEqual([
      `kopf_handler_calls_total{${labels},outcome="succeeded"} 1`,
      `kopf_handler_calls_total{${labels},outcome="retried"} 1`,
      `kopf_handler_calls_total{${labels},outcome="failed"} 1`,
    ]);
    expect(await place.lines('kopf_handler_duration_seconds')).toEqual([
      'kopf_handler_duration_seconds_sum{handler="fn",resource="kopfexamples.kopf.dev"} 2.6',
      'kopf_handler_duration_seconds_count{handler="fn",resource="kopfexamples.kopf.dev"} 3',
    ]);
    expect(await place.lines('kopf_handler_retries_total')).toEqual([
      'kopf_handler_retries_total{handler="fn",resource="kopfexamples.kopf.dev"} 1',
    ]);
  });

  it('are under way from their beginnings to their ends, and block while they do not return', async () => {
    const { tell, clock, logger, lines } = counted();
    tell({ kind: 'call.began', call: 1, handler: HANDLER, object, retry: 0, logger });
    await clock.advance(3);
    tell({ kind: 'call.returned', call: 1 });
    expect(await lines('kopf_handler_calls_running')).toEqual([
      'kopf_handler_calls_running{handler="fn",resource="kopfexamples.kopf.dev"} 1',
    ]);
    expect(await lines('kopf_handler_blocking_seconds_total')).toEqual([
      'kopf_handler_blocking_seconds_total{handler="fn"} 3',
    ]);
    const rest = {
      reason: 'update',
      outcome: 'succeeded',
      result: undefined,
      error: undefined,
      delay: undefined,
    } as const;
    tell({ kind: 'call.ended', call: 1, handler: HANDLER, object, retry: 0, duration: 3, ...rest });
    expect(await lines('kopf_handler_calls_running')).toEqual([
      'kopf_handler_calls_running{handler="fn",resource="kopfexamples.kopf.dev"} 0',
    ]);
  });

  it.each([
    ['the next attempt succeeds', (place: ReturnType<typeof counted>) => call(place, 2, { retry: 1 })],
    ['the object is gone', ({ tell }: ReturnType<typeof counted>) => tell({ kind: 'object.gone', object })],
    [
      'there is nothing left to do',
      ({ tell }: ReturnType<typeof counted>) =>
        tell({ kind: 'object.phase', object, phase: 'idle', before: 'running' }),
    ],
    [
      'something else has happened',
      ({ tell }: ReturnType<typeof counted>) =>
        tell({ kind: 'object.cause', object, reason: 'delete', paths: [], version: '5' }),
    ],
  ])('are pending until %s', async (_, end) => {
    const place = counted();
    call(place, 1, { outcome: 'retried' });
    place.tell({ kind: 'object.cause', object, reason: 'update', paths: [], version: '5' });
    const labels = 'handler="fn",resource="kopfexamples.kopf.dev",reason="update"';
    expect(await place.lines('kopf_handler_pending')).toEqual([`kopf_handler_pending{${labels}} 1`]);
    end(place);
    expect(await place.lines('kopf_handler_pending')).toEqual([`kopf_handler_pending{${labels}} 0`]);
  });
});

describe('Objects', () => {
  it('are counted while they wait for their turn, while they are worked on, and while they wait for later', async () => {
    const { tell, clock, lines } = counted();
    for (const name of ['one', 'two', 'three']) {
      tell({ kind: 'object.phase', object: objectOf(name), phase: 'queued', before: 'idle' });
      await clock.advance(2);
    }
    tell({ kind: 'object.phase', object: objectOf('one'), phase: 'running', before: 'queued' });
    tell({ kind: 'object.phase', object: objectOf('two'), phase: 'waiting', before: 'queued' });
    const of = '{resource="kopfexamples.kopf.dev"}';
    expect(await lines('kopf_queue_depth')).toEqual([`kopf_queue_depth${of} 1`]);
    expect(await lines('kopf_workers_busy')).toEqual([`kopf_workers_busy${of} 1`]);
    expect(await lines('kopf_workers_limit')).toEqual(['kopf_workers_limit 100']);
    expect(await lines('kopf_objects_waiting')).toEqual([`kopf_objects_waiting${of} 1`]);
    expect(await lines('kopf_queue_oldest_seconds')).toEqual([`kopf_queue_oldest_seconds${of} 7`]);
    expect(await lines('kopf_queue_wait_seconds')).toEqual([
      `kopf_queue_wait_seconds_sum${of} 6`,
      `kopf_queue_wait_seconds_count${of} 1`,
    ]);
    tell({ kind: 'object.phase', object: objectOf('one'), phase: 'idle', before: 'running' });
    tell({ kind: 'object.phase', object: objectOf('two'), phase: 'queued', before: 'waiting' });
    expect(await lines('kopf_workers_busy')).toEqual([`kopf_workers_busy${of} 0`]);
    expect(await lines('kopf_objects_waiting')).toEqual([`kopf_objects_waiting${of} 0`]);
    expect(await lines('kopf_cycle_duration_seconds')).toContain(`kopf_cycle_duration_seconds_count${of} 1`);
  });

  it('are counted by what happens to them', async () => {
    const { tell, lines } = counted();
    tell({ kind: 'object.cause', object, reason: 'create', paths: [], version: '5' });
    tell({ kind: 'object.failed', object, error, pause: 1 });
    tell({ kind: 'breaker.tripped', object, fields: [], handlers: [], pause: 1 });
    const of = 'resource="kopfexamples.kopf.dev"';
    expect(await lines('kopf_causes_total')).toEqual([`kopf_causes_total{${of},reason="create"} 1`]);
    expect(await lines('kopf_object_errors_total')).toEqual([`kopf_object_errors_total{${of}} 1`]);
    expect(await lines('kopf_breaker_trips_total')).toEqual([`kopf_breaker_trips_total{${of}} 1`]);
  });
});

describe('Streams', () => {
  const phase = {
    kind: 'stream.phase',
    stream,
    lastEventAt: undefined,
    lastGoodAt: undefined,
    error: undefined,
  } as const;

  it('are counted by what comes, how often they are opened, and how they fail', async () => {
    const { tell, lines } = counted();
    tell({ kind: 'stream.listed', stream, count: 1, isFirst: true, duration: 1 });
    tell({ kind: 'stream.event', stream, type: null, object, version: '5' });
    tell({ kind: 'stream.opened', stream, version: '5' });
    tell({ kind: 'stream.event', stream, type: 'MODIFIED', object, version: '6' });
    tell({ kind: 'stream.failed', stream, error, failures: 1, delay: 1 });
    tell({ kind: 'stream.listed', stream, count: 1, isFirst: false, duration: 1 });
    tell({ kind: 'stream.opened', stream, version: '9' });
    tell({ kind: 'stream.lagging', stream, silence: 70 });
    const of = 'resource="kopfexamples.kopf.dev"';
    expect(await lines('kopf_stream_events_total')).toEqual([
      `kopf_stream_events_total{${of},type="listed"} 1`,
      `kopf_stream_events_total{${of},type="modified"} 1`,
    ]);
    for (const name of ['restarts', 'relists', 'failures', 'silences']) {
      expect(await lines(`kopf_stream_${name}_total`)).toEqual([`kopf_stream_${name}_total{${of}} 1`]);
    }
    expect(await lines('kopf_stream_lists_total')).toEqual([`kopf_stream_lists_total{${of}} 2`]);
  });

  it('are shown by their phases, with the silence of the worst, until they end', async () => {
    const { tell, clock, lines } = counted();
    const other = { resource: KIND, namespace: 'other' };
    tell({ ...phase, phase: 'watching', since: clock.now() });
    await clock.advance(10);
    tell({ ...phase, stream: other, phase: 'down', since: clock.now() });
    const of = 'resource="kopfexamples.kopf.dev"';
    expect(await lines('kopf_streams')).toEqual([
      `kopf_streams{${of},phase="watching"} 1`,
      `kopf_streams{${of},phase="down"} 1`,
    ]);
    expect(await lines('kopf_stream_silence_seconds')).toEqual([`kopf_stream_silence_seconds{${of}} 12`]);
    tell({ ...phase, phase: 'ended', since: clock.now() });
    tell({ ...phase, stream: other, phase: 'ended', since: clock.now() });
    expect(await lines('kopf_streams')).toEqual([]);
  });

  it('are measured when somebody looks, at most once a minute, and by one object at most', async () => {
    const { tell, clock, lines, scrape, requests } = counted({
      answer: () => ({ metadata: { resourceVersion: '25' } }),
    });
    tell({ ...phase, phase: 'watching', since: clock.now() });
    tell({ kind: 'stream.event', stream, type: 'ADDED', object, version: '7' });
    tell({ kind: 'stream.bookmark', stream, version: '20' });
    tell({ kind: 'stream.event', stream, type: 'ADDED', object, version: '8' });
    await clock.advance(3600);
    expect(requests).toEqual([]);
    expect(await lines('kopf_stream_lag_versions')).toEqual([]);
    await scrape();
    await scrape();
    await clock.advance(59);
    await scrape();
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /apis/kopf.dev/v1/kopfexamples?limit=1',
    ]);
    expect(await lines('kopf_stream_lag_versions')).toEqual([
      'kopf_stream_lag_versions{resource="kopfexamples.kopf.dev"} 5',
    ]);
    await scrape();
    expect(requests).toHaveLength(2);
  });

  it('do not hold up those who look when the cluster does not answer', async () => {
    const { tell, clock, scrape } = counted({ answer: () => new Promise(() => {}) });
    tell({ ...phase, phase: 'watching', since: clock.now() });
    let isAnswered = false;
    const answered = scrape().then(() => {
      isAnswered = true;
    });
    await clock.advance(1.9);
    expect(isAnswered).toBe(false);
    await clock.advance(0.1);
    await answered;
  });

  it('are asked for a few at a time, if there are very many', async () => {
    const { tell, clock, scrape, requests } = counted({ answer: () => ({ metadata: { resourceVersion: '25' } }) });
    for (let index = 0; index < 120; index++) {
      tell({ ...phase, stream: { resource: KIND, namespace: `ns-${index}` }, phase: 'watching', since: clock.now() });
    }
    await scrape();
    expect(requests).toHaveLength(50);
    await clock.advance(60);
    await scrape();
    await clock.advance(60);
    await scrape();
    expect(new Set(requests.map(({ path }) => path)).size).toBe(120);
  });
});

describe('Requests', () => {
  it('are counted by verbs, resources and codes, with their retries and waits; of watches, without durations', async () => {
    const { tell, lines } = counted();
    const request = { kind: 'request.ended', method: 'GET', path: '/x', error: undefined, resource: 'pods' } as const;
    tell({ ...request, verb: 'patch', subresource: 'status', code: 200, tries: 3, duration: 0.2, waited: 0.1 });
    tell({ ...request, verb: 'watch', subresource: undefined, code: undefined, tries: 1, duration: 300, waited: 0 });
    expect(await lines('kopf_api_requests_total')).toEqual([
      'kopf_api_requests_total{verb="patch",resource="pods/status",code="200"} 1',
      'kopf_api_requests_total{verb="watch",resource="pods",code="none"} 1',
    ]);
    const of = '{verb="patch",resource="pods/status"}';
    expect(await lines('kopf_api_request_retries_total')).toEqual([`kopf_api_request_retries_total${of} 2`]);
    expect(await lines('kopf_api_request_waiting_seconds_total')).toEqual([
      `kopf_api_request_waiting_seconds_total${of} 0.1`,
    ]);
    expect(await lines('kopf_api_request_duration_seconds')).toEqual([
      `kopf_api_request_duration_seconds_sum${of} 0.2`,
      `kopf_api_request_duration_seconds_count${of} 1`,
    ]);
  });

  it('are counted at once if they have failed and are sent again', async () => {
    const { tell, lines } = counted();
    const request = { kind: 'request.retried', method: 'PATCH', verb: 'patch', resource: 'pods', path: '/x' } as const;
    const again = { namespace: 'ns', name: 'p', error, delay: 1 };
    tell({ ...request, ...again, subresource: undefined, code: 403, tries: 1 });
    tell({ ...request, ...again, subresource: undefined, code: 403, tries: 2 });
    tell({ ...request, ...again, subresource: 'status', code: undefined, tries: 3 });
    expect(await lines('kopf_api_request_failed_tries_total')).toEqual([
      'kopf_api_request_failed_tries_total{verb="patch",resource="pods",code="403"} 2',
      'kopf_api_request_failed_tries_total{verb="patch",resource="pods/status",code="none"} 1',
    ]);
    expect(await lines('kopf_api_requests_total')).toEqual([]);
  });

  it('of patches are counted by what they carry', async () => {
    const { tell, lines } = counted();
    const merge = (content: unknown) => ({ address: 'object', type: 'merge', content, version: '6' }) as const;
    const json = (content: unknown) => ({ address: 'object', type: 'json', content, version: '6' }) as const;
    const requests = [
      merge({ metadata: { annotations: { a: 'b' }, resourceVersion: '5', uid: 'u' }, spec: { size: 1 } }),
      merge({ status: {}, data: {} }),
      json([
        { op: 'test', path: '/metadata/resourceVersion', value: '5' },
        { op: 'add', path: '/metadata/finalizers/-', value: 'x' },
      ]),
    ];
    tell({ kind: 'patch.sent', object, requests, version: '6', duration: 0.1 });
    tell({ kind: 'patch.failed', object, requests: [], error, duration: 0.1 });
    tell({ kind: 'patch.dropped', object, what: 'x', why: 'y' });
    const of = 'resource="kopfexamples.kopf.dev"';
    expect(await lines('kopf_patch_parts_total')).toEqual(
      ['annotations', 'spec', 'status', 'other', 'finalizers'].map(
        (part) => `kopf_patch_parts_total{${of},part="${part}"} 1`,
      ),
    );
    expect(await lines('kopf_patches_total')).toEqual(
      ['sent', 'failed', 'dropped'].map((outcome) => `kopf_patches_total{${of},outcome="${outcome}"} 1`),
    );
  });
});

describe('All the rest', () => {
  it('is there as well: daemons, admission, peers, logins, discovery, strays', async () => {
    const { tell, lines } = counted();
    const daemon = { id: 'fn', kind: 'daemon' } as const;
    tell({ kind: 'daemon.started', object, handler: daemon });
    tell({ kind: 'daemon.started', object: objectOf('two'), handler: daemon });
    tell({ kind: 'daemon.stopped', object, handler: daemon, isOver: true });
    const review = { kind: 'review.answered', uid: 'u', code: undefined, handlers: [], duration: 0.01 } as const;
    tell({ ...review, operation: 'CREATE', object: objectOf('p', POD), allowed: false });
    tell({ kind: 'review.refused', error, duration: 0.1 });
    tell({ kind: 'webhook.certified', until: new Date(5000) });
    tell({ kind: 'peering.ruled', namespace: null, isPaused: true, why: undefined });
    tell({ kind: 'peering.ruled', namespace: 'gone', isPaused: false, why: undefined });
    tell({ kind: 'peering.left', namespace: 'gone' });
    tell({ kind: 'login.ended', outcome: 'succeeded', error: undefined, duration: 1 });
    tell({ kind: 'discovery.revised', resources: [KIND, POD], namespaces: [null] });
    tell({ kind: 'discovery.failed', error, failures: 1 });
    tell({ kind: 'error.stray', error, origin: 'rejection', handler: undefined, object: undefined });
    const expected = [
      'kopf_daemons_running{handler="fn",type="daemon",resource="kopfexamples.kopf.dev"} 1',
      'kopf_admission_reviews_total{resource="pods",operation="CREATE",allowed="false"} 1',
      'kopf_admission_refusals_total{what="review"} 1',
      'kopf_admission_certificate_expiry_timestamp_seconds 5',
      'kopf_peering_scopes{state="paused"} 1',
      'kopf_logins_total{outcome="succeeded"} 1',
      'kopf_served_resources 2',
      'kopf_discovery_failures_total 1',
      'kopf_stray_errors_total{origin="rejection"} 1',
      `kopf_build_info{version="1.2.3",node="${process.version}"} 1`,
    ];
    for (const line of expected) expect(await lines(/^\w+/.exec(line)?.[0] ?? '')).toEqual([line]);
    expect(await lines('kopf_peering_rulings_total')).toEqual([
      'kopf_peering_rulings_total{ruling="pause"} 1',
      'kopf_peering_rulings_total{ruling="work"} 1',
    ]);
  });

  it('tells the sizes of indices', async () => {
    const indices = [['byNode', { size: 3 }]] as never;
    expect(await counted({ indices }).lines('kopf_index_keys')).toEqual(['kopf_index_keys{index="byNode"} 3']);
  });

  it('tells what the process takes, and how late its event loop is while somebody looks', async () => {
    const { clock, scrape, lines, metrics } = counted();
    await clock.advance(1000);
    expect(clock.sleepers).toBe(0);
    await scrape();
    expect(clock.sleepers).toBe(1);
    await clock.advance(10);
    expect(await lines('nodejs_eventloop_lag_seconds')).toContain('nodejs_eventloop_lag_seconds_count 22');
    await clock.advance(300);
    expect(clock.sleepers).toBe(0);
    const text = await metrics.text();
    for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'nodejs_heap_size_used_bytes']) {
      expect(text).toMatch(new RegExp(`^${name} [0-9.e+]+$`, 'm'));
    }
  });
});

describe('The text', () => {
  it('is in the format that is asked for, with the metrics of users', async () => {
    const { scrape, registry } = counted();
    registry.counter({ name: 'shop_orders_total', help: 'Orders.' }).inc();
    const plain = await scrape();
    expect(plain.headers?.['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(plain.body).toContain('\n# TYPE shop_orders_total counter\nshop_orders_total 1\n');
    const open = await scrape('application/openmetrics-text');
    expect(open.headers?.['content-type']).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(open.body).toContain('\n# TYPE shop_orders counter\nshop_orders_total 1\n');
    expect(open.body).toMatch(/\n# EOF\n$/);
  });

  it('is made once for all who look in the same second', async () => {
    const { scrape, registry, clock } = counted();
    let count = 0;
    registry.gauge({ name: 'test_asked', help: 'How often it was asked.', ask: () => (count += 1) });
    await Promise.all(Array.from({ length: 100 }, () => scrape()));
    expect(count).toBe(1);
    await clock.advance(1);
    await scrape();
    expect(count).toBe(2);
  });

  it('never has names of objects, nor more series than it may, whatever the operator is made to do', async () => {
    const place = counted({ declared: ['fn', 'fn/spec.field'] });
    const { tell } = place;
    for (let index = 0; index < 3000; index++) {
      const hostile = `secret-${index}"}\n# EOF\\`;
      const of = { ...objectOf(hostile), namespace: `${hostile}-ns` };
      call(place, index, { handler: { id: `fn/${hostile}`, kind: 'change' }, of, outcome: 'retried' });
      call(place, index, { handler: { id: `fn/spec.field`, kind: 'change' }, of });
      call(place, index, { handler: { id: `wild-${index}`, kind: 'change' }, of });
      tell({ kind: 'object.phase', object: of, phase: 'queued', before: 'idle' });
      tell({
        kind: 'stream.event',
        stream: { resource: KIND, namespace: of.namespace },
        type: 'ADDED',
        object: of,
        version: '1',
      });
      const request = {
        method: 'GET',
        verb: 'get',
        subresource: undefined,
        code: 200,
        error: undefined,
        tries: 1,
      } as const;
      tell({ kind: 'request.ended', ...request, resource: `/odd-${index}`, path: '/', duration: 1, waited: 0 });
      tell({ kind: 'error.stray', error, origin: 'rejection', handler: undefined, object: of });
    }
    const text = await place.metrics.text();
    expect(text).not.toContain('secret-');
    expect(text).toContain('handler="fn/*"');
    expect(text).toContain('handler="fn/spec.field"');
    const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const families = new Map<string, number>();
    for (const line of samples.filter((each) => !each.includes('_bucket{'))) {
      const name = /^\w+/.exec(line)?.[0] ?? '';
      families.set(name, (families.get(name) ?? 0) + 1);
    }
    expect(Math.max(...families.values())).toBeLessThanOrEqual(501);
    expect(new Set(samples.map((line) => line.replace(/ \S+$/, ''))).size).toBe(samples.length);
    expect(text).toMatch(/kopf_metrics_overflows_total{metric="kopf_handler_calls_total"} \d+/);
  });
});
