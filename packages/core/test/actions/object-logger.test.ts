import { recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { loggableBody, loggableDiff, objectLogger, terseLogger } from '../../src/execution/logging/object-logger.js';
import type { LogLevel } from '../../src/seams/logger.js';
import type { KubeEvent } from '../../src/seams/poster.js';
import { type PostingSettings, settings } from '../../src/settings.js';
import type { Body } from '../../src/values/objects/body.js';

const BODY: Body = {
  apiVersion: 'g/v1',
  kind: 'K',
  metadata: { name: 'n', namespace: 'ns', uid: 'u' },
  spec: { big: 'data' },
};
const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

function setup(posting: Partial<PostingSettings> = {}) {
  const events: KubeEvent[] = [];
  const logger = recordingLogger();
  const all = settings({ posting: { loggers: true, ...posting } });
  const poster = { post: (event: KubeEvent) => void events.push(event) };
  return { logger, events, settings: all, posting: { settings: all, poster } };
}

describe('A logger of an object', () => {
  it('adds the reference to every line, and leaves the text as it is', () => {
    const { logger } = setup();
    const ours = objectLogger({ logger, body: BODY });
    ours.info('hello', { xtra: 5 });
    ours.child({ more: 6 }).warn('again');
    const object = { apiVersion: 'g/v1', kind: 'K', name: 'n', uid: 'u', namespace: 'ns' };
    expect(logger.lines).toEqual([
      { level: 'info', message: 'hello', fields: { object, xtra: 5 } },
      { level: 'warn', message: 'again', fields: { object, more: 6 } },
    ]);
  });

  it('has nulls in the reference for what the object has not', () => {
    const { logger } = setup();
    objectLogger({ logger, body: { metadata: { name: 'n' } } }).info('hello');
    const object = { apiVersion: null, kind: null, name: 'n', uid: null, namespace: null };
    expect(logger.lines[0]?.fields).toEqual({ object });
  });

  it('posts the lines as events of the types of their levels', () => {
    const { logger, events, posting } = setup({ level: 'debug' });
    const ours = objectLogger({ logger, body: BODY, posting });
    for (const level of LEVELS) ours[level](`a ${level}`);
    expect(events.map(({ type, reason, message }) => [type, reason, message])).toEqual([
      ['Debug', 'Logging', 'a debug'],
      ['Normal', 'Logging', 'a info'],
      ['Warning', 'Logging', 'a warn'],
      ['Error', 'Logging', 'a error'],
    ]);
    expect(events[0]?.about).toEqual({
      apiVersion: 'g/v1',
      kind: 'K',
      metadata: { name: 'n', namespace: 'ns', uid: 'u' },
    });
    expect(logger.lines).toHaveLength(4);
  });

  it.each<[string, Partial<PostingSettings>, number]>([
    ['only from the lowest level on', { level: 'warn' }, 2],
    ['nothing if disabled', { enabled: false }, 0],
    ['nothing if logs are not to be posted', { loggers: false }, 0],
  ])('posts %s', (_what, overrides, count) => {
    const { logger, events, posting } = setup(overrides);
    const ours = objectLogger({ logger, body: BODY, posting }).child({ a: 1 });
    for (const level of LEVELS) ours[level]('line');
    expect(events).toHaveLength(count);
    expect(logger.lines).toHaveLength(4);
  });

  it('posts nothing by default', () => {
    const { logger, events } = setup();
    const all = settings();
    const poster = { post: (event: KubeEvent) => void events.push(event) };
    objectLogger({ logger, body: BODY, posting: { settings: all, poster } }).error('line');
    expect(events).toEqual([]);
  });

  it('posts nothing if there is nobody to post', () => {
    const { logger, events } = setup();
    objectLogger({ logger, body: BODY }).error('line');
    expect(events).toEqual([]);
  });

  it('looks at the settings as they are at the time', () => {
    const { logger, events, posting, settings } = setup({ loggers: false });
    const ours = objectLogger({ logger, body: BODY, posting });
    settings.posting.loggers = true;
    ours.info('line');
    expect(events).toHaveLength(1);
  });
});

describe('A terse logger', () => {
  it('is one level quieter', () => {
    const logger = recordingLogger();
    const terse = terseLogger(logger).child({ a: 1 });
    for (const level of LEVELS) terse[level](`was ${level}`, { b: 2 });
    expect(logger.lines).toEqual([
      { level: 'debug', message: 'was info', fields: { a: 1, b: 2 } },
      { level: 'warn', message: 'was warn', fields: { a: 1, b: 2 } },
      { level: 'error', message: 'was error', fields: { a: 1, b: 2 } },
    ]);
  });
});

describe('What is logged of Secrets, without their values', () => {
  const secret: Body = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'n', labels: { l: 'v' }, annotations: { 'any/config': '{"data":{"password":"cGFzcw=="}}' } },
    type: 'Opaque',
    data: { password: 'cGFzcw==' },
    stringData: { user: 'root' },
  };

  it('has their keys, but not their values', () => {
    expect(loggableBody(secret)).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'n', labels: { l: 'v' }, annotations: { 'any/config': '***' } },
      type: 'Opaque',
      data: { password: '***' },
      stringData: { user: '***' },
    });
    expect(secret['data']).toEqual({ password: 'cGFzcw==' });
  });

  it('has the places of changes, but not the values', () => {
    const diff = loggableDiff(
      [
        ['change', ['data', 'password'], 'b2xk', 'bmV3'],
        ['add', ['stringData'], undefined, { user: 'root', list: ['x'] }],
      ],
      secret,
    );
    expect(diff).toEqual([
      ['change', ['data', 'password'], '***', '***'],
      ['add', ['stringData'], undefined, { user: '***', list: '***' }],
    ]);
  });

  it.each([
    { apiVersion: 'v1', kind: 'ConfigMap' },
    { apiVersion: 'other/v1', kind: 'Secret' },
  ])('does not concern %o', (body) => {
    const data = { ...body, data: { key: 'value' } };
    expect(loggableBody(data)).toBe(data);
    expect(loggableDiff([['add', [], 1, 2]], data)).toEqual([['add', [], 1, 2]]);
  });
});
