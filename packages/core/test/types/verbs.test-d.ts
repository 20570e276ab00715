import { describe, expectTypeOf, it } from 'vitest';
import { createRegistry } from '../../src/intents/registration/registry.js';
import type { Api, ApiEvent, ApiExecResult, ObjectsApi } from '../../src/seams/api.js';
import type { AnyObject } from '../../src/values/objects/body.js';
import { resource } from '../../src/values/resources/resource.js';

const { on, daemon, timer, index } = createRegistry();
const Volume = resource<{ size: string; replicas?: number }, { phase?: string }>({
  group: 'example.com',
  version: 'v1',
  plural: 'volumes',
});
declare const api: Api;

describe('the verbs of a kind', () => {
  it('give its objects', async () => {
    const volumes = api(Volume);
    expectTypeOf((await volumes.get('one')).spec.size).toEqualTypeOf<string>();
    expectTypeOf((await volumes.find('one'))?.spec.size).toEqualTypeOf<string | undefined>();
    expectTypeOf((await volumes.list())[0]?.status?.phase).toEqualTypeOf<string | undefined>();
    for await (const one of volumes.each({ labels: { app: 'web' } })) expectTypeOf(one.spec.size).toBeString();
    for await (const event of volumes.watch()) {
      expectTypeOf(event.object.spec.size).toEqualTypeOf<string>();
      expectTypeOf(event.type).toEqualTypeOf<'LISTED' | 'ADDED' | 'MODIFIED' | 'DELETED'>();
    }
    expectTypeOf(await volumes.delete('one')).toBeVoid();
    expectTypeOf(await volumes.deleteCollection({ all: true })).toBeVoid();
    expectTypeOf(await volumes.evict('one')).toBeVoid();
    expectTypeOf(await volumes.scale.set('one', 3)).toBeVoid();
    for (const volume of [
      await volumes.create({ metadata: { name: 'one' } }),
      await volumes.apply({ metadata: { name: 'one' } }),
      await volumes.patch('one', {}),
      await volumes.replace('one', (object) => object),
      await volumes.status.get('one'),
      await volumes.status.patch('one', {}),
    ]) {
      expectTypeOf(volume.spec.size).toEqualTypeOf<string>();
    }
    expectTypeOf(await volumes.scale.get('one')).toEqualTypeOf<{ readonly wanted: number; readonly actual: number }>();
    expectTypeOf((await volumes.token('one')).expires).toEqualTypeOf<Date>();
    expectTypeOf(await api('pods').exec('one', ['date'])).toEqualTypeOf<ApiExecResult>();
    expectTypeOf(await api('pods').log('one')).toEqualTypeOf<string>();
    for await (const line of api('pods').log('one', { follow: true })) expectTypeOf(line).toBeString();
  });

  it('take parts of its objects, and nothing else', () => {
    const volumes = api(Volume);
    void volumes.apply({ metadata: { name: 'one' }, spec: { size: '1Gi' } }, { force: true });
    void volumes.create({ metadata: { generateName: 'one-' }, spec: {} });
    void volumes.patch('one', { spec: { replicas: 3 } });
    void volumes.patch('one', [{ op: 'remove', path: '/spec/replicas' }]);
    void volumes.status.patch('one', { status: { phase: 'ready' } });
    void volumes.replace('one', (object) => ({ ...object, spec: { size: '2Gi' } }));
    void volumes.deleteCollection({ labels: { app: 'web' }, propagation: 'Foreground' });
    void volumes.delete('one', { preconditions: { uid: 'x' }, ifGone: 'ignore', gracePeriodSeconds: 0 });
    void volumes.evict('one', { gracePeriodSeconds: 0 });
    void volumes.scale.set('one', 3, { dryRun: true });
    void volumes.status.replace('one', (object) => ({ ...object, status: { phase: 'ready' } }));
    void volumes.status.apply({ metadata: { name: 'one' }, status: { phase: 'ready' } }, { force: true });
    void volumes.exec('one', ['cat'], { stdin: 'x', onStdout: (text) => void text.length });
    void volumes.token('one', { audiences: ['x'], expirationSeconds: 600 });
    on.create(Volume, ({ body }) => void volumes.apply({ metadata: { name: 'one' } }, { owner: body }));
    // @ts-expect-error there is no such choice
    void volumes.delete('one', { ifGone: 'ignroe' });
    // @ts-expect-error there is no such choice
    void volumes.delete('one', { propagation: 'foreground' });
    // @ts-expect-error all are meant, or some of them
    void volumes.deleteCollection({ all: false });
    // @ts-expect-error there is no such option
    void volumes.get('one', { dryRun: true });
    // @ts-expect-error a new object cannot be in conflict
    void volumes.create({ metadata: { name: 'one' } }, { force: true });
    // @ts-expect-error a function, and a synchronous one
    void volumes.replace('one', async (object) => object);
    // @ts-expect-error a pod is not evicted from its status
    void volumes.status.evict('one');
    // @ts-expect-error replicas are a number
    void volumes.scale.set('one', '3');
    // @ts-expect-error a label is no object
    void volumes.list({ labels: { app: { in: ['web'] } } });
    // @ts-expect-error a token is for several audiences
    void volumes.token('one', { audiences: 'x' });
    // @ts-expect-error a time is a Date
    void api('pods').log('one', { sinceTime: '2020-01-01' });
    // @ts-expect-error a size is a text
    void volumes.apply({ metadata: { name: 'one' }, spec: { size: 1 } });
    // @ts-expect-error there is no such field
    void volumes.patch('one', { spec: { sice: '1Gi' } });
    // @ts-expect-error there is no such phase
    void volumes.status.patch('one', { status: { phase: 1 } });
    // @ts-expect-error there is no such operation
    void volumes.patch('one', [{ op: 'delete', path: '/spec' }]);
    // @ts-expect-error a name is a text
    void volumes.get(1);
    // @ts-expect-error it must be said which ones, or that all are meant
    void volumes.deleteCollection();
    // @ts-expect-error a command is a list of words
    void volumes.exec('one', 'date');
  });

  it('are untyped for names, and for objects that say of what kind they are', async () => {
    expectTypeOf(api('pods')).toEqualTypeOf<ObjectsApi>();
    expectTypeOf(await api({ apiVersion: 'v1', kind: 'Pod' }).get('one')).toEqualTypeOf<AnyObject>();
    expectTypeOf(api('pods').watch()).toEqualTypeOf<AsyncIterable<ApiEvent>>();
    // @ts-expect-error a number is no kind
    api(1);
  });
});

describe('the verbs of handlers', () => {
  it('are there for all of them', () => {
    on.create(Volume, ({ api }) => expectTypeOf(api).toEqualTypeOf<Api>());
    on.field(Volume, { field: 'spec.size' }, ({ api }) => expectTypeOf(api).toEqualTypeOf<Api>());
    on.event(Volume, ({ api }) => expectTypeOf(api).toEqualTypeOf<Api>());
    on.update(Volume, ({ api }) => expectTypeOf(api).toEqualTypeOf<Api>());
    on.delete(Volume, ({ api }) => expectTypeOf(api).toEqualTypeOf<Api>());
    on.resume(Volume, ({ api }) => expectTypeOf(api).toEqualTypeOf<Api>());
    on.child(Volume, 'pods', ({ api }) => void expectTypeOf(api).toEqualTypeOf<Api>());
    on.reconcile(Volume, ({ api }) => void expectTypeOf(api).toEqualTypeOf<Api>());
    on.cleanup(({ api }) => expectTypeOf(api).toEqualTypeOf<Api>());
    on.validate(Volume, ({ api }) => expectTypeOf(api).toEqualTypeOf<Api>());
    on.mutate(Volume, ({ api }) => expectTypeOf(api).toEqualTypeOf<Api>());
    on.startup(({ api }) => expectTypeOf(api).toEqualTypeOf<Api>());
    daemon(Volume, ({ api }) => expectTypeOf(api).toEqualTypeOf<Api>());
    timer(Volume, { interval: 1 }, ({ api }) => expectTypeOf(api).toEqualTypeOf<Api>());
    index(Volume, ({ api }) => void expectTypeOf(api).toEqualTypeOf<Api>());
    // @ts-expect-error filters have none: they decide by what they are given
    on.create(Volume, { when: ({ api }) => api !== undefined }, () => {});
  });
});
