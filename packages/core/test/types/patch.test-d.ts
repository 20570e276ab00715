import { expectTypeOf, it } from 'vitest';
import type { AnyObject, Body, ObjectMeta } from '../../src/values/objects/body.js';
import type { MergePatch, Patch, PatchFn, PatchOf } from '../../src/values/patches/patch.js';

interface Volume {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: {
    size: string;
    readonly replicas: number;
    limits: { cpu: number; memory: string };
    ports: { name: string }[];
    extras: Record<string, number>;
    // biome-ignore lint/suspicious/noExplicitAny: it is what is tested
    loose: any;
  };
  status?: { phase: string; since?: string };
  data: Record<string, string>;
}

declare const patch: PatchOf<Volume>;
declare const body: Body<Volume>;

it('stanzas are written into without creating them', () => {
  patch.spec.size = '1Gi';
  patch.spec.replicas = 1;
  patch.status.phase = 'on';
  patch.metadata.labels.seen = 'yes';
  patch.meta.annotations.note = null;
  patch.metadata.finalizers = ['x'];
});

it('null removes: a field, or a whole stanza', () => {
  patch.spec.size = null;
  patch.status.phase = null;
  patch.status = null;
  patch.metadata.labels = null;
  patch.data = null;
});

it('any part of a stanza can be put', () => {
  patch.spec = { size: '1Gi' };
  patch.spec.limits = { cpu: 1 };
  patch.spec.limits = { cpu: null };
  patch.spec = {};
  patch.metadata = { labels: { a: 'b', c: null } };
  patch.data = { key: 'value', gone: null };
  patch.spec.extras = { any: 1, gone: null };
  patch.spec.loose = { whatever: ['x'] };
  patch.spec.loose.deep.deeper = 1;
});

it('lists are put as a whole, also out of the body', () => {
  patch.spec.ports = [{ name: 'http' }];
  patch.spec.ports = [...body.spec.ports, { name: 'https' }];
  patch.spec.ports = body.spec.ports;
  patch.spec = body.spec;
  // @ts-expect-error elements of lists are whole: they are not merged
  patch.spec.ports = [{}];
});

it('wrong types are refused', () => {
  // @ts-expect-error not a text
  patch.spec.size = 5;
  // @ts-expect-error not a number
  patch.status.phase = 5;
  // @ts-expect-error labels are texts
  patch.metadata.labels.n = 5;
  // @ts-expect-error annotations are texts
  patch.metadata = { annotations: { n: 5 } };
  // @ts-expect-error a part of a stanza is of the same types
  patch.spec = { limits: { cpu: 'x' } };
  // @ts-expect-error not a mapping
  patch.status = 'text';
});

it('wrong fields are refused', () => {
  // @ts-expect-error misspelt
  patch.spec.sise = '1Gi';
  // @ts-expect-error misspelt
  patch.status = { fase: 'on' };
  // @ts-expect-error no such stanza
  patch.stauts = {};
  // @ts-expect-error an object cannot change its kind
  patch.kind = 'Other';
  // @ts-expect-error deeper mappings may be absent
  patch.spec.limits.cpu = 1;
  // @ts-expect-error the members are constant
  patch.fns = [];
});

it('a type without a stanza has no such stanza in the patch', () => {
  const secret = {} as PatchOf<{ metadata: ObjectMeta; data?: Record<string, string> }>;
  secret.data = { a: 'b' };
  // @ts-expect-error there is no spec
  secret.spec.size = 1;
  expectTypeOf(secret.status).toBeNever();
});

it('functions get the object of the type', () => {
  expectTypeOf(patch.fns).toEqualTypeOf<PatchFn<Volume>[]>();
  patch.fns.push((object) => {
    object.spec.ports.push({ name: 'x' });
    // @ts-expect-error no such field
    object.spec.sise = 1;
  });
  expectTypeOf(patch.body).toEqualTypeOf<Body<Volume> | undefined>();
  expectTypeOf(patch.isEmpty).toEqualTypeOf<boolean>();
});

it('of an unknown type, everything goes', () => {
  const any = {} as PatchOf<AnyObject>;
  any.spec.whatever.deep = 1;
  any.status.phase = 'on';
  any.status = null;
  any.metadata.labels.seen = 'yes';
  any.data = { a: 1 };
  any.data.a = 1;
  any.fns.push((object) => {
    object.spec.x = 1;
  });
  expectTypeOf<PatchOf>().toEqualTypeOf<PatchOf<AnyObject>>();
});

it('the patch itself is the patch of an unknown type', () => {
  expectTypeOf<Patch>().toExtend<PatchOf<AnyObject>>();
});

it('a merge-patch is partial all the way down', () => {
  expectTypeOf<MergePatch<{ a: { readonly b: string } }>>().toEqualTypeOf<{ a?: { b?: string | null } | null }>();
  expectTypeOf<MergePatch<{ a: string[] }>>().toEqualTypeOf<{ a?: readonly string[] | null }>();
  // biome-ignore lint/suspicious/noExplicitAny: it is what is tested
  expectTypeOf<MergePatch<any>>().toBeAny();
  expectTypeOf<MergePatch<{ a: unknown }>>().toEqualTypeOf<{ a?: unknown }>();
});
