import type { KubeRequest } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { lossyIntegers } from '../../../src/http/lossy-integers.js';
import { scripted } from '../../helpers/scripted.js';

const path = '/apis/kopf.dev/v1/namespaces/ns/kopfexamples/x';
const INEXACT = [
  '9007199254740993',
  '-9007199254740993',
  '9223372036854775807',
  '1234567890123456789',
  '72057594037927937',
  '1152921504606846976',
];
const EXACT = ['9007199254740991', '9007199254740992', '11258999068426240', '-9007199254741000', '1234567890123'];

interface Numbered {
  readonly spec: { readonly big: number; readonly list: readonly { readonly n: number }[] };
}
const bodyWith = (digits: string): string => `{"spec": {"big": ${digits}, "list": [{"n": 1}, {"n":${digits}}]}}`;
const patchOf = (body: unknown): KubeRequest => ({ method: 'PATCH', path, body });

describe('an integer that was changed by reading', () => {
  it.each(INEXACT)('is not written, and the field is named: %s', async (digits) => {
    const { request, sent } = scripted([{ body: bodyWith(digits) }, {}]);
    const { spec } = await request<Numbered>({ method: 'GET', path });
    const copying = request(patchOf({ status: { copies: [{ of: spec.big }] } }));
    await expect(copying).rejects.toMatchObject({ code: 'KOPF_LOSSY_INTEGER' });
    await expect(copying).rejects.toThrow(`The number ${Number(digits)} in "status.copies[0].of" is not exact`);
    await expect(request({ method: 'PUT', path, body: { spec: { list: spec.list } } })).rejects.toThrow(
      '"spec.list[1].n"',
    );
    await expect(request({ method: 'POST', path, body: { spec } })).rejects.toThrow('"spec.big"');
    await expect(request(patchOf([{ op: 'add', path: '/x', value: spec.big }]))).rejects.toThrow('"[0].value"');
    expect(sent).toHaveLength(1);
    await request(patchOf({ status: { other: 1, text: String(spec.big), digits } }));
    expect(sent).toHaveLength(2);
  });

  it.each(INEXACT)('is not written either if it came by a stream: %s', async (digits) => {
    const { client, request, sent } = scripted([{ body: `${bodyWith('1')}\n${bodyWith(digits)}\n` }, {}]);
    const read: Numbered[] = [];
    for await (const object of client.stream<Numbered>({ method: 'GET', path })) read.push(object);
    await request(patchOf({ spec: read[0]?.spec }));
    await expect(request(patchOf({ spec: read[1]?.spec }))).rejects.toMatchObject({ code: 'KOPF_LOSSY_INTEGER' });
    expect(sent).toHaveLength(2);
  });
});

it.each(EXACT)('an integer that is exact is written as it was read: %s', async (digits) => {
  const { request, sent } = scripted([{ body: bodyWith(digits) }, {}]);
  const { spec } = await request<Numbered>({ method: 'GET', path });
  await request(patchOf({ spec }));
  expect(sent[1]?.body).toContain(`"big":${digits}`);
});

describe('what only looks like such an integer', () => {
  it.each([
    ['a text', '"9007199254740993"', '9007199254740993'],
    ['a text with quotes around', '"a\\"9007199254740993\\"b\\\\"', 'x'],
    ['a fraction', '0.12345678901234567', Number('0.12345678901234567')],
    ['a long fraction', '12345678901234567.25', Number('12345678901234567.25')],
    ['with an exponent', '9007199254740993e2', Number('9007199254740993e2')],
    ['in an exponent', '1e0000000000000000003', 1000],
  ])('is no reason to refuse anything: %s', (_title, text, value) => {
    const integers = lossyIntegers();
    integers.parse(`{"before": 1, "value": ${text}, "after": [2]}`);
    for (const written of [value, Number('9007199254740993'), Number('12345678901234567')]) {
      expect(integers.stringify({ written })).toBe(JSON.stringify({ written }));
    }
  });
});

it('if there are too many of them to remember, all that large are refused', () => {
  const integers = lossyIntegers();
  const exact = { n: 10 * 2 ** 50 };
  const first = 9007199254740993n;
  const odd = (number: number): string => String(first + 4n * BigInt(number));
  integers.parse(`[${Array.from({ length: 9000 }, (_, number) => odd(number)).join()}]`);
  expect(integers.stringify(exact)).toBe('{"n":11258999068426240}');
  integers.parse(`[${Array.from({ length: 9000 }, (_, number) => odd(number + 20_000)).join()}]`);
  expect(() => integers.stringify(exact)).toThrow('"n" is not exact');
  expect(integers.stringify({ n: 2 ** 53 - 1 })).toBe('{"n":9007199254740991}');
});

it.each(['x', '\\', '"', '1', 'x"1\\'])('a text of any length and content is no obstacle: %j', (piece) => {
  const integers = lossyIntegers();
  const text = piece.repeat(5_000_000);
  const parsed = integers.parse(`{"text": ${JSON.stringify(text)}, "n": 9007199254740993}`) as { text: string };
  expect(parsed.text === text).toBe(true);
  expect(() => integers.stringify(parsed)).toThrow('"n" is not exact');
});

it('fails for what is not JSON as the parser does', () => {
  expect(() => lossyIntegers().parse('{"a": 9007199254740993')).toThrow(SyntaxError);
});
