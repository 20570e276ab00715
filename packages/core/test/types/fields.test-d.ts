import { expectTypeOf, it } from 'vitest';
import type { FieldSpec, ValueAt } from '../../src/values/fields.js';
import type { AnyObject, ObjectMeta } from '../../src/values/objects/body.js';

interface Volume {
  metadata?: ObjectMeta;
  spec: {
    size: string;
    plan: 'free' | 'paid';
    replicas?: number;
    limits?: { cpu: number; memory?: string };
    nothing: { deep: boolean } | null;
    list: string[];
    extras: Record<string, number>;
    raw: unknown;
    // biome-ignore lint/suspicious/noExplicitAny: it is what is tested
    loose: any;
  };
}

it('a path leads to the type of the field', () => {
  expectTypeOf<ValueAt<{ spec: { size: string } }, 'spec.size'>>().toEqualTypeOf<string>();
  expectTypeOf<ValueAt<Volume, 'spec'>>().toEqualTypeOf<Volume['spec']>();
  expectTypeOf<ValueAt<Volume, 'spec.plan'>>().toEqualTypeOf<'free' | 'paid'>();
  expectTypeOf<ValueAt<Volume, 'spec.list'>>().toEqualTypeOf<string[]>();
  expectTypeOf<ValueAt<Volume, ''>>().toEqualTypeOf<Volume>();
});

it('a path as a list does the same, with dots in keys', () => {
  expectTypeOf<ValueAt<Volume, ['spec', 'size']>>().toEqualTypeOf<string>();
  expectTypeOf<ValueAt<Volume, readonly ['metadata', 'labels', 'a.b/c']>>().toEqualTypeOf<string | undefined>();
  expectTypeOf<ValueAt<Volume, []>>().toEqualTypeOf<Volume>();
});

it('optional and nullable fields on the way add undefined', () => {
  expectTypeOf<ValueAt<Volume, 'spec.replicas'>>().toEqualTypeOf<number | undefined>();
  expectTypeOf<ValueAt<Volume, 'spec.limits.cpu'>>().toEqualTypeOf<number | undefined>();
  expectTypeOf<ValueAt<Volume, 'spec.limits.memory'>>().toEqualTypeOf<string | undefined>();
  expectTypeOf<ValueAt<Volume, 'spec.nothing'>>().toEqualTypeOf<{ deep: boolean } | null>();
  expectTypeOf<ValueAt<Volume, 'spec.nothing.deep'>>().toEqualTypeOf<boolean | undefined>();
});

it('keys of an index signature may be absent, declared ones are as declared', () => {
  expectTypeOf<ValueAt<Volume, 'spec.extras.any'>>().toEqualTypeOf<number | undefined>();
  expectTypeOf<ValueAt<Volume, 'metadata.labels.app'>>().toEqualTypeOf<string | undefined>();
  expectTypeOf<ValueAt<{ meta: ObjectMeta }, 'meta.other'>>().toEqualTypeOf<unknown>();
  expectTypeOf<ValueAt<{ known: string; [key: string]: string | number }, 'known'>>().toEqualTypeOf<string>();
});

it('what is not known stays so', () => {
  expectTypeOf<ValueAt<AnyObject, 'spec.size'>>().toBeAny();
  expectTypeOf<ValueAt<Volume, 'spec.loose.deep.deeper'>>().toBeAny();
  expectTypeOf<ValueAt<Volume, 'spec.raw.deep'>>().toBeUnknown();
  expectTypeOf<ValueAt<Volume, string>>().toBeUnknown();
  expectTypeOf<ValueAt<Volume, string[]>>().toBeUnknown();
  // biome-ignore lint/suspicious/noExplicitAny: it is what is tested
  expectTypeOf<ValueAt<any, 'spec.size'>>().toBeAny();
});

it('a path that cannot be there is never', () => {
  expectTypeOf<ValueAt<Volume, 'spec.sise'>>().toBeNever();
  expectTypeOf<ValueAt<Volume, 'spec.sise.deep'>>().toBeNever();
  expectTypeOf<ValueAt<Volume, 'spec.limits.gpu'>>().toBeNever();
  expectTypeOf<ValueAt<Volume, 'spec.limits.gpu.deep'>>().toBeNever();
  expectTypeOf<ValueAt<Volume, 'spec.size.length'>>().toBeNever();
  expectTypeOf<ValueAt<Volume, 'spec.list.length'>>().toBeNever();
  expectTypeOf<ValueAt<Volume, 'spec.list.0'>>().toBeNever();
  expectTypeOf<ValueAt<Volume, 'status'>>().toBeNever();
});

it('of a union, the value is that of the members that have it', () => {
  type Either = { spec: { kind: 'a'; a: string } | { kind: 'b'; b: number } };
  expectTypeOf<ValueAt<Either, 'spec.kind'>>().toEqualTypeOf<'a' | 'b'>();
  expectTypeOf<ValueAt<Either, 'spec.a'>>().toEqualTypeOf<string | undefined>();
  expectTypeOf<ValueAt<Either, 'spec.c'>>().toBeNever();
  expectTypeOf<ValueAt<{ spec: string | { a: number } }, 'spec.a'>>().toEqualTypeOf<number | undefined>();
});

it('a path is spelled in a few ways', () => {
  expectTypeOf<'spec.size'>().toExtend<FieldSpec>();
  expectTypeOf<readonly ['spec', 'size']>().toExtend<FieldSpec>();
  expectTypeOf<number>().not.toExtend<FieldSpec>();
});
