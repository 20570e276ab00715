import { createServer } from 'node:net';
import * as kopf from 'kopf-ts';
import { describe, expect, it, vi } from 'vitest';
import { newPlace, startOperator, stopOperator } from './wired.js';

async function freeAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

const textAt = async (url: string): Promise<string> => await (await fetch(url)).text();
const valueIn = (text: string, series: string): number | undefined => {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length));
};
const CREATED =
  'kopf_handler_calls_total{handler="created",type="change",resource="kopfexamples.kopf.dev",reason="create",outcome="succeeded"}';
const created = ({ on }: kopf.Registry): void => void on.create('kopfexamples', { id: 'created' }, () => {});

describe('the metrics of an operator', () => {
  it('are where they are told to be, at the address of the probes if it is the same, for as long as it runs', async () => {
    const place = await newPlace();
    const address = await freeAddress();
    const started = await startOperator(place, created, {
      liveness: `${address}/healthz`,
      metrics: `${address}/metrics`,
    });
    await started.ready;
    await place.create('one');
    await place.create('two');
    const response = await fetch(`${address}/metrics`);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await response.text();
    expect(valueIn(text, CREATED)).toBe(2);
    expect(valueIn(text, 'kopf_stream_events_total{resource="kopfexamples.kopf.dev",type="added"}')).toBe(2);
    expect(text).toMatch(/^kopf_build_info{version="\d+\.\d+\.\d+",node="v\d+/m);
    expect((await fetch(`${address}/healthz`)).status).toBe(200);
    await stopOperator(place, started);
    await expect(fetch(`${address}/metrics`)).rejects.toThrow();
  });

  it('can be switched on by a setting, also in a startup handler', async () => {
    for (const isInHandler of [false, true]) {
      const place = await newPlace();
      const endpoint = `${await freeAddress()}/metrics`;
      const settings = kopf.settings(isInHandler ? {} : { metrics: { endpoint } });
      const declare = (registry: kopf.Registry): void => {
        created(registry);
        registry.on.startup(({ settings: own }) => {
          own.metrics.endpoint = endpoint;
        });
      };
      const started = await startOperator(place, isInHandler ? declare : created, { settings });
      await started.ready;
      await place.create('one');
      expect(valueIn(await textAt(endpoint), CREATED)).toBe(1);
    }
  });

  it('of several operators in one process do not mix; those of users are where they say', async () => {
    const [one, two] = [kopf.metrics.metricRegistry(), kopf.metrics.metricRegistry()];
    const orders = one.counter({ name: 'shop_orders_total', help: 'Orders.' });
    const texts: string[] = [];
    for (const [index, registry] of [one, two].entries()) {
      const place = await newPlace();
      const endpoint = `${await freeAddress()}/metrics`;
      const started = await startOperator(place, created, { metrics: { endpoint, registry } });
      await started.ready;
      for (let count = 0; count <= index; count++) await place.create(`object-${count}`);
      orders.inc();
      texts.push(await textAt(endpoint));
    }
    expect(texts.map((text) => valueIn(text, CREATED))).toEqual([1, 2]);
    expect(texts.map((text) => valueIn(text, 'shop_orders_total'))).toEqual([1, undefined]);
  });

  it('ask the cluster for nothing until somebody looks, and then once a minute', async () => {
    const place = await newPlace();
    const endpoint = `${await freeAddress()}/metrics`;
    const started = await startOperator(place, created, { metrics: endpoint });
    await started.ready;
    await place.settle();
    const before = place.requests.length;
    await place.clock.advance(55);
    const asked = () => place.requests.slice(before).filter((request) => request.includes('limit=1'));
    expect(asked()).toEqual([]);
    await textAt(endpoint);
    await textAt(endpoint);
    const kinds = ['apiextensions.k8s.io/v1/customresourcedefinitions', 'kopf.dev/v1/kopfexamples'];
    expect(asked()).toEqual(kinds.map((kind) => `GET /apis/${kind}?limit=1`));
    const lag = 'kopf_stream_lag_versions{resource="kopfexamples.kopf.dev"}';
    expect(valueIn(await textAt(endpoint), lag)).toBeGreaterThanOrEqual(0);
  });

  it('can be asked for by many in a storm of objects: all are handled, and everybody is answered', async () => {
    const place = await newPlace();
    const endpoint = `${await freeAddress()}/metrics`;
    const handled = new Set<string>();
    const started = await startOperator(
      place,
      ({ on }) =>
        void on.create('kopfexamples', { id: 'created' }, ({ name }) => {
          for (let index = 0; index < 3; index++) kopf.register(() => {}, { id: `${name}-${index}` });
          handled.add(name);
        }),
      { metrics: endpoint, settings: kopf.settings({ queueing: { workerLimit: 5 } }) },
    );
    await started.ready;
    const asked = Array.from({ length: 50 }, () => textAt(endpoint));
    const names = Array.from({ length: 60 }, (_, index) => `object-${index}`);
    await Promise.all(names.map((name) => place.create(name)));
    for (const text of await Promise.all(asked)) expect(text).toContain('kopf_build_info');
    const of = 'type="change",resource="kopfexamples.kopf.dev",reason="create",outcome="succeeded"';
    const text = await vi.waitFor(async () => {
      // One sub-handler in each cycle.
      await place.clock.advance(1);
      await place.settle();
      const current = await textAt(endpoint);
      expect(valueIn(current, `kopf_handler_calls_total{handler="created",${of}}`)).toBe(60);
      return current;
    }, 10_000);
    expect(handled.size).toBe(60);
    expect(text).not.toContain('object-');
    expect(valueIn(text, `kopf_handler_calls_total{handler="created/*",${of}}`)).toBe(180);
    expect(valueIn(text, 'kopf_queue_depth{resource="kopfexamples.kopf.dev"}')).toBe(0);
    expect(valueIn(text, 'kopf_workers_busy{resource="kopfexamples.kopf.dev"}')).toBe(0);
    expect(text.length).toBeLessThan(100_000);
  });

  it.each([
    ['https://localhost/metrics', /The metrics endpoint "https:\/\/localhost\/metrics" is not supported: only http/],
    ['8081', /The metrics endpoint "8081" is not supported/],
  ])('cannot be at %s, and it is said at once', (metrics, message) => {
    expect(() => kopf.operator({ registry: kopf.createRegistry(), metrics })).toThrow(message);
  });
});
