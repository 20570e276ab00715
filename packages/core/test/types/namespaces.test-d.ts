/** Tokens say whether their objects are in namespaces, and `namespace` in handlers is typed by that. */
import { describe, expectTypeOf, it } from 'vitest';
import type { Admission, Change, Daemon, Indexing, NamespaceOf, Watch } from '../../src/intents/kwargs.js';
import { createRegistry } from '../../src/intents/registration/registry.js';
import type { Api } from '../../src/seams/api.js';
import type { AnyObject } from '../../src/values/objects/body.js';
import { type ResourceToken, resource, type TypedObject } from '../../src/values/resources/resource.js';
import type { StandardSchema } from '../../src/values/standard-schema.js';

const { on, daemon, timer, index } = createRegistry();

interface Spec {
  size: string;
}
interface Status {
  phase?: string;
}
const fields = { group: 'example.com', version: 'v1', plural: 'volumes' };
const Volume = resource<Spec, Status>({ ...fields, namespaced: true });
const Pool = resource<Spec, Status>({ ...fields, namespaced: false });
const Either = resource<Spec, Status>(fields);
declare const schema: StandardSchema<Spec>;

describe('a token', () => {
  it('says it by `namespaced`, with types of any origin', () => {
    expectTypeOf(Volume).toEqualTypeOf<ResourceToken<TypedObject<Spec, Status>, string>>();
    expectTypeOf(Pool).toEqualTypeOf<ResourceToken<TypedObject<Spec, Status>, undefined>>();
    expectTypeOf(Either).toEqualTypeOf<ResourceToken<TypedObject<Spec, Status>>>();

    expectTypeOf(resource({ ...fields, namespaced: true })).toEqualTypeOf<ResourceToken<AnyObject, string>>();
    expectTypeOf(resource({ ...fields, namespaced: false })).toEqualTypeOf<ResourceToken<AnyObject, undefined>>();
    expectTypeOf(resource(fields)).toEqualTypeOf<ResourceToken>();

    expectTypeOf<NamespaceOf<typeof Volume>>().toEqualTypeOf<string>();
    const withSchema = resource({ ...fields, spec: schema, namespaced: true });
    expectTypeOf<NamespaceOf<typeof withSchema>>().toEqualTypeOf<string>();
    const clusterSchema = resource({ ...fields, spec: schema, namespaced: false });
    expectTypeOf<NamespaceOf<typeof clusterSchema>>().toEqualTypeOf<undefined>();
    const anySchema = resource({ ...fields, spec: schema });
    expectTypeOf<NamespaceOf<typeof anySchema>>().toEqualTypeOf<string | undefined>();
  });

  it('that says it is still a token', () => {
    const tokens: ResourceToken<TypedObject<Spec, Status>>[] = [Volume, Pool, Either];
    expectTypeOf(tokens).not.toBeAny();
    const told: boolean = Math.random() > 0.5;
    expectTypeOf(resource({ ...fields, namespaced: told })).toEqualTypeOf<ResourceToken>();
    // @ts-expect-error it is a boolean
    resource({ ...fields, namespaced: 'yes' });
  });
});

describe('`namespace`', () => {
  it('is a string where objects are in namespaces', () => {
    on.create(Volume, ({ namespace, spec }) => {
      expectTypeOf(namespace).toEqualTypeOf<string>();
      expectTypeOf(spec.size).toEqualTypeOf<string>();
    });
    on.event(Volume, ({ namespace }) => expectTypeOf(namespace).toEqualTypeOf<string>());
    on.field(Volume, { field: 'spec.size' }, ({ namespace }) => expectTypeOf(namespace).toEqualTypeOf<string>());
    on.delete(Volume, { retries: 3, when: ({ namespace }) => namespace.startsWith('x') }, ({ namespace }) =>
      expectTypeOf(namespace).toEqualTypeOf<string>(),
    );
    on.validate(Volume, ({ namespace }) => expectTypeOf(namespace).toEqualTypeOf<string>());
    on.mutate(Volume, { operations: ['CREATE'] }, ({ namespace }) => expectTypeOf(namespace).toEqualTypeOf<string>());
    daemon(Volume, ({ namespace }) => expectTypeOf(namespace).toEqualTypeOf<string>());
    timer(Volume, { interval: 1, param: 5 }, ({ namespace, param }) => {
      expectTypeOf(namespace).toEqualTypeOf<string>();
      expectTypeOf(param).toEqualTypeOf<number>();
    });
    const sizes = index(Volume, ({ namespace, spec }) => ({ [namespace]: spec.size }));
    expectTypeOf(sizes).not.toBeAny();
  });

  it('is not there where they are not', () => {
    // @ts-expect-error no namespace
    on.create(Pool, ({ namespace }) => namespace);
    // @ts-expect-error no namespace
    on.event(Pool, ({ namespace }) => namespace);
    // @ts-expect-error no namespace
    on.validate(Pool, ({ namespace }) => namespace);
    // @ts-expect-error no namespace
    daemon(Pool, { retries: 1 }, ({ namespace }) => namespace);
    // @ts-expect-error no namespace
    timer(Pool, { interval: 1 }, ({ namespace }) => namespace);
    // @ts-expect-error no namespace
    index(Pool, ({ namespace }) => namespace);
    on.create(Pool, ({ name, spec }) => [name.length, spec.size.length]);
  });

  it('may be either where nobody says so', () => {
    on.create(Either, ({ namespace }) => expectTypeOf(namespace).toEqualTypeOf<string | undefined>());
    on.create('volumes', ({ namespace }) => expectTypeOf(namespace).toEqualTypeOf<string | undefined>());
    on.create<TypedObject<Spec>>('volumes', ({ namespace }) =>
      expectTypeOf(namespace).toEqualTypeOf<string | undefined>(),
    );
    timer({ plural: 'volumes' }, { interval: 1 }, ({ namespace }) =>
      expectTypeOf(namespace).toEqualTypeOf<string | undefined>(),
    );
  });

  it('is so in handlers that are written apart', () => {
    const change = ({ namespace }: Change<typeof Volume>) => expectTypeOf(namespace).toEqualTypeOf<string>();
    const watch = ({ namespace }: Watch<typeof Volume>) => expectTypeOf(namespace).toEqualTypeOf<string>();
    const indexing = ({ namespace }: Indexing<typeof Volume>) => expectTypeOf(namespace).toEqualTypeOf<string>();
    const running = ({ namespace }: Daemon<typeof Volume>) => expectTypeOf(namespace).toEqualTypeOf<string>();
    const admission = ({ namespace }: Admission<typeof Volume>) => expectTypeOf(namespace).toEqualTypeOf<string>();
    // @ts-expect-error no namespace
    const nowhere = ({ namespace }: Change<typeof Pool>) => namespace;
    on.create(Volume, change);
    on.resume(Volume, { retries: 1 }, change);
    on.event(Volume, watch);
    index(Volume, indexing);
    daemon(Volume, running);
    on.validate(Volume, admission);
    // The function says what the selector does not.
    on.create('volumes', change);
    on.create(Pool, ({ name }: Change<typeof Pool>) => name);
    on.create(Pool, nowhere);

    class Handlers {
      @on.create(Volume)
      greet({ namespace }: Change<typeof Volume>) {
        return namespace.length;
      }
    }
    expectTypeOf(Handlers).not.toBeAny();
  });

  it('of untyped functions fits any of them', () => {
    const greet = ({ namespace }: Change) => namespace;
    on.create('volumes', greet);
    on.create(resource({ ...fields, namespaced: true }), greet);
    // @ts-expect-error it wants to know the namespace, and there is none
    on.create(resource({ ...fields, namespaced: false }), greet);
  });
});

describe('verbs', () => {
  it('take tokens of any scope', async () => {
    const api = undefined as unknown as Api;
    expectTypeOf(await api(Volume).get('x')).toEqualTypeOf<TypedObject<Spec, Status>>();
    expectTypeOf(await api(Pool).find('x')).toEqualTypeOf<TypedObject<Spec, Status> | undefined>();
    await api(Volume).apply({ metadata: { name: 'x' }, spec: {} });
    // @ts-expect-error the size is a text
    await api(Volume).apply({ metadata: { name: 'x' }, spec: { size: 5 } });
  });
});
