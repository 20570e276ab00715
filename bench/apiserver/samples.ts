/** What is stored in the measured servers. */

export const PATH = '/apis/bench.kopf.dev/v1/namespaces/default/things';

/** An object of that many bytes, of the kind that is defined below. With `note`, of something else than ASCII. */
export function sampleOf(name: string, bytes: number, note = ''): object {
  const sample = {
    apiVersion: 'bench.kopf.dev/v1',
    kind: 'Thing',
    metadata: {
      name,
      namespace: 'default',
      labels: { app: 'web', tier: 'backend', 'example.com/shard': String(name.length % 7) },
      annotations: { 'example.com/owner': 'team', 'example.com/note': note },
    },
    spec: {
      replicas: 1,
      image: 'registry.example.com/team/image:1.0',
      containers: [] as object[],
      selector: { app: 'web' },
      text: '',
    },
  };
  const size = (): number => Buffer.byteLength(JSON.stringify(sample));
  for (let number = 0; size() < bytes - 200; number++) {
    sample.spec.containers.push({
      name: `container-${number}`,
      image: `registry.example.com/team/image-${number}:1.0`,
      ports: [8080 + number],
      limits: { cpu: '2', memory: '1Gi' },
    });
  }
  sample.spec.text = 't'.repeat(Math.max(0, bytes - size()));
  return sample;
}

/** A definition with a schema for everything in it, as those of real operators have. */
export function definition(): object {
  const text = { type: 'string' };
  const texts = { type: 'object', additionalProperties: text };
  const container = {
    type: 'object',
    required: ['name', 'image'],
    properties: {
      name: { ...text, minLength: 1, maxLength: 63 },
      image: text,
      ports: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 65_535 } },
      limits: texts,
    },
  };
  const spec = {
    type: 'object',
    properties: {
      replicas: { type: 'integer', minimum: 0 },
      image: text,
      containers: { type: 'array', items: container },
      selector: texts,
      text,
      policy: { ...text, enum: ['Always', 'Never'], default: 'Always' },
    },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.bench.kopf.dev' },
    spec: {
      group: 'bench.kopf.dev',
      scope: 'Namespaced',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  };
}
