/** Checked by the compiler, never run: what is wrong in operators must not compile. */
import { expectTypeOf } from 'vitest';
import type { DeepReadonly } from '../../src/values/json.js';
import type { AnyObject, Body, ObjectMeta } from '../../src/values/objects/body.js';
import { buildOwnerReference } from '../../src/values/objects/references.js';
import { bodyViews, makeLiveBody } from '../../src/values/objects/views.js';
import {
  type ResourceToken,
  resource,
  type SpecOf,
  type StatusOf,
  type TypedObject,
} from '../../src/values/resources/resource.js';
import { EVERYTHING, parseSelector } from '../../src/values/resources/selector.js';
import type { StandardSchema } from '../../src/values/standard-schema.js';

interface VolumeSpec {
  size: string;
  replicas: number;
  zones?: { name: string }[];
}
interface VolumeStatus {
  phase: string;
}

const Volume = resource<VolumeSpec, VolumeStatus>({ group: 'example.com', version: 'v1', plural: 'volumes' });
type VolumeObject = TypedObject<VolumeSpec, VolumeStatus>;
expectTypeOf(Volume).toEqualTypeOf<ResourceToken<VolumeObject>>();

// The type of the object is inferred from the token at each use.
declare function use<T extends object>(token: ResourceToken<T>): T;
expectTypeOf(use(Volume)).toEqualTypeOf<VolumeObject>();
expectTypeOf<SpecOf<VolumeObject>>().toEqualTypeOf<VolumeSpec>();
expectTypeOf<StatusOf<VolumeObject>>().toEqualTypeOf<{ phase?: string }>();

const { spec, status, meta, labels, name } = bodyViews<VolumeObject>({ spec: { size: '1Gi', replicas: 1 } });
expectTypeOf(spec.size).toEqualTypeOf<string>();
expectTypeOf(status.phase).toEqualTypeOf<string | undefined>();
expectTypeOf(meta).toEqualTypeOf<DeepReadonly<ObjectMeta>>();
expectTypeOf(labels).toEqualTypeOf<Readonly<Record<string, string>>>();
expectTypeOf(name).toEqualTypeOf<string | undefined>();
// @ts-expect-error no such field
spec.sise;
// @ts-expect-error the object is read-only
spec.size = '2Gi';
// @ts-expect-error the object is read-only, however deep
spec.zones?.push({ name: 'a' });
// @ts-expect-error the status is read-only
status.phase = 'done';
// @ts-expect-error the labels are read-only
labels.app = 'x';
// @ts-expect-error the metadata is read-only
meta.name = 'x';

const live = makeLiveBody<VolumeObject>({ spec: { size: '1Gi', replicas: 1 } });
expectTypeOf(live.spec.replicas).toEqualTypeOf<number>();
expectTypeOf(live.body).toEqualTypeOf<Body<VolumeObject>>();
// @ts-expect-error a live object is read-only, too
live.body.spec.size = '2Gi';
// @ts-expect-error a newer state is of the same type
live.replace({ spec: { size: 1, replicas: 1 } });

// A typed body is still a body.
buildOwnerReference(live.body);

// With a type of the spec only, the status can be anything.
const SpecOnly = resource<VolumeSpec>({ plural: 'volumes' });
expectTypeOf(use(SpecOnly)).toEqualTypeOf<TypedObject<VolumeSpec, Record<string, unknown>>>();

// Without types, everything goes.
const Untyped = resource({ group: 'example.com', plural: 'volumes' });
expectTypeOf(use(Untyped)).toEqualTypeOf<AnyObject>();
// biome-ignore lint/suspicious/noExplicitAny: this is what is asserted
expectTypeOf<SpecOf<AnyObject>>().toEqualTypeOf<Record<string, any>>();
expectTypeOf(bodyViews<AnyObject>({}).spec.anything.at.all).toBeAny();
expectTypeOf(bodyViews<AnyObject>({}).status.anything).toBeAny();
// @ts-expect-error even so, it is read-only
bodyViews<AnyObject>({}).spec.anything = 1;

// The types of other libraries: optional stanzas are always there for handlers; no stanza is an empty mapping.
class PodLike {
  apiVersion?: string;
  metadata?: { name?: string; creationTimestamp?: Date };
  spec?: { nodeName?: string };
  status?: { phase?: string };
}
expectTypeOf<SpecOf<PodLike>>().toEqualTypeOf<{ nodeName?: string }>();
expectTypeOf<StatusOf<PodLike>>().toEqualTypeOf<{ phase?: string }>();
expectTypeOf<SpecOf<{ data: object }>>().toEqualTypeOf<Record<string, unknown>>();

// Schemas of any library: the types are those before parsing, since the objects are given out as they are.
type Plan = { plan: 'free' | 'paid'; seats: number };
declare const planSchema: StandardSchema<Plan, Plan & { parsed: Date }>;
declare const statusSchema: StandardSchema<{ phase: string }>;
const Tenant = resource({ group: 'example.com', version: 'v1', plural: 'tenants', spec: planSchema });
expectTypeOf(use(Tenant)).toEqualTypeOf<TypedObject<Plan, Record<string, unknown>>>();
const Both = resource({ group: 'example.com', plural: 'tenants', spec: planSchema, status: statusSchema });
expectTypeOf(use(Both)).toEqualTypeOf<TypedObject<Plan, { phase: string }>>();
const tenant = bodyViews<typeof Both extends ResourceToken<infer T> ? T : never>({ spec: { plan: 'free', seats: 1 } });
expectTypeOf(tenant.spec.plan).toEqualTypeOf<'free' | 'paid'>();
// @ts-expect-error 'gold' is not a plan
tenant.spec.plan === 'gold';
// @ts-expect-error not a schema
resource({ group: 'example.com', plural: 'tenants', spec: { plan: 'free' } });

// Selectors.
parseSelector(Volume);
parseSelector(Both);
parseSelector({ group: 'example.com', name: EVERYTHING });
parseSelector((resource) => resource.preferred);
// @ts-expect-error no such criterion
parseSelector({ plurals: 'volumes' });
// @ts-expect-error only our own marker is accepted
parseSelector(Symbol('EVERYTHING'));
