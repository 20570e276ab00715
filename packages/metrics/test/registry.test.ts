import { KopfError } from '@kopf-ts/core';
import { recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import * as metrics from '../src/index.js';
import { metricRegistry } from '../src/index.js';
import { type Format, textOf } from '../src/scraping/text.js';

const shown = (registry: metrics.MetricRegistry, format: Format = 'prometheus'): Promise<string> =>
  textOf(registry.families(), format, recordingLogger());

it('exports what declares metrics, and what makes those of operators', () => {
  expect(Object.keys(metrics).sort()).toEqual([
    'counter',
    'defaultMetricRegistry',
    'gauge',
    'histogram',
    'metricRegistry',
    'operatorMetrics',
  ]);
});

describe('A registry', () => {
  it('shows counters, gauges and histograms as Prometheus reads them', async () => {
    const registry = metricRegistry();
    const orders = registry.counter({
      name: 'shop_orders_total',
      help: 'Orders.\nAll of "them" \\',
      labels: ['region'],
    });
    orders.with({ region: 'eu' }).inc();
    orders.with({ region: 'eu' }).inc(1.5);
    orders.with({ region: 'us' }).inc(0);
    registry.gauge({ name: 'shop_size', help: 'Size.' }).set(Number.NEGATIVE_INFINITY);
    const sizes = registry.histogram({ name: 'shop_wait_seconds', help: 'Waits.', buckets: [0.5, 1] });
    for (const value of [0.5, 0.7, 5]) sizes.observe(value);
    expect(await shown(registry)).toBe(
      [
        '# HELP shop_orders_total Orders.\\nAll of "them" \\\\',
        '# TYPE shop_orders_total counter',
        'shop_orders_total{region="eu"} 2.5',
        'shop_orders_total{region="us"} 0',
        '# HELP shop_size Size.',
        '# TYPE shop_size gauge',
        'shop_size -Inf',
        '# HELP shop_wait_seconds Waits.',
        '# TYPE shop_wait_seconds histogram',
        'shop_wait_seconds_bucket{le="0.5"} 1',
        'shop_wait_seconds_bucket{le="1.0"} 2',
        'shop_wait_seconds_bucket{le="+Inf"} 3',
        'shop_wait_seconds_sum 6.2',
        'shop_wait_seconds_count 3',
        '',
      ].join('\n'),
    );
  });

  it('shows the same in OpenMetrics, where counters are called by their names without the ending', async () => {
    const registry = metricRegistry();
    registry.counter({ name: 'shop_orders_total', help: 'All of "them".' }).inc();
    expect(await shown(registry, 'openmetrics')).toBe(
      '# HELP shop_orders All of \\"them\\".\n# TYPE shop_orders counter\nshop_orders_total 1\n# EOF\n',
    );
  });

  it('asks gauges when somebody looks, and leaves out those that throw', async () => {
    const registry = metricRegistry();
    let size = 1;
    registry.gauge({ name: 'shop_size', help: 'Size.', ask: () => size });
    registry.gauge({
      name: 'shop_broken',
      help: 'Broken.',
      ask: () => {
        throw new Error('no');
      },
    });
    size = 2;
    const logger = recordingLogger();
    expect(await textOf(registry.families(), 'prometheus', logger)).toBe(
      '# HELP shop_size Size.\n# TYPE shop_size gauge\nshop_size 2\n',
    );
    expect(logger.find('shop_broken is left out: no')?.level).toBe('error');
  });

  it.each([
    ['a"b', 'a\\"b'],
    ['a\\b', 'a\\\\b'],
    ['a\nb', 'a\\nb'],
    ['a\r\0\u001bb', 'a\uFFFD\uFFFD\uFFFDb'],
    ['\ud800', '\uFFFD'],
    ['"} 1\nforged_total 5', '\\"} 1\\nforged_total 5'],
    ['x'.repeat(100_000), `${'x'.repeat(200)}…`],
    ['é€😀', 'é€😀'],
  ])('shows any text in labels, but nothing else by it: %j', async (value, expected) => {
    const registry = metricRegistry();
    registry
      .counter({ name: 'a_total', help: 'A.', labels: ['label'] })
      .with({ label: value })
      .inc();
    expect((await shown(registry)).split('\n').slice(2)).toEqual([`a_total{label="${expected}"} 1`, '']);
  });

  it('tells apart whatever differs, and takes together what looks the same', async () => {
    const registry = metricRegistry();
    const counter = registry.counter({ name: 'a_total', help: 'A.', labels: ['one', 'two'] });
    for (const [one, two] of [
      ['a', '1:b'],
      ['a1:', 'b'],
      ['', 'a1:b'],
      ['a1:b', ''],
    ] as const) {
      counter.with({ one, two }).inc();
    }
    // Both have a character that cannot be shown.
    counter.with({ two: 'x', one: '\u0001' }).inc();
    counter.with({ one: '\u0002', two: 'x' }).inc();
    counter.with({ one: '\u0002', two: 'x' }).inc();
    const lines = (await shown(registry)).split('\n').filter((line) => line.startsWith('a_total'));
    expect(lines).toEqual([
      'a_total{one="a",two="1:b"} 1',
      'a_total{one="a1:",two="b"} 1',
      'a_total{one="",two="a1:b"} 1',
      'a_total{one="a1:b",two=""} 1',
      'a_total{one="\uFFFD",two="x"} 3',
    ]);
  });

  it('counts what is beyond the limit as `other`, whatever it is', async () => {
    const registry = metricRegistry();
    const counter = registry.counter({ name: 'a_total', help: 'A.', labels: ['one', 'two'], limit: 3 });
    for (let index = 0; index < 1000; index++) counter.with({ one: index, two: 'x' }).inc();
    const lines = (await shown(registry)).split('\n').filter((line) => line.startsWith('a_total'));
    expect(lines).toEqual([
      'a_total{one="0",two="x"} 1',
      'a_total{one="1",two="x"} 1',
      'a_total{one="2",two="x"} 1',
      'a_total{one="other",two="other"} 997',
    ]);
    expect(registry.families()[0]?.overflows).toBe(997);
  });

  it('gives way to others while it shows many series', async () => {
    const registry = metricRegistry();
    const waits = registry.histogram({ name: 'a_seconds', help: 'A.', labels: ['label'], limit: 10_000 });
    for (let index = 0; index < 5000; index++) waits.with({ label: index }).observe(index);
    let turns = 0;
    const turning = setInterval(() => (turns += 1), 0);
    const text = await shown(registry);
    clearInterval(turning);
    expect(text.split('\n')).toHaveLength(5000 * 15 + 3);
    expect(turns).toBeGreaterThan(5);
  });

  const mistakes: [string, (registry: metrics.MetricRegistry) => unknown, RegExp][] = [
    ['a bad name', (r) => r.counter({ name: 'a-b_total', help: 'A.' }), /"a-b_total" needs another name/],
    ['a name of the operator', (r) => r.counter({ name: 'kopf_x_total', help: 'A.' }), /kopf_ are of the operator/],
    ['a counter by another ending', (r) => r.counter({ name: 'a', help: 'A.' }), /must end with _total/],
    ['a gauge by the ending of counters', (r) => r.gauge({ name: 'a_total', help: 'A.' }), /must not end with _total/],
    ['a histogram like its own parts', (r) => r.histogram({ name: 'a_count', help: 'A.' }), /_count at the end/],
    ['no help', (r) => r.gauge({ name: 'a', help: ' ' }), /needs a text that explains it/],
    ['a label of the format', (r) => r.gauge({ name: 'a', help: 'A.', labels: ['le'] }), /cannot have a label "le"/],
    ['a bad label', (r) => r.gauge({ name: 'a', help: 'A.', labels: ['__x'] }), /cannot have a label "__x"/],
    ['a label twice', (r) => r.gauge({ name: 'a', help: 'A.', labels: ['x', 'x'] }), /has a label twice/],
    ['buckets in disorder', (r) => r.histogram({ name: 'a', help: 'A.', buckets: [2, 1] }), /ascending order/],
    ['a bad limit', (r) => r.gauge({ name: 'a', help: 'A.', limit: 0 }), /limit of the metric "a"/],
    [
      'labels that are asked',
      (r) => r.gauge({ name: 'a', help: 'A.', labels: ['x'], ask: () => 1 }),
      /cannot have labels/,
    ],
    ['the same again', (r) => [r.gauge({ name: 'a', help: 'A.' }), r.gauge({ name: 'a', help: 'A.' })], /"a" already/],
    ['a counter that shrinks', (r) => r.counter({ name: 'a_total', help: 'A.' }).inc(-1), /only ever grows/],
    ['not a number', (r) => r.histogram({ name: 'a', help: 'A.' }).observe(Number.NaN), /numbers only/],
    [
      'missing labels',
      (r) => r.gauge({ name: 'a', help: 'A.', labels: ['x'] }).with({} as never),
      /has the labels x, but it is given none/,
    ],
    [
      'no labels where there are some',
      (r) => (r.gauge({ name: 'a', help: 'A.', labels: ['x'] }) as unknown as metrics.GaugeSeries).set(1),
      /give them by with\({ x }\)/,
    ],
  ];
  it.each(mistakes)('refuses %s', (_, make, message) => {
    expect(() => make(metricRegistry())).toThrow(KopfError);
    expect(() => make(metricRegistry())).toThrow(message);
  });

  it('is one for the whole process by default', () => {
    const mine = metrics.counter({ name: 'test_mine_total', help: 'Mine.' });
    mine.inc();
    metrics.gauge({ name: 'test_size', help: 'Size.' }).set(1);
    metrics.histogram({ name: 'test_wait_seconds', help: 'Wait.' }).observe(1);
    const names = metrics
      .defaultMetricRegistry()
      .families()
      .map(({ name }) => name);
    expect(names).toEqual(['test_mine_total', 'test_size', 'test_wait_seconds']);
  });
});
