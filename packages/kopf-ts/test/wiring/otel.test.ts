/** Whole operators over HTTP, with the real SDK; and with its real exporter, to a receiver of our own. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { client as clients, createRegistry, otel, type Registry, reactor, register, webhooks } from 'kopf-ts';
import { eventually, localCluster, operatorRunner, recordingLogger } from 'kopf-ts/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Sdk, startSdk } from '../../../otel/test/support/sdk.js';

const clock = reactor.systemClock;
const TRACEPARENT = 'kopf.zalando.org/traceparent';
const LAST_HANDLED = 'kopf.zalando.org/last-handled-configuration';
const PARENT = { apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata: { name: 'one', namespace: 'default' } };

/** An operator on a cluster with parents and children, over HTTP. */
async function started(declare: (registry: Registry) => void, options: otel.OpenTelemetryOptions = {}) {
  const cluster = await localCluster();
  onTestFinished(() => cluster.stop());
  await cluster.define({ group: 'kopf.dev', plural: 'kopfexamples', kind: 'KopfExample' });
  await cluster.define({ group: 'kopf.dev', plural: 'children', kind: 'Child' });
  const tracing = otel.openTelemetry(options);
  const connection = { server: cluster.url, token: cluster.token };
  const client = clients.kubeClient({ connection, clock, logger: recordingLogger(), tracing });
  onTestFinished(() => client.close());
  const registry = createRegistry();
  declare(registry);
  const runner = await operatorRunner({ client, clock, registry, tracing });
  onTestFinished(() => runner.stop());
  await runner.ready;
  return { cluster, runner };
}

const handlerOf = (sdk: Sdk, id: string): ReadableSpan | undefined =>
  sdk.named('kopf.handler').find(({ attributes }) => attributes['kopf.handler.id'] === id);

describe('spans of an operator', () => {
  it('go from the cycle to the handler, to its sub-handlers, to their requests', async () => {
    const sdk = startSdk();
    const { cluster } = await started(({ on }) => {
      on.create('kopfexamples', { id: 'parent' }, async ({ api }) => {
        register(async () => void (await api('configmaps').find('absent')), { id: 'sub' });
        await api('children').create({ metadata: { name: 'child' } });
      });
    });
    await cluster.create(PARENT);
    await eventually(
      () =>
        expect(sdk.named('kopf.request').map((span) => sdk.pathOf(span))).toEqual(
          expect.arrayContaining([
            'kopf.cycle > kopf.request PATCH',
            'kopf.cycle > kopf.handler parent > kopf.request POST',
            'kopf.cycle > kopf.handler parent > kopf.handler parent/sub > kopf.request GET',
          ]),
        ),
      { clock },
    );
    const missing = sdk.spans.find(({ attributes }) => String(attributes['url.path']).endsWith('/configmaps/absent'));
    expect(missing?.attributes['http.response.status_code']).toBe(404);
    // No choice, no mark.
    expect(cluster.get('children/default/child')?.metadata?.annotations).toBeUndefined();
  });

  it('go from the review to its handlers', async () => {
    const sdk = startSdk();
    const { cluster } = await started(({ on }) => {
      on.startup(({ settings }) => {
        settings.admission.server = webhooks.webhookServer({ host: '127.0.0.1' });
        settings.admission.managed = 'auto.kopf.dev';
      });
      on.validate('kopfexamples', { id: 'checked' }, () => {});
    });
    await eventually(
      async () => {
        await cluster.apply(PARENT);
        expect(sdk.named('kopf.review')).not.toEqual([]);
      },
      { clock },
    );
    expect(sdk.pathOf(handlerOf(sdk, 'checked') as ReadableSpan)).toBe('kopf.review > kopf.handler checked');
  });
});

describe('the trace goes on in the children', () => {
  it.each(['create', 'apply'] as const)('by the verb %s', async (verb) => {
    const sdk = startSdk();
    const { cluster, runner } = await started(
      ({ on }) => {
        on.create('kopfexamples', { id: 'parent' }, async ({ api }) => {
          await api('children')[verb]({ metadata: { name: 'child' } });
        });
        on.update('kopfexamples', { id: 'again' }, async ({ api }) => {
          await api('children').apply({ metadata: { name: 'child' } });
        });
        on.create('children', { id: 'child' }, () => {});
        on.update('children', { id: 'changed' }, () => {});
      },
      { onObjects: true },
    );
    await cluster.create(PARENT);
    await runner.outcomes.next('child');
    const [parent, child] = await eventually(
      () => {
        const both = [handlerOf(sdk, 'parent'), handlerOf(sdk, 'child')] as const;
        expect(both).not.toContain(undefined);
        return both as readonly [ReadableSpan, ReadableSpan];
      },
      { clock },
    );
    const { traceId, spanId } = parent.spanContext();
    expect(child.spanContext().traceId).toBe(traceId);
    const annotations = cluster.get('children/default/child')?.metadata?.annotations;
    expect(annotations?.[TRACEPARENT]).toBe(`00-${traceId}-${spanId}-01`);

    // It is nobody's change, and does not become one by being applied again.
    const stored = (): unknown => cluster.get('children/default/child')?.metadata?.annotations?.[LAST_HANDLED];
    await eventually(() => expect(stored()).toBeDefined(), { clock });
    const before = cluster.get('children/default/child')?.metadata?.resourceVersion;
    await cluster.apply({ ...PARENT, spec: { size: 2 } });
    await runner.outcomes.next('again');
    const after = cluster.get('children/default/child')?.metadata;
    expect(after?.annotations?.[TRACEPARENT]).toBe(annotations?.[TRACEPARENT]);
    if (verb === 'apply') expect(after?.resourceVersion).toBe(before);
    expect(handlerOf(sdk, 'changed')).toBeUndefined();
  });
});

it('comes to a receiver of OTLP, by the real exporter', async () => {
  const received: string[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => {
      if (request.url === '/v1/traces' && request.method === 'POST') received.push(text);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
  const sdk = startSdk({ exporter: new OTLPTraceExporter({ url }) });
  const { cluster, runner } = await started(({ on }) => {
    on.create('kopfexamples', { id: 'fn' }, () => {});
  });
  await cluster.create(PARENT);
  await runner.outcomes.next('fn');
  await eventually(() => expect(sdk.named('kopf.cycle')).not.toEqual([]), { clock });
  await sdk.flush();
  const spans = received.flatMap((text) => spansIn(JSON.parse(text) as Exported));
  const handler = spans.find(({ name }) => name === 'kopf.handler');
  const cycle = spans.find(({ spanId }) => spanId === handler?.parentSpanId);
  expect(handler?.attributes).toContainEqual({ key: 'kopf.handler.id', value: { stringValue: 'fn' } });
  expect(cycle).toMatchObject({ name: 'kopf.cycle', traceId: handler?.traceId });
});

interface Exported {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string };
      readonly spans: readonly {
        readonly name: string;
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly attributes: readonly { readonly key: string; readonly value: object }[];
      }[];
    }[];
  }[];
}

function spansIn({ resourceSpans }: Exported) {
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}
