import { expectTypeOf, it } from 'vitest';
import {
  type Body,
  type ChildChange,
  createRegistry,
  type ReconcileReason,
  type ResourceToken,
  resource,
} from '../../src/index.js';

interface Parent {
  spec: { size: number };
  status: { ready?: number };
}
interface Child {
  spec: { colour: string };
}
const { on, owns, timer } = createRegistry();
const parents = resource<Parent['spec'], Parent['status']>({ plural: 'parents', namespaced: true });
const children = resource<Child['spec']>({ plural: 'children' });
type ParentObject = typeof parents extends ResourceToken<infer T, string> ? T : never;
type ChildObject = typeof children extends ResourceToken<infer T, string | undefined> ? T : never;

it('handlers of children are typed by both tokens', () => {
  on.child(parents, children, ({ parent, child, changes, children: all, spec, patch, namespace, initial }) => {
    expectTypeOf(parent).toEqualTypeOf<Body<ParentObject>>();
    expectTypeOf(child).toEqualTypeOf<Body<ChildObject> | undefined>();
    expectTypeOf(changes).toEqualTypeOf<readonly ChildChange<ChildObject>[]>();
    expectTypeOf(all()).toEqualTypeOf<readonly Body<ChildObject>[]>();
    expectTypeOf(all('pods')).toEqualTypeOf<readonly Body[]>();
    expectTypeOf(all(parents)).toEqualTypeOf<readonly Body<ParentObject>[]>();
    expectTypeOf(spec.size).toEqualTypeOf<number>();
    expectTypeOf(namespace).toEqualTypeOf<string>();
    expectTypeOf(initial).toEqualTypeOf<boolean>();
    patch.status.ready = 1;
    // @ts-expect-error it is of another type
    patch.status.ready = 'all';
  });
  on.child(parents, children, { fields: ['spec.colour'], param: 7, by: ({ spec }) => spec.colour }, ({ param }) => {
    expectTypeOf(param).toEqualTypeOf<number>();
  });
  on.child('parents', 'children', { labels: { tier: 'gold' } }, ({ child }) => {
    expectTypeOf(child).toEqualTypeOf<Body | undefined>();
  });
  class Handlers {
    @on.child(parents, children)
    count({ children: all }: { readonly children: () => readonly Body<ChildObject>[] }): void {
      void all;
    }
  }
  void Handlers;
});

it('reconciliation is typed by its token, and by what it returns', () => {
  on.reconcile(
    parents,
    { owns: [children, { kind: 'pods', by: { label: 'of' } }] },
    ({ spec, reasons, children: all }) => {
      expectTypeOf(spec.size).toEqualTypeOf<number>();
      expectTypeOf(reasons).toEqualTypeOf<ReadonlySet<ReconcileReason>>();
      expectTypeOf(all(children)).toEqualTypeOf<readonly Body<ChildObject>[]>();
      return { requeueAfter: 5 };
    },
  );
  on.reconcile(parents, { watches: [{ kind: 'secrets', map: ({ labels }) => labels['of'] }] }, async () => {});
  on.reconcile(parents, { cleanup: ({ spec }) => expectTypeOf(spec.size).toEqualTypeOf<number>() }, () => undefined);
  // @ts-expect-error it would be ignored
  on.reconcile(parents, () => 'later');
  // @ts-expect-error seconds are numbers
  on.reconcile(parents, () => ({ requeueAfter: '5s' }));
  // @ts-expect-error it is a list
  on.reconcile(parents, { owns: children }, () => {});
  // @ts-expect-error there is no such option
  on.reconcile(parents, { own: [children] }, () => {});
});

it('children are there for handlers of all kinds that have them', () => {
  owns(parents, children);
  owns('parents', 'children', { by: ({ name }) => [name, { name, namespace: 'shop' }] });
  // @ts-expect-error names are texts
  owns('parents', 'children', { by: () => 7 });
  on.create(
    parents,
    ({ children: all }) => void expectTypeOf(all(children)).toEqualTypeOf<readonly Body<ChildObject>[]>(),
  );
  on.event(parents, ({ children: all }) => void expectTypeOf(all('x')).toEqualTypeOf<readonly Body[]>());
  timer(parents, { interval: 1 }, ({ children: all }) => void all(children));
  // @ts-expect-error objects are reviewed before they have any
  on.validate(parents, ({ children: all }) => void all);
});
