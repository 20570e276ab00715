import { describe, expect, it } from 'vitest';
import {
  encodeId,
  handlerIdAt,
  isDomain,
  kopfName,
  servicePaths,
  webhookNames,
  withHandlerId,
} from '../../src/configurations/webhook-names.js';

const MANAGED = 'auto.kopf.dev';

describe('names of webhooks as in Kopf', () => {
  it.each([
    ['id', 'id.sfx'],
    ['id.', 'id..sfx'],
    ['id-', 'id-.sfx'],
    ['id_', 'id-.sfx'],
    ['id!', 'id21.sfx'],
    ['id%', 'id25.sfx'],
    ['id/sub', 'id.sub.sfx'],
    ['id/fld1.fld2', 'id.fld1.fld2.sfx'],
    ['a b', 'a20b.sfx'],
    ['Fn.<locals>.x', 'Fn.3clocals3e.x.sfx'],
    ['UPPER_case', 'UPPER-case.sfx'],
    ['größe²', 'größe².sfx'],
    ['a→b', 'ae28692b.sfx'],
  ])('of %j is %j', (id, name) => {
    expect(kopfName(id, 'sfx')).toBe(name);
  });

  it('are without a suffix if that is empty', () => {
    expect(kopfName('id/sub', '')).toBe('id.sub');
  });
});

describe('names of webhooks', () => {
  it('are as in Kopf if the API server accepts these', () => {
    expect(webhookNames(['id', 'a_b', 'id!', 'fn/spec.size'], MANAGED)).toEqual([
      'id.auto.kopf.dev',
      'a-b.auto.kopf.dev',
      'id21.auto.kopf.dev',
      'fn.spec.size.auto.kopf.dev',
    ]);
  });

  it.each([
    ['checkSize', 'checksize.auto.kopf.dev'],
    ['id.', 'id.auto.kopf.dev'],
    ['id_', 'id.auto.kopf.dev'],
    ['_private', 'private.auto.kopf.dev'],
    ['a..b', 'a.b.auto.kopf.dev'],
    ['größe', 'grc3b6c39fe.auto.kopf.dev'],
    ['Fn.<locals>.x', 'fn.3clocals3e.x.auto.kopf.dev'],
    ['___', 'handler.auto.kopf.dev'],
    ['/', 'handler.auto.kopf.dev'],
  ])('are simplified for ids which the API server does not accept: %j is %j', (id, name) => {
    expect(webhookNames([id], MANAGED)).toEqual([name]);
  });

  it('are cut if they are too long', () => {
    const [one = '', two = ''] = webhookNames(['x'.repeat(300), 'x'.repeat(301)], MANAGED);
    expect([one.length, two.length]).toEqual([248, 250]);
    expect(isDomain(one) && isDomain(two)).toBe(true);
  });

  it('of different handlers are never the same', () => {
    expect(webhookNames(['checkSize', 'a_b', 'checksize', 'a-b', 'CHECKSIZE', 'checksize-2'], MANAGED)).toEqual([
      'checksize-3.auto.kopf.dev',
      'a-b.auto.kopf.dev',
      'checksize.auto.kopf.dev',
      'a-b-2.auto.kopf.dev',
      'checksize-4.auto.kopf.dev',
      'checksize-2.auto.kopf.dev',
    ]);
  });

  it('are different even for one function that is declared twice', () => {
    expect(webhookNames(['fn', 'fn'], MANAGED)).toEqual(['fn.auto.kopf.dev', 'fn-2.auto.kopf.dev']);
  });

  it.each([['lone'], ['Not.A.Domain'], ['under_score.dev']])(
    'are an error if it is because of the suffix: %j',
    (managed) => {
      expect(() => webhookNames(['id'], managed)).toThrow(/settings\.admission\.managed.*'auto\.kopf\.dev'/);
    },
  );

  it('can have a suffix of one part, if the ids have the rest', () => {
    expect(webhookNames(['fn/spec'], 'lone')).toEqual(['fn.spec.lone']);
  });
});

describe('ids in URLs', () => {
  it.each([
    ['id', 'id'],
    ['id_', 'id_'],
    ['id!', 'id%21'],
    ['id%', 'id%25'],
    ['id/sub', 'id/sub'],
    ["A-z.0~'(*)", 'A-z.0~%27%28%2A%29'],
    ['é 🎉', '%C3%A9%20%F0%9F%8E%89'],
  ])('%j is %j', (id, encoded) => {
    expect(encodeId(id)).toBe(encoded);
    expect(decodeURIComponent(encodeId(id))).toBe(id);
  });

  it('survive what is not even a text', () => {
    expect(encodeId('a\ud800b')).toBe('a%EF%BF%BDb');
  });
});

describe('ids in paths of services', () => {
  it('are as they are if the API server accepts them, and simplified if not', () => {
    const paths = servicePaths(['id', 'id/sub.field', 'checkSize', 'check_size', 'checksize', 'id!', 'id']);
    expect(paths).toEqual(
      new Map([
        ['checkSize', 'checksize-2'],
        ['check_size', 'check-size'],
        ['checksize', 'checksize'],
        ['id', 'id'],
        ['id!', 'id21'],
        ['id/sub.field', 'id/sub.field'],
      ]),
    );
  });

  it('lead back to the handlers', () => {
    const ids = ['checkSize', 'checksize', 'id!', 'Fn/spec.Field', 'fn'];
    for (const [id, path] of servicePaths(ids)) expect(handlerIdAt(path, ids)).toBe(id);
  });

  it('are not in the way of the ids themselves', () => {
    const ids = ['checksize', 'checkSize'];
    expect(ids.map((id) => handlerIdAt(id, ids))).toEqual(ids);
  });

  it('lead nowhere if there is no such handler', () => {
    expect(handlerIdAt('CHECKSIZE', ['checkSize'])).toBeUndefined();
    expect(handlerIdAt('', ['checkSize'])).toBeUndefined();
  });
});

describe('hints of requests', () => {
  const handlers = [{ id: 'checkSize' }, { id: 'checksize' }];

  it('are told the id of the handler whose address was called', () => {
    const hints = { webhook: 'checksize-2', reason: 'validating', timeout: 5 } as const;
    expect(withHandlerId(hints, handlers)).toEqual({ webhook: 'checkSize', reason: 'validating', timeout: 5 });
  });

  it.each([{}, { webhook: '' }, { webhook: 'checkSize' }, { webhook: 'checksize' }, { webhook: 'unknown' }])(
    'are as they are in all other cases: %j',
    (hints) => {
      expect(withHandlerId(hints, handlers)).toBe(hints);
    },
  );
});
