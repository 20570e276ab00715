/** The expectations are answers of kube-apiserver 1.36.4 to exactly these definitions, recorded once. */
import { deepCopy } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import type { Cause, ServedObject } from '../../src/contracts/objects.js';
import {
  defaultDefinition,
  definitionNameRule,
  validateDefinition,
  validateDefinitionUpdate,
} from '../../src/crd/definition.js';
import { invalidValue } from '../../src/text/field-causes.js';
import recorded from './recorded/definitions.json' with { type: 'json' };

interface Recorded {
  readonly title: string;
  readonly definition: ServedObject;
  readonly status: number;
  readonly causes: readonly Cause[];
}

const table = recorded as unknown as readonly Recorded[];
const key = (cause: Cause): string => `${cause.field}: ${cause.message} (${cause.reason})`;

function judge(definition: ServedObject): readonly string[] {
  const copy = deepCopy(definition);
  defaultDefinition(copy);
  const name = copy.metadata.name ?? '';
  const ofName = definitionNameRule(copy)(name, false).map((why) => invalidValue('metadata.name', name, why));
  return [...new Set([...ofName, ...validateDefinition(copy)].map(key))].sort();
}

describe('definitions', () => {
  it.each(table)('are judged as by the real server: $title', ({ definition, causes }) => {
    expect(judge(definition)).toEqual([...new Set(causes.map(key))].sort());
  });

  it('are refused with 422 or accepted with 201, nothing else', () => {
    expect(table.filter(({ status }) => status !== 201 && status !== 422).map(({ title }) => title)).toEqual([]);
  });
});

describe('changes of definitions', () => {
  const definition = (plural: string, kind: string, scope: string, established: boolean): ServedObject => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'foos.example.com' },
    spec: { group: 'example.com', scope, names: { plural, kind } },
    status: { conditions: [{ type: 'Established', status: established ? 'True' : 'False' }] },
  });
  it.each<[string, boolean, readonly string[]]>([
    ['once it is established', true, ['spec.scope', 'spec.names.kind', 'spec.names.plural']],
    ['before it is established', false, ['spec.names.plural']],
  ])('of what is immutable %s', (_title, isEstablished, expected) => {
    const old = definition('foos', 'Foo', 'Namespaced', isEstablished);
    const causes = validateDefinitionUpdate(definition('bars', 'Bar', 'Cluster', true), old);
    expect(causes.map(({ field }) => field)).toEqual(expected);
    expect(causes.at(-1)?.message).toBe('Invalid value: "bars": field is immutable');
  });
});
