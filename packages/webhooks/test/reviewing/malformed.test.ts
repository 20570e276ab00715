import { type AdmissionRequest, MissingDataError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { objectOf, reviewed, reviewOf } from './reviewed.js';

/** Reviews it with a handler that would allow anything. */
function reviewing(review: unknown) {
  let calls = 0;
  const { review: ask } = reviewed(({ on }) =>
    on.validate('kopfexamples', { id: 'fn', subresource: '*' }, () => {
      calls++;
    }),
  );
  return { answer: ask(review as AdmissionRequest), calls: () => calls };
}

async function expectRefusal(review: unknown, message: RegExp): Promise<void> {
  const { answer, calls } = reviewing(review);
  await expect(answer).rejects.toThrow(MissingDataError);
  await expect(answer).rejects.toThrow(message);
  expect(calls()).toBe(0);
}

describe('what is not a review is refused:', () => {
  it.each([[undefined], [null], ['text'], [1], [true], [[]], [[reviewOf()]]])('%j', async (review) => {
    await expectRefusal(review, /must be an AdmissionReview/);
  });

  it.each([[{}], [{ request: null }], [{ response: {} }], [JSON.parse('{"__proto__": {"request": {}}}')]])(
    'without a request: %j',
    async (review) => {
      await expectRefusal(review, /has no request/);
    },
  );

  it.each([['text'], [[]], [[reviewOf().request]], [1], [true]])('with a request of %j', async (request) => {
    await expectRefusal({ request }, /request must be an object/);
  });

  it.each(['apiVersion', 'kind'])('with a wrong %s', async (field) => {
    await expectRefusal({ ...reviewOf(), [field]: {} }, new RegExp(`${field} must be a text`));
  });
});

describe('a review is refused without its', () => {
  it.each(['uid', 'userInfo', 'resource', 'operation'] as const)('%s', async (field) => {
    await expectRefusal(reviewOf({ [field]: null }), new RegExp(`has no request.${field}`));
    await expectRefusal(reviewOf({ [field]: undefined }), new RegExp(`has no request.${field}`));
  });

  it('uid, if it is empty', async () => {
    await expectRefusal(reviewOf({ uid: '' }), /has no request.uid/);
  });

  it.each(['group', 'version', 'resource'])('resource.%s', async (field) => {
    const resource = { group: 'kopf.dev', version: 'v1', resource: 'kopfexamples', [field]: undefined };
    await expectRefusal(reviewOf({ resource }), new RegExp(`has no request.resource.${field}`));
  });

  it.each([undefined, null])('objects, neither old nor new: %s', async (nothing) => {
    await expectRefusal(reviewOf({ object: nothing, oldObject: nothing }), /no request.object and request.oldObject/);
  });
});

describe('a review is refused with a wrong', () => {
  const WRONG_TEXTS = [1, true, {}, [], ['text']];
  const WRONG_OBJECTS = ['text', '', 1, 0, true, false, [], [{}]];
  const WRONG_FLAGS = ['true', '', 1, 0, {}, []];

  it.each([
    ...WRONG_TEXTS.map((value) => ['uid', value] as const),
    ...WRONG_TEXTS.map((value) => ['operation', value] as const),
    ...WRONG_TEXTS.map((value) => ['subResource', value] as const),
    ...WRONG_OBJECTS.map((value) => ['resource', value] as const),
    ...WRONG_OBJECTS.map((value) => ['userInfo', value] as const),
    ...WRONG_OBJECTS.map((value) => ['object', value] as const),
    ...WRONG_OBJECTS.map((value) => ['oldObject', value] as const),
    ...WRONG_FLAGS.map((value) => ['dryRun', value] as const),
  ])('%s: %j', async (field, value) => {
    await expectRefusal(reviewOf({ [field]: value }), new RegExp(`malformed: request.${field} must be`));
  });

  it.each(['FOO', 'create', 'CREATE ', '*', '__proto__', 'PATCH'])('operation: %s', async (operation) => {
    await expectRefusal(reviewOf({ operation }), /request.operation must be one of CREATE, UPDATE, DELETE, CONNECT/);
  });

  it.each(['group', 'version', 'resource'])('resource.%s', async (field) => {
    const resource = { group: 'kopf.dev', version: 'v1', resource: 'kopfexamples', [field]: 1 };
    await expectRefusal(reviewOf({ resource }), new RegExp(`request.resource.${field} must be a text`));
  });

  it.each([
    ['apiVersion', 1],
    ['kind', {}],
    ['metadata', 'text'],
    ['metadata', []],
  ])('%s in an object: %j', async (field, value) => {
    for (const key of ['object', 'oldObject'] as const) {
      await expectRefusal(
        reviewOf({ [key]: objectOf({ [field]: value }) }),
        new RegExp(`request.${key}.${field} must`),
      );
    }
  });

  it.each([
    ['name', 1],
    ['namespace', []],
    ['uid', {}],
    ['labels', 'text'],
    ['annotations', []],
  ])('metadata.%s in an object: %j', async (field, value) => {
    const object = objectOf({ metadata: { name: 'one', [field]: value } });
    await expectRefusal(reviewOf({ object }), new RegExp(`request.object.metadata.${field} must`));
  });

  it('depth of an object', async () => {
    const depth = 100_000;
    const text = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    await expectRefusal(reviewOf({ object: objectOf({ spec: JSON.parse(text) }) }), /nested too deep/);
  });

  it.each(['old', 'diff'] as const)('depth of the old object, once it is looked at: %s', async (name) => {
    const depth = 100_000;
    const spec = JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
    const { ask } = reviewed(({ on }) => on.validate('kopfexamples', { id: 'fn' }, (kwargs) => void kwargs[name]));
    const response = await ask({ operation: 'UPDATE', object: objectOf(), oldObject: objectOf({ spec }) });
    expect(response).toMatchObject({ allowed: false, status: { message: expect.stringMatching(/nested too deep/) } });
  });
});

describe('a refusal', () => {
  it('does not repeat what was sent', async () => {
    const { answer } = reviewing(reviewOf({ operation: ['secret'] }));
    await expect(answer).rejects.toThrow(expect.objectContaining({ message: expect.not.stringContaining('secret') }));
  });
});

describe('strange is not wrong:', () => {
  it.each<[string, object]>([
    ['an object with nothing in it', { object: {} }],
    ['an object with nulls', { object: objectOf({ metadata: { name: null, labels: null } as never, spec: null }) }],
    ['an object with no metadata', { object: objectOf({ metadata: null as never }) }],
    ['an unknown field', { unheard: { of: [] } }],
  ])('%s', async (_title, fields) => {
    const { answer, calls } = reviewing(reviewOf(fields));
    expect((await answer).response).toEqual({ uid: 'review-uid', allowed: true });
    expect(calls()).toBe(1);
  });

  it('keys that every object has', async () => {
    const text = JSON.stringify(reviewOf()).replaceAll(
      '"spec":{',
      '"spec":{"__proto__":{"polluted":1},"constructor":1,',
    );
    let seen: Record<string, unknown> = {};
    const { review } = reviewed(({ on }) =>
      on.mutate('kopfexamples', function fn({ spec, patch }) {
        seen = spec;
        patch.spec.added = 1;
      }),
    );
    const { response } = await review(JSON.parse(text));
    expect(response.allowed).toBe(true);
    expect(Object.keys(seen)).toEqual(['__proto__', 'constructor', 'field']);
    expect(seen['polluted']).toBeUndefined();
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(JSON.parse(atob(response.patch ?? ''))).toEqual([{ op: 'add', path: '/spec/added', value: 1 }]);
  });
});
