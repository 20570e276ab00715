import { ApiNotFoundError, type TracedWork } from '@kopf-ts/core';
import { makeResource } from '@kopf-ts/core/engine';
import { testTracing } from '@kopf-ts/testing';
import * as api from '@opentelemetry/api';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { loadApi } from '../src/api/load-api.js';
import { type OpenTelemetryApi, type OpenTelemetryOptions, openTelemetry } from '../src/index.js';
import { startSdk } from './support/sdk.js';

const resource = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'kopfexamples', kind: 'KopfExample' });
const object = { resource, kind: 'KopfExample', namespace: 'default', name: 'one', uid: 'uid-1' };
const cycle: TracedWork = { kind: 'cycle', object };
const call: TracedWork = { kind: 'call', handler: { id: 'fn', kind: 'change' }, object, retry: 2 };
const request: TracedWork = { kind: 'request', method: 'GET', path: '/api/v1/pods?limit=5&watch=true' };
const review: TracedWork = { kind: 'review', uid: 'uid-2', operation: 'CREATE' };

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const mark = `00-${TRACE}-${SPAN}-01`;

const ofObject = {
  'kopf.object.resource': 'kopfexamples',
  'kopf.object.api_version': 'kopf.dev/v1',
  'kopf.object.kind': 'KopfExample',
  'k8s.namespace.name': 'default',
  'kopf.object.name': 'one',
  'kopf.object.uid': 'uid-1',
};

testTracing(() => openTelemetry(), { describe: (name, fn) => describe(`${name}, without an SDK`, fn), it });
testTracing(() => openTelemetry({ onObjects: true }), {
  describe: (name, fn) => describe(`${name}, with an SDK`, fn),
  it: (name, fn) =>
    it(name, async () => {
      startSdk();
      await fn();
    }),
});

describe('a span', () => {
  it.each<[TracedWork, string, api.SpanKind, api.Attributes]>([
    [cycle, 'kopf.cycle', api.SpanKind.INTERNAL, ofObject],
    [
      call,
      'kopf.handler',
      api.SpanKind.INTERNAL,
      { ...ofObject, 'kopf.handler.id': 'fn', 'kopf.handler.kind': 'change', 'kopf.handler.retry': 2 },
    ],
    [
      { kind: 'call', handler: { id: 'startup', kind: 'activity' }, object: undefined, retry: 0 },
      'kopf.handler',
      api.SpanKind.INTERNAL,
      { 'kopf.handler.id': 'startup', 'kopf.handler.kind': 'activity', 'kopf.handler.retry': 0 },
    ],
    [
      request,
      'kopf.request',
      api.SpanKind.CLIENT,
      { 'http.request.method': 'GET', 'url.path': '/api/v1/pods', 'url.query': 'limit=5&watch=true' },
    ],
    [review, 'kopf.review', api.SpanKind.SERVER, { 'kopf.review.uid': 'uid-2', 'kopf.review.operation': 'CREATE' }],
  ])('of %j is named and described', (work, name, kind, attributes) => {
    const sdk = startSdk();
    openTelemetry().around(work, () => {});
    const [span] = sdk.spans;
    expect(span).toMatchObject({ name, kind, attributes, status: { code: api.SpanStatusCode.UNSET } });
    expect(Object.keys(span?.attributes ?? {}).toSorted()).toEqual(Object.keys(attributes).toSorted());
    expect(span?.instrumentationScope).toEqual(
      expect.objectContaining({ name: '@kopf-ts/otel', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) }),
    );
  });

  it('lasts as long as its work', async () => {
    const sdk = startSdk();
    let end = (): void => {};
    const work = openTelemetry().around(call, () => new Promise<void>((resolve) => (end = resolve)));
    await Promise.resolve();
    expect(sdk.spans).toEqual([]);
    end();
    await work;
    expect(sdk.spans).toHaveLength(1);
  });

  it('is inside of the span around it, also after waiting, and beside of others', async () => {
    const sdk = startSdk();
    const { around } = openTelemetry();
    await Promise.all(
      ['a', 'b'].map((id) =>
        around(cycle, async () => {
          await Promise.resolve();
          return await around({ kind: 'call', handler: { id, kind: 'change' }, object, retry: 0 }, async () => {
            await Promise.resolve();
            return around(request, () => id);
          });
        }),
      ),
    );
    expect(sdk.named('kopf.request').map((span) => sdk.pathOf(span))).toEqual([
      'kopf.cycle > kopf.handler a > kopf.request GET',
      'kopf.cycle > kopf.handler b > kopf.request GET',
    ]);
    expect(new Set(sdk.spans.map((span) => span.spanContext().traceId)).size).toBe(2);
  });

  it.each(['daemon', 'timer'] as const)('of a %s begins a trace, whatever it was begun from', (kind) => {
    const sdk = startSdk();
    const { around } = openTelemetry();
    around(cycle, () => around({ kind: 'call', handler: { id: 'd', kind }, object, retry: 0 }, () => {}));
    expect(sdk.named('kopf.handler').map((span) => sdk.pathOf(span))).toEqual(['kopf.handler d']);
  });

  it('of a cycle begins a trace, even if the operator was started inside of another one', () => {
    const sdk = startSdk();
    const { around } = openTelemetry();
    api.trace.getTracer('users').startActiveSpan('main', () => around(cycle, () => {}));
    expect(sdk.named('kopf.cycle')[0]?.parentSpanContext).toBeUndefined();
  });

  it.each([
    ['rejected', () => Promise.reject(new TypeError('boo'))],
    [
      'thrown',
      () => {
        throw new TypeError('boo');
      },
    ],
  ])('tells of errors that are %s', async (_how, fn) => {
    const sdk = startSdk();
    await expect(async () => await openTelemetry().around(call, fn)).rejects.toThrow('boo');
    expect(sdk.spans).toMatchObject([
      {
        status: { code: api.SpanStatusCode.ERROR, message: 'boo' },
        attributes: { 'error.type': 'TypeError' },
        events: [{ name: 'exception', attributes: { 'exception.type': 'TypeError', 'exception.message': 'boo' } }],
      },
    ]);
  });

  it('tells how the server has refused a request', () => {
    const sdk = startSdk();
    const refused = (): void => {
      openTelemetry().around(request, () => {
        throw new ApiNotFoundError({ status: 404 });
      });
    };
    expect(refused).toThrow(ApiNotFoundError);
    expect(sdk.spans[0]?.attributes).toMatchObject({ 'error.type': '404', 'http.response.status_code': 404 });
  });
});

describe('the trace', () => {
  it('is told to the servers that are asked', () => {
    const sdk = startSdk();
    const { around, headers } = openTelemetry();
    const sent = around(request, headers);
    const made = sdk.spans[0]?.spanContext();
    expect(sent).toEqual({ traceparent: `00-${made?.traceId}-${made?.spanId}-01` });
    expect(headers()).toEqual({});
  });

  it('is told as not sampled, if it is not', () => {
    const sdk = startSdk({ isSampled: false });
    const { around, headers, mark: markOf } = openTelemetry({ onObjects: true });
    const told = around(cycle, () => around(request, () => [headers().traceparent, markOf?.()]));
    expect(told).toEqual([expect.stringMatching(/-00$/), expect.stringMatching(/-00$/)]);
    expect(sdk.spans).toEqual([]);
  });

  it('of the API server goes on in its reviews', () => {
    const sdk = startSdk();
    openTelemetry().around({ ...review, headers: { traceparent: mark, accept: '*/*' } }, () => {});
    expect(sdk.spans[0]?.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: SPAN, isRemote: true });
  });
});

describe('on objects, the trace', () => {
  it('is left by choice only', () => {
    startSdk();
    expect(openTelemetry().mark).toBeUndefined();
    const { around, mark: markOf } = openTelemetry({ onObjects: true });
    expect(markOf?.()).toBeUndefined();
    expect(around(call, () => markOf?.())).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  });

  it('goes on while the object is young', () => {
    const sdk = startSdk();
    openTelemetry({ onObjects: true }).around({ kind: 'cycle', object, origin: { mark, age: 299 } }, () => {});
    expect(sdk.spans[0]).toMatchObject({
      parentSpanContext: { traceId: TRACE, spanId: SPAN, isRemote: true },
      links: [],
    });
  });

  it.each<[string, OpenTelemetryOptions, number]>([
    ['the object is old', { onObjects: true }, 301],
    ['it is older than it may be', { onObjects: true, continueFor: 10 }, 11],
  ])('is only linked when %s', (_title, options, age) => {
    const sdk = startSdk();
    openTelemetry(options).around({ kind: 'cycle', object, origin: { mark, age } }, () => {});
    expect(sdk.spans[0]?.parentSpanContext).toBeUndefined();
    expect(sdk.spans[0]?.links).toMatchObject([{ context: { traceId: TRACE, spanId: SPAN } }]);
  });

  it('is not believed without that choice', () => {
    const sdk = startSdk();
    openTelemetry().around({ kind: 'cycle', object, origin: { mark, age: 1 } }, () => {});
    expect(sdk.spans[0]).toMatchObject({ links: [] });
    expect(sdk.spans[0]?.parentSpanContext).toBeUndefined();
  });

  it.each([
    'x',
    '',
    mark.toUpperCase(),
    `01-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `${mark}-more`,
    ` ${mark}\n`,
  ])('is nothing if it is %j', (wrong) => {
    const sdk = startSdk();
    openTelemetry({ onObjects: true }).around({ kind: 'cycle', object, origin: { mark: wrong, age: 1 } }, () => {});
    expect(sdk.spans[0]).toMatchObject({ links: [] });
    expect(sdk.spans[0]?.parentSpanContext).toBeUndefined();
  });
});

describe('without an SDK', () => {
  it('nothing is made of anything, and the work is called as it is', () => {
    const { around, headers, mark: markOf } = openTelemetry({ onObjects: true });
    const marks = around(cycle, () => around(call, () => around(request, () => [headers(), markOf?.()])));
    expect(marks).toEqual([{}, undefined]);
  });

  it('no asynchronous context is entered', () => {
    const entered: unknown[] = [];
    const manager: api.ContextManager = {
      active: () => api.ROOT_CONTEXT,
      with(context, fn, _this, ...args) {
        entered.push(context);
        return fn(...args);
      },
      bind: (_, target) => target,
      enable: () => manager,
      disable: () => manager,
    };
    api.context.setGlobalContextManager(manager);
    try {
      openTelemetry().around(cycle, () => {});
    } finally {
      api.context.disable();
    }
    expect(entered).toEqual([]);
  });

  it('one that comes later is used from then on', () => {
    const { around } = openTelemetry();
    around(cycle, () => {});
    const sdk = startSdk();
    around(cycle, () => {});
    expect(sdk.spans).toHaveLength(1);
  });
});

describe('the package of OpenTelemetry', () => {
  it('can be given', () => {
    const asked: string[] = [];
    const given: OpenTelemetryApi = {
      ...api,
      trace: Object.assign(Object.create(api.trace) as typeof api.trace, {
        getTracer: (name: string) => {
          asked.push(name);
          return api.trace.getTracer(name);
        },
      }),
    };
    openTelemetry({ api: given }).around(cycle, () => {});
    expect(asked).toEqual(['@kopf-ts/otel']);
    expectTypeOf<typeof api>().toExtend<OpenTelemetryApi>();
  });

  it('that is missing is asked for, with the reason kept', () => {
    const absent = new Error("Cannot find module '@opentelemetry/api'");
    const load = (): unknown =>
      loadApi(() => {
        throw absent;
      });
    expect(load).toThrow(
      expect.objectContaining({
        code: 'KOPF_NO_OPENTELEMETRY',
        message: expect.stringContaining('npm install @opentelemetry/api'),
        cause: absent,
      }),
    );
  });

  it('is the same one for those who import and for those who require', () => {
    const sdk = startSdk();
    openTelemetry({ api: loadApi() }).around(cycle, () => {});
    expect(sdk.spans).toHaveLength(1);
  });
});
