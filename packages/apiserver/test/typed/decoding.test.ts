import { describe, expect, it } from 'vitest';
import { typedDecoder } from '../../src/typed/decode.js';
import { canonicalQuantity, compareQuantities } from '../../src/typed/quantity.js';

const decode = typedDecoder();
const read = (type: string, value: object) => decode(type, value as Record<string, unknown>);

describe('quantities', () => {
  it.each([
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['0.5', '500m'],
    ['1024Mi', '1Gi'],
    ['1536Mi', '1536Mi'],
    ['1.5Gi', '1536Mi'],
    ['1000', '1k'],
    ['1e3', '1e3'],
    ['100', '100'],
    ['0', '0'],
    ['-5', '-5'],
    ['1.0000000001', '1000000001n'],
    ['12E', '12E'],
    ['2000000000m', '2M'],
  ])('%s is written as %s', (given, expected) => {
    expect(canonicalQuantity(given)).toBe(expected);
  });

  it.each(['', 'x', '1x', '1.2.3', '--1', '1 Gi'])('"%s" is none', (text) => {
    expect(canonicalQuantity(text)).toBeUndefined();
  });

  it.each([
    ['1', '2', -1],
    ['1000m', '1', 0],
    ['1Gi', '1G', 1],
    ['-1', '0', -1],
    ['1e3', '1k', 0],
  ])('%s compared to %s is %d', (a, b, expected) => {
    expect(compareQuantities(a, b)).toBe(expected);
  });
});

describe('objects', () => {
  it('empty things vanish, or not, as they do there', () => {
    const { object } = read('core.ConfigMap', {
      metadata: { name: 'x', labels: {}, finalizers: [] },
      data: {},
      immutable: false,
    });
    expect(object).toEqual({ metadata: { name: 'x' }, immutable: false });
  });

  it('what is never absent appears', () => {
    expect(read('apps.Deployment', { metadata: {} }).object).toEqual({
      metadata: {},
      spec: { selector: null, template: { metadata: {}, spec: { containers: null } }, strategy: {} },
      status: {},
    });
  });

  it('nulls are absence', () => {
    expect(read('core.ConfigMap', { metadata: { name: 'x', labels: null }, data: null }).object).toEqual({
      metadata: { name: 'x' },
    });
  });

  it('unknown fields are told by their paths', () => {
    const { unknownFields } = read('core.Pod', {
      metadata: { name: 'x', foo: 1 },
      spec: { containers: [{ name: 'c', bar: 2 }] },
      baz: 3,
    });
    expect([...unknownFields].sort()).toEqual(['baz', 'metadata.foo', 'spec.containers[0].bar']);
  });

  it('embedded objects may say what they are', () => {
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'x' } };
    expect(read('apps.StatefulSet', { metadata: {}, spec: { volumeClaimTemplates: [claim] } }).unknownFields).toEqual(
      [],
    );
  });

  it.each([
    [
      'core.ConfigMap',
      { data: { a: 1 } },
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ],
    [
      'core.ConfigMap',
      { metadata: { labels: [] } },
      'json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string',
    ],
    [
      'apps.Deployment',
      { spec: { replicas: 'x' } },
      'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      'apps.Deployment',
      { spec: { replicas: 1.5 } },
      'json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      'core.Pod',
      { spec: { containers: 'x' } },
      'json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type []v1.Container',
    ],
    [
      'core.Pod',
      { spec: { containers: [{ resources: { limits: { cpu: 'x' } } }] } },
      'quantities must match the regular expression',
    ],
    ['core.Secret', { data: { a: '!' } }, 'illegal base64 data at input byte 0'],
    [
      'core.ConfigMap',
      { metadata: { creationTimestamp: 'x' } },
      'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    ],
    ['coordination.Lease', { spec: { renewTime: '2020-01-01T00:00:00.5Z' } }, 'cannot parse ".5Z" as ".000000"'],
  ])('%s with %j is refused', (type, value, message) => {
    expect(() => read(type, value)).toThrow(message);
  });

  it('times are brought to UTC and to their precision', () => {
    const lease = {
      metadata: { creationTimestamp: '2020-01-01T02:00:00.9+02:00' },
      spec: { renewTime: '2020-01-01T00:00:00.123456Z' },
    };
    expect(read('coordination.Lease', lease).object).toEqual({
      metadata: { creationTimestamp: '2020-01-01T00:00:00Z' },
      spec: { renewTime: '2020-01-01T00:00:00.123456Z' },
    });
  });
});
