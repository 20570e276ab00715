import { type Admission, AdmissionError, PermanentError, TemporaryError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { objectOf, patchIn, reviewed, reviewOf, settingsWithStorages } from './reviewed.js';

type Kind = 'validate' | 'mutate';
const KINDS: readonly Kind[] = ['validate', 'mutate'];
const ALLOWED = { uid: 'review-uid', allowed: true };

const UNEXPECTED = "Webhook 'fn0' has failed unexpectedly. See the operator's log for the review review-uid.";

/** The response to handlers that throw these errors, one each. */
async function afterErrors(...errors: readonly unknown[]) {
  const { ask } = reviewed(({ on }) => {
    for (const [index, error] of errors.entries()) {
      on.validate('kopfexamples', { id: `fn${index}` }, () => {
        throw error;
      });
    }
  });
  return await ask();
}

describe('a review is allowed, and nothing else is said,', () => {
  it('if there are no handlers', async () => {
    expect(await reviewed().ask()).toEqual(ALLOWED);
  });

  it.each(KINDS)('if the handlers return nothing: %s', async (kind) => {
    const { ask } = reviewed(({ on }) => on[kind]('kopfexamples', function fn() {}));
    expect(await ask()).toEqual(ALLOWED);
  });

  it.each(KINDS)('if the handlers return anything, which is of no use: %s', async (kind) => {
    const { ask } = reviewed(({ on }) =>
      on[kind]('kopfexamples', async function fn() {
        return { allowed: false };
      }),
    );
    expect(await ask()).toEqual(ALLOWED);
  });
});

describe('the response tells which review it is for', () => {
  it('by whatever was in the request', async () => {
    const { review } = reviewed();
    const { request } = reviewOf({ uid: 'any uid' });
    expect(await review({ apiVersion: 'any/version', kind: 'AnyKind', request })).toEqual({
      apiVersion: 'any/version',
      kind: 'AnyKind',
      response: { uid: 'any uid', allowed: true },
    });
  });

  it.each([undefined, null])('by the usual words where the request has none: %s', async (nothing) => {
    const { review } = reviewed();
    const { request } = reviewOf();
    expect(await review({ apiVersion: nothing, kind: nothing, request } as never)).toEqual({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: 'review-uid', allowed: true },
    });
  });
});

describe('an error denies the review', () => {
  it.each<[string, unknown, object]>([
    ['any error', new Error('No!'), { message: UNEXPECTED, code: 500 }],
    ['a permanent error', new PermanentError('No!'), { message: 'No!', code: 500 }],
    ['a temporary error', new TemporaryError('No!'), { message: 'No!', code: 500 }],
    ['an admission error', new AdmissionError('No!'), { message: 'No!', code: 500 }],
    ['an admission error with a code', new AdmissionError('No!', { code: 123 }), { message: 'No!', code: 123 }],
    ['an admission error with no code', new AdmissionError('No!', { code: 0 }), { message: 'No!', code: 500 }],
    ['an impossible code', new AdmissionError('No!', { code: 1e12 }), { message: 'No!', code: 500 }],
    ['not even a code', new AdmissionError('No!', { code: Number.NaN }), { message: 'No!', code: 500 }],
    ['an admission error with no text', new AdmissionError(), { message: "AdmissionError('')", code: 500 }],
    ['an admission error with an empty text', new AdmissionError(''), { message: "AdmissionError('')", code: 500 }],
    [
      "an admission error of a user's class",
      new (class NoQuota extends AdmissionError {})('', { code: 429 }),
      { message: "NoQuota('')", code: 429 },
    ],
    ['any error with no text', new TypeError(), { message: UNEXPECTED, code: 500 }],
    ['not an error at all', 'No!', { message: UNEXPECTED, code: 500 }],
  ])('%s', async (_title, error, status) => {
    expect(await afterErrors(error)).toEqual({ uid: 'review-uid', allowed: false, status });
  });

  it.each(KINDS)('also if it comes later: %s', async (kind) => {
    const { ask } = reviewed(({ on }) =>
      on[kind]('kopfexamples', async function fn() {
        await Promise.resolve();
        throw new AdmissionError('No!', { code: 422 });
      }),
    );
    expect(await ask()).toEqual({ uid: 'review-uid', allowed: false, status: { message: 'No!', code: 422 } });
  });

  it('without telling where it comes from', async () => {
    for (const kind of [Error, PermanentError]) {
      const text = JSON.stringify(await afterErrors(new kind('No!', { cause: new Error('a secret') })));
      expect(text).not.toMatch(/secret|\.ts|stack/);
    }
  });

  it('without telling what it was if it was not meant for people; the log tells it, and of which review', async () => {
    const { ask, logger } = reviewed(({ on }) =>
      on.validate('kopfexamples', async function quota() {
        await Promise.resolve();
        throw new Error('connect to db://user:hunter2@db.internal failed');
      }),
    );
    const response = await ask({ uid: 'a17' });
    expect(response.status?.message).toMatch(/^Webhook 'quota' has failed unexpectedly\. .* the review a17\.$/);
    expect(JSON.stringify(response)).not.toMatch(/hunter2|db/);
    expect(logger.find('Review "a17" is denied: Webhook \'quota\' has failed unexpectedly: connect to')).toMatchObject({
      level: 'error',
    });
  });

  it('with what it was in any case, if all has to be as in Kopf', async () => {
    const settings = settingsWithStorages();
    settings.persistence.compat = 'kopf';
    const { ask } = reviewed(
      ({ on }) =>
        on.validate('kopfexamples', function fn() {
          throw new TypeError('No!');
        }),
      { settings },
    );
    expect((await ask()).status).toEqual({ message: 'No!', code: 500 });
  });

  it('cannot write lines into the log by the uid of the review', async () => {
    const { ask, logger } = reviewed(({ on }) =>
      on.validate('kopfexamples', function fn() {
        throw new Error('No!');
      }),
    );
    await ask({ uid: `x\r\n${'y'.repeat(1000)}` });
    const line = logger.messages('error').find((text) => text.startsWith('Review ')) ?? '';
    expect(line).toContain('"x\\r\\ny');
    expect(line.length).toBeLessThan(400);
  });

  it('and is logged with where it comes from, if it was not meant', async () => {
    const error = new Error('No!');
    const { ask, logger } = reviewed(({ on }) =>
      on.validate('kopfexamples', function fn() {
        throw error;
      }),
    );
    await ask();
    expect(logger.find("Webhook 'fn' failed with an exception and will stop now: No!")).toMatchObject({
      level: 'error',
      fields: { error },
    });
  });
});

describe('of several errors, the one that is most for people is told', () => {
  const [plain, other] = [new Error('plain'), new Error('other')];
  const temporary = new TemporaryError('temporary');
  const permanent = new PermanentError('permanent');
  const admission = new AdmissionError('admission');

  it.each([
    [plain, other, UNEXPECTED],
    [other, plain, UNEXPECTED],
    [new AdmissionError('first'), new AdmissionError('second'), 'first'],
    [plain, temporary, 'temporary'],
    [plain, permanent, 'permanent'],
    [plain, admission, 'admission'],
    [temporary, permanent, 'permanent'],
    [temporary, admission, 'admission'],
    [permanent, admission, 'admission'],
    [admission, permanent, 'admission'],
    [permanent, temporary, 'permanent'],
    [temporary, plain, 'temporary'],
  ])('%s, %s: %s', async (first, second, message) => {
    expect((await afterErrors(first, second)).status?.message).toBe(message);
  });
});

describe('warnings', () => {
  const warned = async (...warnings: readonly unknown[]) => {
    const { ask } = reviewed(({ on }) =>
      on.validate('kopfexamples', function fn(kwargs) {
        kwargs.warnings.push(...(warnings as string[]));
      }),
    );
    return await ask();
  };

  it('are told, and harm nothing', async () => {
    expect(await warned('Beware!')).toEqual({ ...ALLOWED, warnings: ['Beware!'] });
  });

  it.each([
    [123, '123'],
    [undefined, 'undefined'],
    [new Error('Oops'), 'Error: Oops'],
    [Object.create(null), '[object Object]'],
    [Symbol('x'), 'Symbol(x)'],
  ])('are texts, whatever they were: %o', async (warning, text) => {
    expect((await warned(warning)).warnings).toEqual([text]);
  });

  it('of all handlers are told, in order, and also if it is denied', async () => {
    const { ask } = reviewed(({ on }) => {
      on.validate('kopfexamples', async function fn1({ warnings }) {
        await Promise.resolve();
        warnings.push('one');
        throw new Error('No!');
      });
      on.mutate('kopfexamples', function fn2({ warnings }) {
        warnings.push('two');
      });
    });
    expect(await ask()).toMatchObject({ allowed: false, warnings: ['one', 'two'], status: { code: 500 } });
  });
});

describe('patches', () => {
  it.each(KINDS)('become JSON-patches: of %s', async (kind) => {
    const { ask } = reviewed(({ on }) =>
      on[kind]('kopfexamples', function fn({ patch }) {
        patch.xyz = 'added';
        patch.spec.field = 'replaced';
      }),
    );
    const response = await ask();
    expect(response).toEqual({ ...ALLOWED, patch: expect.any(String), patchType: 'JSONPatch' });
    expect(patchIn(response)).toEqual(
      expect.arrayContaining([
        { op: 'add', path: '/xyz', value: 'added' },
        { op: 'replace', path: '/spec/field', value: 'replaced' },
      ]),
    );
    expect(patchIn(response)).toHaveLength(2);
  });

  it('are of all handlers together, and are there also if it is denied', async () => {
    const { ask } = reviewed(({ on }) => {
      on.mutate('kopfexamples', function fn1({ patch }) {
        patch.spec.one = 1;
      });
      on.mutate('kopfexamples', function fn2({ patch }) {
        patch.fns.push((body) => {
          body.spec.two = body.spec.one + 1;
        });
        throw new Error('No!');
      });
    });
    const response = await ask();
    expect(response.allowed).toBe(false);
    expect(patchIn(response)).toEqual([
      { op: 'add', path: '/spec/one', value: 1 },
      { op: 'add', path: '/spec/two', value: 2 },
    ]);
  });

  it('have their keys escaped', async () => {
    const { ask } = reviewed(({ on }) =>
      on.mutate('kopfexamples', function fn({ patch }) {
        patch.metadata.labels['example.com/a~b'] = 'ü';
      }),
    );
    const object = objectOf({ metadata: { name: 'one', labels: {} } });
    expect(patchIn(await ask({ object }))).toEqual([
      { op: 'add', path: '/metadata/labels/example.com~1a~0b', value: 'ü' },
    ]);
  });

  it('remove what is null, with whatever becomes empty by that', async () => {
    const { ask } = reviewed(({ on }) =>
      on.mutate('kopfexamples', function fn({ patch }) {
        patch.spec.a = { b: null };
      }),
    );
    const object = objectOf({ spec: { a: { b: 1 }, c: 1 } });
    expect(patchIn(await ask({ object }))).toEqual([{ op: 'remove', path: '/spec/a' }]);
  });

  it('that change nothing are not there', async () => {
    const { ask } = reviewed(({ on }) =>
      on.mutate('kopfexamples', function fn({ patch }) {
        patch.spec.field = 'value';
        patch.spec.absent = null;
        patch.fns.push(() => {});
      }),
    );
    expect(await ask()).toEqual(ALLOWED);
  });

  it('are new for each review', async () => {
    const { ask } = reviewed(({ on }) =>
      on.mutate('kopfexamples', function fn({ patch, name }) {
        patch.spec[name ?? ''] = 1;
      }),
    );
    await ask();
    expect(patchIn(await ask({ object: objectOf({ metadata: { name: 'two' } }) }))).toEqual([
      { op: 'add', path: '/spec/two', value: 1 },
    ]);
  });

  it.each<[string, (patch: Admission['patch']) => void, RegExp]>([
    [
      'whose functions fail',
      (patch) =>
        void patch.fns.push(() => {
          throw new Error('Cannot patch!');
        }),
      /: Cannot patch!$/,
    ],
    [
      'that are not data',
      (patch) => {
        patch.spec.big = 1n;
      },
      /BigInt/,
    ],
  ])('%s deny the review', async (_title, change, message) => {
    const { ask, logger } = reviewed(({ on }) =>
      on.mutate('kopfexamples', function fn({ patch }) {
        change(patch);
      }),
    );
    expect(await ask()).toEqual({
      uid: 'review-uid',
      allowed: false,
      status: { message: expect.stringMatching(/^Making the patch has failed unexpectedly\. /), code: 500 },
    });
    const [first, second] = logger.messages('error');
    expect(first).toMatch(/^The patch of the admission handlers cannot/);
    expect(second).toMatch(/^Review "review-uid" is denied: Making the patch has failed unexpectedly: /);
    for (const line of [first, second]) expect(line).toMatch(message);
  });
});
