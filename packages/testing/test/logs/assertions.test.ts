import { AssertionError } from 'node:assert';
import { describe, expect, it } from 'vitest';
import { type LinePattern, recordingLogger } from '../../src/index.js';

function sample() {
  const logger = recordingLogger();
  logger.debug('Operator is starting.');
  const child = logger.child({ object: { name: 'one', namespace: 'default' } });
  child.info("Handler 'fn' is invoked.");
  child.error("Handler 'fn' failed.", { error: new Error('boo'), delays: [1, 2] });
  child.info("Handler 'fn' succeeded.");
  return logger;
}

function complaint(assert: () => void): string {
  try {
    assert();
  } catch (error) {
    if (error instanceof AssertionError) return error.message;
    throw error;
  }
  throw new Error('It does not complain.');
}

describe('expecting lines in a log', () => {
  it.each<[string, readonly LinePattern[]]>([
    ['a part of the text', ['starting']],
    ['a regular expression', [/^Operator .* starting\.$/]],
    ['a level', [{ level: 'error' }]],
    ['a level and a text', [{ level: 'info', text: /succeeded/ }]],
    ['some of the fields', [{ fields: { object: { name: 'one' } } }]],
    ['patterns in the fields', [{ fields: { error: { message: /^bo+$/ } } }]],
    ['lists in the fields, as a whole', [{ fields: { delays: [1, 2] } }]],
    ['several lines in their order, with others among them', ['starting', 'failed', 'succeeded']],
    ['the same pattern twice, if there are two such lines', [{ level: 'info' }, { level: 'info' }]],
    ['nothing', []],
  ])('finds them by %s', (_title, patterns) => {
    expect(() => sample().expect(...patterns)).not.toThrow();
  });

  it.each<[string, readonly LinePattern[], RegExp]>([
    ['a text that is nowhere', ['ending'], /^No line matches "ending"\.\n/],
    ['a pattern that is nowhere', [/^starting/], /^No line matches \/\^starting\/\.\n/],
    ['another level', [{ level: 'warn', text: 'failed' }], /^No line matches level warn, text "failed"\.\n/],
    ['other fields', [{ fields: { object: { name: 'two' } } }], /^No line matches any level, any text, fields .*"two"/],
    ['a longer list', [{ fields: { delays: [1, 2, 3] } }], /^No line matches/],
    ['a shorter list', [{ fields: { delays: [1] } }], /^No line matches/],
    ['fields that are inherited', [{ fields: { constructor: Object } }], /^No line matches/],
    [
      'another order',
      ['succeeded', 'failed'],
      /^No line after line 4 matches "failed"\. There is one before.* line 3\.\n/,
    ],
    ['more lines than there are', ['starting', 'starting'], /^No line after line 1 matches/],
  ])('complains of %s', (_title, patterns, message) => {
    expect(complaint(() => sample().expect(...patterns))).toMatch(message);
  });

  it('shows the log when it complains', () => {
    expect(complaint(() => sample().expect('ending'))).toBe(
      [
        'No line matches "ending".',
        'The log has 4 lines:',
        '    1. debug Operator is starting.',
        `    2. info  Handler 'fn' is invoked. {"object":{"name":"one","namespace":"default"}}`,
        `    3. error Handler 'fn' failed. {"object":{"name":"one","namespace":"default"},"error":"Error: boo","delays":[1,2]}`,
        `    4. info  Handler 'fn' succeeded. {"object":{"name":"one","namespace":"default"}}`,
      ].join('\n'),
    );
    expect(complaint(() => recordingLogger().expect('ending'))).toBe('No line matches "ending".\nThe log is empty.');
  });

  it('shows the last lines of a long log, and fields that cannot be written', () => {
    const logger = recordingLogger();
    const endless: Record<string, unknown> = {};
    endless['itself'] = endless;
    for (let n = 1; n <= 100; n++) logger.info(`Line ${n}.`, endless);
    const text = complaint(() => logger.expect('ending'));
    expect(text).toContain('The log has 100 lines; the last 60 are:\n   41. info  Line 41. {itself}\n');
    expect(text).not.toContain('Line 40.');
  });
});

describe('expecting no such lines in a log', () => {
  it('is content if there are none', () => {
    expect(() => sample().expectNone('ending', { level: 'warn' })).not.toThrow();
  });

  it('complains of the first one, and shows the log', () => {
    expect(complaint(() => sample().expectNone('ending', { level: 'info' }))).toMatch(
      /^There must be no line that matches level info, any text, but there is line 2\.\nThe log has 4 lines:/,
    );
  });
});

describe('looking for lines', () => {
  it('gives all of them', () => {
    expect(
      sample()
        .filter({ level: 'info' })
        .map(({ message }) => message),
    ).toEqual(["Handler 'fn' is invoked.", "Handler 'fn' succeeded."]);
  });

  it('waits for the next one, unless there is one already', async () => {
    const logger = sample();
    expect(await logger.until('starting')).toBe(logger.lines[0]);
    const next = logger.until({ level: 'warn', text: 'Beware' });
    logger.info('Beware of info.');
    logger.child({ a: 1 }).warn('Beware of warnings.');
    logger.warn('Beware of what is later.');
    expect(await next).toMatchObject({ message: 'Beware of warnings.', fields: { a: 1 } });
  });

  it('gives up waiting when told to, and shows the log then', async () => {
    const [logger, aborting] = [sample(), new AbortController()];
    const next = logger.until('ending', { signal: aborting.signal });
    const reason = new Error('enough');
    aborting.abort(reason);
    await expect(next).rejects.toMatchObject({
      message: expect.stringMatching(/^No line has come that matches "ending"\.\nThe log has 4 lines:/),
      cause: reason,
    });
  });
});
