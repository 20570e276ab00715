import { objectLogger } from '@kopf-ts/core/engine';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { localTime } from '../../src/logging/formats.js';
import { CLUSTERED, capture, NAMESPACED } from './captured.js';

describe('a line in the full format', () => {
  it('has the local time, the logger, the level and the message in columns', () => {
    const { logger, stream } = capture({ level: 'debug' });
    for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level]('hello', { object: NAMESPACED });
    expect(stream.text.endsWith('hello\n')).toBe(true);
    expect(stream.text.split('\n')).toEqual([
      '[2026-11-16 01:41:36,154] kopf.objects         [DEBUG   ] [ns/n] hello',
      '[2026-11-16 01:41:36,154] kopf.objects         [INFO    ] [ns/n] hello',
      '[2026-11-16 01:41:36,154] kopf.objects         [WARNING ] [ns/n] hello',
      '[2026-11-16 01:41:36,154] kopf.objects         [ERROR   ] [ns/n] hello',
      '',
    ]);
  });

  it.each([
    [{}, 'kopf                '],
    [{ object: NAMESPACED }, 'kopf.objects        '],
    [{ logger: 'kopf.activities.startup' }, 'kopf.activities.star'],
    [{ logger: 'kopf.activities.probe' }, 'kopf.activities.prob'],
    [{ activity: 'login' }, 'kopf.activities.auth'],
    [{ activity: 'cleanup' }, 'kopf.activities.clea'],
    [{ logger: 'mine', object: NAMESPACED }, 'mine                '],
    [{ logger: '' }, 'kopf                '],
    [{ logger: 123 }, 'kopf                '],
  ])('with the fields %j, names the logger in 20 characters: "%s"', (fields, name) => {
    const { logger, stream } = capture();
    logger.child(fields).info('hello');
    expect(stream.text).toContain(`,154] ${name} [INFO    ] `);
  });

  it.each([
    [new Date(2026, 0, 2, 3, 4, 5, 6), '2026-01-02 03:04:05,006'],
    [new Date(1999, 11, 31, 23, 59, 59, 999), '1999-12-31 23:59:59,999'],
  ])('pads all parts of the time', (date, text) => {
    expect(localTime(date)).toBe(text);
  });
});

describe('a line in the plain format', () => {
  it('is the message only', () => {
    const { logger, stream } = capture({ format: 'plain' });
    logger.warn('hello');
    expect(stream.text).toBe('hello\n');
  });
});

describe('fields in texts', () => {
  it.each(['full', 'plain'] as const)('follow the message in the format %s, as JSON', (format) => {
    const { logger, stream } = capture({ format });
    logger.child({ team: 'a b' }).info('changed!', { diff: [['change', ['spec', 'size'], 1, 2]], nothing: undefined });
    expect(stream.text.endsWith('changed! team="a b" diff=[["change", ["spec", "size"], 1, 2]]\n')).toBe(true);
  });

  it('are not repeated if the line tells them otherwise', () => {
    const { logger, stream } = capture({ format: 'plain' });
    logger.info('hello', { object: NAMESPACED, logger: 'mine', activity: 'startup', severity: 'low' });
    expect(stream.text).toBe('[ns/n] hello\n');
  });

  it('are cut short, and hide credentials', () => {
    const { logger, stream } = capture({ format: 'plain' });
    logger.info('hello', { long: 'x'.repeat(500), password: 'hunter2', nested: { accessToken: 'abc' } });
    expect(stream.text).toBe(`hello long="${'x'.repeat(199)}… password="***" nested={"accessToken": "***"}\n`);
  });

  it('cannot make up lines', () => {
    const { logger, stream } = capture({ format: 'plain' });
    logger.info('hello', { 'a\nb': 'x\r\n[2026-11-16] all is fine\u001b[2J' });
    expect(stream.text.trimEnd().split(/[\r\n]/)).toHaveLength(1);
    expect(stream.text).toContain('a\\u{a}b="x\\r\\n[2026-11-16] all is fine\\u001b[2J"');
  });
});

describe('the prefix of messages about objects', () => {
  it.each(['full', 'plain'] as const)('in the format %s, cannot make up lines', (format) => {
    const { logger, stream } = capture({ format });
    const name = 'x]\r\n[2026-11-16 01:41:36,154] kopf [INFO    ] all is fine\u001b[2J\u202e';
    logger.info('hello', { object: { ...NAMESPACED, name } });
    expect(stream.text.trimEnd().split(/[\r\n]/)).toHaveLength(1);
    expect(stream.text).toContain('x]\\u{d}\\u{a}[2026');
    expect(stream.text).toContain('fine\\u{1b}[2J\\u{202e}] hello');
  });

  it.each([
    ['full', undefined, true],
    ['plain', undefined, true],
    ['json', undefined, false],
    ['full', false, false],
    ['json', true, true],
  ] as const)('in the format %s, if told %s, is there: %s', (format, prefix, isThere) => {
    const { logger, stream } = capture({ format, prefix });
    logger.info('hello', { object: NAMESPACED });
    expect(stream.text.includes('[ns/n] hello')).toBe(isThere);
    expect(stream.text.includes('hello')).toBe(true);
  });

  it.each([
    ['of a namespaced one', NAMESPACED, '[ns/n] hello\n'],
    ['of a cluster-scoped one', CLUSTERED, '[n] hello\n'],
    ['of a nameless one', { kind: 'K' }, 'hello\n'],
    ['of nothing', null, 'hello\n'],
  ])('is made of the names %s', (_title, object, text) => {
    const { logger, stream } = capture({ format: 'plain' });
    logger.info('hello', { object });
    expect(stream.text).toBe(text);
  });

  it('comes with loggers of handlers', () => {
    const { logger, stream } = capture({ format: 'plain' });
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pod', namespace: 'here' } };
    objectLogger({ logger, body }).info('hello');
    expect(stream.text).toBe('[here/pod] hello\n');
  });
});

/** As lines after the first one are printed. */
function indented(text: string | undefined): string {
  return (text ?? '').replaceAll(/^/gm, '    ');
}

describe('an error in a text', () => {
  it('follows the line with its stack and its causes', () => {
    const { logger, stream } = capture({ format: 'plain' });
    const inner = new TypeError('inner');
    const outer = new Error('outer', { cause: inner });
    logger.error('It failed.', { error: outer });
    expect(stream.text).toBe(`It failed.\n${indented(`${outer.stack}\nCaused by: ${inner.stack}`)}\n`);
  });

  it('of several shows all of them', () => {
    const { logger, stream } = capture({ format: 'plain' });
    const [one, two] = [new Error('one'), new Error('two')];
    logger.error('It failed.', { error: new AggregateError([one, two], 'both') });
    expect(stream.text).toContain(indented(`One of the errors: ${one.stack}`));
    expect(stream.text).toContain(indented(`One of the errors: ${two.stack}`));
  });

  it('is shown once, even if it causes itself', () => {
    const { logger, stream } = capture({ format: 'plain' });
    const error = new Error('loop');
    error.cause = error;
    logger.error('It failed.', { error });
    expect(stream.text).toBe(`It failed.\n${indented(error.stack)}\n`);
  });

  it.each([
    ['a text', 'boo', 'boo'],
    ['a number', 5, '5'],
    ['an object', { a: 1 }, '{"a":1}'],
  ])('may be anything that was thrown: %s', (_title, error, text) => {
    const { logger, stream } = capture({ format: 'plain' });
    logger.error('It failed.', { error });
    expect(stream.text).toBe(`It failed.\n${indented(text)}\n`);
  });

  it('shows a message that was changed after the stack was made', () => {
    const { logger, stream } = capture({ format: 'plain' });
    const error = new Error('before');
    expect(error.stack).toContain('before');
    error.message = 'after';
    logger.error('It failed.', { error });
    expect(stream.text).toContain('It failed.\n    Error: after\n    Error: before\n');
  });

  it('does not show what else it carries, such as requests with credentials', () => {
    const { logger, stream } = capture({ format: 'plain' });
    const error = Object.assign(new Error('HTTP 401'), { config: { headers: { Authorization: 'Bearer abc' } } });
    logger.error('It failed.', { error });
    expect(stream.text).toContain('HTTP 401');
    expect(stream.text).not.toContain('abc');
  });
});

describe('colours', () => {
  afterEach(() => void vi.unstubAllEnvs());

  it.each([
    ['full', true, undefined, true],
    ['full', false, undefined, false],
    ['full', true, false, false],
    ['full', false, true, true],
    ['plain', true, undefined, false],
    ['json', true, undefined, false],
  ] as const)('in the format %s, on a terminal: %s, if told %s, are there: %s', (format, isTTY, colors, areThere) => {
    vi.stubEnv('NO_COLOR', undefined);
    vi.stubEnv('FORCE_COLOR', undefined);
    const { logger, stream } = capture({ format, isTTY, colors });
    logger.error('hello');
    expect(stream.text.includes('\u001B[31m')).toBe(areThere);
  });

  it.each([
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [false, { FORCE_COLOR: '1' }, true],
    [false, { FORCE_COLOR: '' }, true],
    [true, { FORCE_COLOR: '0' }, false],
    [false, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
  ])('on a terminal: %s, with %j, are there: %s', (isTTY, env: Record<string, string>, areThere) => {
    for (const name of ['NO_COLOR', 'FORCE_COLOR']) vi.stubEnv(name, env[name]);
    const { logger, stream } = capture({ isTTY });
    logger.error('hello');
    expect(stream.text.includes('\u001B[31m')).toBe(areThere);
  });

  it('do not leak into the next line', () => {
    const { logger, stream } = capture({ colors: true });
    logger.warn('hello');
    expect(stream.text).toBe('\u001B[33m[2026-11-16 01:41:36,154] kopf                 [WARNING ] hello\u001B[0m\n');
  });
});

describe.each(['full', 'plain'] as const)('whatever is in a text of the format %s', (format) => {
  const FORGED = '[2026-11-16 01:41:36,154] kopf                 [INFO    ] all is fine';

  it.each([
    ['a line break', `no\n${FORGED}`, `no\n    ${FORGED}`],
    ['a line break of Windows', `no\r\n${FORGED}`, `no\n    ${FORGED}`],
    ['a carriage return', `no\r${FORGED}`, `no\\u{d}${FORGED}`],
    ['a vertical tab and a form feed', 'a\vb\fc', 'a\\u{b}b\\u{c}c'],
    ['an escape code', 'a\u001b[2J\u001b]0;title\u0007b', 'a\\u{1b}[2J\\u{1b}]0;title\\u{7}b'],
    ['an escape code of one byte', 'a\u009b31mb', 'a\\u{9b}31mb'],
    ['the next line of C1', 'a\u0085b', 'a\\u{85}b'],
    ['line breaks of Unicode', 'a\u2028b\u2029c', 'a\\u{2028}b\\u{2029}c'],
    ['letters in another order', 'a\u202eb\u2066c', 'a\\u{202e}b\\u{2066}c'],
    ['zeroes and deletions', 'a\u0000b\u007fc\bd', 'a\\u{0}b\\u{7f}c\\u{8}d'],
    ['an empty line', `a\n\n${FORGED}`, `a\n\n    ${FORGED}`],
  ])('makes up neither lines nor commands: %s', (_what, message, printed) => {
    const { logger, stream } = capture({ format });
    logger.error(message);
    expect(stream.text.endsWith(`${printed}\n`)).toBe(true);
    expect(stream.text.split('\n').filter((line) => line.startsWith('['))).toHaveLength(format === 'full' ? 1 : 0);
  });

  it('makes up nothing in errors and their causes either', () => {
    const { logger, stream } = capture({ format });
    const cause = new Error(`inner\n${FORGED}`);
    logger.error('It failed.', { error: new TypeError(`outer\r${FORGED}\u001b[0m`, { cause }) });
    const [, ...continued] = stream.text.trimEnd().split('\n');
    expect(continued.length).toBeGreaterThan(2);
    for (const line of continued) expect(line).toMatch(/^ {4}/);
    for (const control of ['\r', '\u001b']) expect(stream.text).not.toContain(control);
  });

  it('makes up nothing in names of loggers', () => {
    const { logger, stream } = capture({ format });
    logger.child({ logger: 'x\n[2026' }).info('hello');
    expect(stream.text.trimEnd().split('\n')).toHaveLength(1);
  });

  it.each(['tabs\tare fine', 'so is ünicode, 日本語, and 👩‍👩‍👧', 'C:\\u{1b}'])(
    'stays as it is otherwise: %s',
    (message) => {
      const { logger, stream } = capture({ format });
      logger.info(message);
      expect(stream.text.endsWith(`${message}\n`)).toBe(true);
    },
  );
});
