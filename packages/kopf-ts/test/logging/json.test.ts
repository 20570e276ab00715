import { describe, expect, it } from 'vitest';
import { CLUSTERED, capture, NAMESPACED, UTC } from './captured.js';

const json = (options = {}) => capture({ format: 'json', now: () => UTC, level: 'debug', ...options });

describe('a line in JSON', () => {
  it('is as Kopf writes it', () => {
    const { logger, stream } = json();
    logger.info('plain 1');
    logger.warn('obj 2', { xtra: 5, object: NAMESPACED });
    logger.error('obj é 3', { object: CLUSTERED });
    expect(stream.text.split('\n')).toEqual([
      '{"message": "plain 1", "timestamp": "2026-11-16T01:41:36.155000+00:00", "severity": "info"}',
      '{"message": "obj 2", "xtra": 5, "timestamp": "2026-11-16T01:41:36.155000+00:00", "object": {"apiVersion": "g/v1", "kind": "K", "name": "n", "uid": "u", "namespace": "ns"}, "severity": "warn"}',
      '{"message": "obj \\u00e9 3", "timestamp": "2026-11-16T01:41:36.155000+00:00", "object": {"apiVersion": "g/v1", "kind": "K", "name": "n", "uid": "u", "namespace": null}, "severity": "error"}',
      '',
    ]);
  });

  it('has the error after the message', () => {
    const { logger, stream } = json();
    const error = new Error('outer', { cause: new TypeError('inner') });
    logger.error('It failed.', { x: 1, error });
    const line = JSON.parse(stream.text) as Record<string, string>;
    expect(Object.keys(line)).toEqual(['message', 'exc_info', 'x', 'timestamp', 'severity']);
    expect(line['exc_info']).toBe(`${error.stack}\nCaused by: ${(error.cause as Error).stack}`);
    expect(stream.text.trimEnd()).not.toContain('\n');
  });

  it.each([
    ['debug', 'debug'],
    ['info', 'info'],
    ['warn', 'warn'],
    ['error', 'error'],
  ] as const)('of the level %s has the severity %s', (level, severity) => {
    const { logger, stream } = json();
    logger[level]('hello');
    expect(JSON.parse(stream.text)).toMatchObject({ severity });
  });

  it('keeps the severity that is given with the line', () => {
    const { logger, stream } = json();
    logger.error('hello', { severity: 'fatal' });
    expect(stream.text.match(/severity/g)).toHaveLength(1);
    expect(JSON.parse(stream.text)).toMatchObject({ severity: 'fatal' });
  });

  it('has the reference under another key, if told so', () => {
    const { logger, stream } = json({ refkey: 'k8s-obj' });
    logger.info('hello', { object: NAMESPACED, 'k8s-obj': 'spoofed' });
    expect(stream.text.match(/k8s-obj/g)).toHaveLength(1);
    expect(JSON.parse(stream.text)).toMatchObject({ 'k8s-obj': NAMESPACED });
    expect(JSON.parse(stream.text)).not.toHaveProperty('object');
  });

  it('does not name the logger', () => {
    const { logger, stream } = json();
    logger.child({ logger: 'kopf.activities.startup' }).info('hello');
    expect(JSON.parse(stream.text)).not.toHaveProperty('logger');
  });

  it('has its own message and time, whatever the fields say', () => {
    const { logger, stream } = json();
    logger.info('hello', { message: 'spoofed', timestamp: 'spoofed' });
    expect(JSON.parse(stream.text)).toEqual({
      message: 'hello',
      timestamp: '2026-11-16T01:41:36.155000+00:00',
      severity: 'info',
    });
  });
});

describe('fields of a line in JSON', () => {
  const circular: Record<string, unknown> = { a: 1 };
  circular['self'] = circular;
  let deep: unknown = 'bottom';
  for (let level = 0; level < 100_000; level++) deep = { deep };
  const broken = {
    get field(): never {
      throw new Error('broken');
    },
  };

  it.each<[string, unknown, unknown]>([
    ['texts with everything in them', 'a"\\\n\u0000é😀\u2028', 'a"\\\n\u0000é😀\u2028'],
    ['nested data', { a: [1, { b: null }], c: true }, { a: [1, { b: null }], c: true }],
    ['absent parts', { a: undefined, b: [undefined] }, { b: [null] }],
    ['big integers', { n: 12n }, { n: 12 }],
    ['not numbers', [Number.NaN, Number.POSITIVE_INFINITY], ['NaN', 'Infinity']],
    ['dates', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['maps and sets', new Map<string, unknown>([['a', new Set([1])]]), { a: [1] }],
    ['errors', new TypeError('boo'), 'TypeError: boo'],
    ['functions and symbols', [function fn() {}, Symbol('s')], ['[function fn]', 'Symbol(s)']],
    ['circles', circular, { a: 1, self: '[circular]' }],
    ['what cannot be read', { broken }, { broken: '[unreadable]' }],
  ])('are written, whatever they are: %s', (_title, value, expected) => {
    const { logger, stream } = json();
    logger.info('hello', { value });
    expect((JSON.parse(stream.text) as { value: unknown }).value).toEqual(expected);
  });

  it('are written to a depth that makes sense', () => {
    const { logger, stream } = json();
    logger.info('hello', { deep });
    expect(stream.text).toContain('[too deep]');
    expect(stream.text.length).toBeLessThan(1000);
  });

  it('that are absent are not there', () => {
    const { logger, stream } = json();
    logger.info('hello', { value: undefined });
    expect(JSON.parse(stream.text)).not.toHaveProperty('value');
  });

  it('of the line win over those of the logger', () => {
    const { logger, stream } = json();
    logger.child({ a: 1, b: 1 }).child({ b: 2, c: 2 }).info('hello', { c: 3 });
    expect(JSON.parse(stream.text)).toMatchObject({ a: 1, b: 2, c: 3 });
  });
});

describe('credentials', () => {
  it.each([
    'Authorization',
    'authorization',
    'proxy-authorization',
    'cookie',
    'Set-Cookie',
    'token',
    'accessToken',
    'access_token',
    'id-token',
    'password',
    'client_secret',
    'apiKey',
    'privateKey',
    'client-key-data',
  ])('are not written in fields: %s', (name) => {
    const { logger, stream } = json();
    logger.info('hello', { [name]: 'pa55', headers: { [name]: ['pa55'] } });
    expect(stream.text).not.toContain('pa55');
    expect(JSON.parse(stream.text)).toMatchObject({ [name]: '***', headers: { [name]: '***' } });
  });

  it.each(['secret', 'key', 'tokens', 'name', 'secretName'])('are not suspected in the field %s', (name) => {
    const { logger, stream } = json();
    logger.info('hello', { [name]: 'value' });
    expect(JSON.parse(stream.text)).toMatchObject({ [name]: 'value' });
  });

  it.each(['full', 'plain', 'json'] as const)('are not written in texts and errors in the format %s', (format) => {
    const { logger, stream } = capture({ format });
    const error = new Error('header: authorization: Bearer abcdefghijklmnop.qrst-uvw==');
    logger.error('Failed with Basic YWRtaW46cGFzc3dvcmQ=', { error, field: 'bearer abcdefghijklmnop.qrst-uvw' });
    logger.error('The bearer of bad news is basic.');
    expect(stream.text).not.toContain('qrst');
    expect(stream.text).not.toContain('YWRtaW46');
    expect(stream.text).toContain('Bearer ***');
    expect(stream.text).toContain('The bearer of bad news is basic.');
  });
});
