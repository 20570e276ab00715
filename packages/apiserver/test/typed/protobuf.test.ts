import { describe, expect, it } from 'vitest';
import { protobufReader, WireError } from '../../src/typed/protobuf.js';

const read = protobufReader();

/** Writes what the tests need: fields by their numbers; numbers as varints, texts and lists of fields as bytes. */
type Fields = readonly (readonly [number: number, value: number | string | Buffer | Fields])[];
function write(fields: Fields): Buffer {
  return Buffer.concat(
    fields.map(([number, value]) => {
      if (typeof value === 'number')
        return Buffer.concat([varint(BigInt(number * 8)), varint(BigInt.asUintN(64, BigInt(value)))]);
      const data = Buffer.isBuffer(value) ? value : typeof value === 'string' ? Buffer.from(value) : write(value);
      return Buffer.concat([varint(BigInt(number * 8 + 2)), varint(BigInt(data.length)), data]);
    }),
  );
}
function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Buffer.from(bytes);
}
const envelope = (apiVersion: string, kind: string, fields: Fields): Buffer =>
  Buffer.concat([
    Buffer.from('k8s\0'),
    write([
      [
        1,
        [
          [1, apiVersion],
          [2, kind],
        ],
      ],
      [2, fields],
    ]),
  ]);

describe('messages', () => {
  it('texts, mappings and bytes', () => {
    const fields: Fields = [
      [
        1,
        [
          [1, 'name'],
          [
            11,
            [
              [1, 'label'],
              [2, 'value'],
            ],
          ],
          [14, 'example.com/a'],
          [14, 'example.com/b'],
        ],
      ],
      [
        2,
        [
          [1, 'a'],
          [2, 'b'],
        ],
      ],
      [
        3,
        [
          [1, 'bin'],
          [2, Buffer.from([0, 255])],
        ],
      ],
    ];
    expect(read(envelope('v1', 'ConfigMap', fields))).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'name', labels: { label: 'value' }, finalizers: ['example.com/a', 'example.com/b'] },
      data: { a: 'b' },
      binaryData: { bin: 'AP8=' },
    });
  });

  it('numbers, flags, times, and numbers that may be texts', () => {
    const metadata: Fields = [[8, [[1, 1_577_836_800]]]];
    const port: Fields = [
      [3, 80],
      [
        4,
        [
          [1, 1],
          [3, 'http'],
        ],
      ],
    ];
    expect(
      read(
        envelope('v1', 'Service', [
          [1, metadata],
          [2, [[1, port]]],
        ]),
      ),
    ).toMatchObject({
      metadata: { creationTimestamp: '2020-01-01T00:00:00Z' },
      spec: { ports: [{ port: 80, targetPort: 'http' }] },
    });
    expect(
      read(
        envelope('apps/v1', 'Deployment', [
          [
            2,
            [
              [1, -1],
              [7, 1],
            ],
          ],
        ]),
      ),
    ).toMatchObject({ spec: { replicas: -1, paused: true } });
  });

  it('messages whose fields are among those of their parents', () => {
    const volume: Fields = [
      [1, 'v'],
      [2, [[6, [[1, 'secret-name']]]]],
    ];
    expect(read(envelope('v1', 'Pod', [[2, [[1, volume]]]]))).toMatchObject({
      spec: { volumes: [{ name: 'v', secret: { secretName: 'secret-name' } }] },
    });
  });

  it('quantities', () => {
    const container: Fields = [
      [1, 'c'],
      [
        8,
        [
          [
            1,
            [
              [1, 'cpu'],
              [2, [[1, '500m']]],
            ],
          ],
        ],
      ],
    ];
    expect(read(envelope('v1', 'Pod', [[2, [[2, container]]]]))).toMatchObject({
      spec: { containers: [{ name: 'c', resources: { limits: { cpu: '500m' } } }] },
    });
  });
});

it.each([
  ['nothing', Buffer.alloc(0)],
  ['text', Buffer.from('{"a":1}')],
  ['a message that is cut', envelope('v1', 'ConfigMap', [[1, [[1, 'x']]]]).subarray(0, -2)],
  ['a number that has no end', Buffer.concat([Buffer.from('k8s\0'), Buffer.alloc(20, 0xff)])],
])('%s is none', (_what, data) => {
  expect(() => read(data)).toThrow(WireError);
});
