import { AsyncLocalStorage } from 'node:async_hooks';
import { manualClock } from '@kopf-ts/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { ContextError } from '../../src/errors.js';
import { currentContext, requireContext, runInContext } from '../../src/execution/context.js';
import { getDefaultRegistry, setDefaultRegistry } from '../../src/execution/defaults.js';
import {
  adjustNamespace,
  adopt,
  appendOwnerReference,
  harmonizeNaming,
  label,
  removeOwnerReference,
} from '../../src/execution/handler-api/hierarchies.js';
import { createRegistry } from '../../src/intents/registration/registry.js';
import { settings } from '../../src/settings.js';
import { changingCause, watchingCause } from '../execution/helpers.js';

const clock = manualClock();

describe('The context', () => {
  it('is not there outside of everything', () => {
    expect(currentContext()).toBeUndefined();
  });

  it('is inherited, with some of it replaced', () => {
    const all = settings();
    runInContext({ clock, settings: all }, () => {
      runInContext({ settings: undefined, random: Math.random }, () => {
        expect(currentContext()).toEqual({ clock, settings: undefined, random: Math.random });
      });
      expect(currentContext()).toEqual({ clock, settings: all });
    });
    expect(currentContext()).toBeUndefined();
  });

  it('gives back what the function returns', () => {
    expect(runInContext({}, () => 'result')).toBe('result');
  });

  it('follows through promises and timers, and does not mix', async () => {
    const [one, two] = [manualClock(), manualClock()];
    const look = (own: typeof clock) =>
      runInContext({ clock: own }, async () => {
        await Promise.resolve();
        const later = await new Promise((resolve) => setImmediate(() => resolve(currentContext()?.clock)));
        return [currentContext()?.clock, later];
      });
    const [seenByOne, seenByTwo] = await Promise.all([look(one), look(two)]);
    expect(seenByOne?.every((seen) => seen === one)).toBe(true);
    expect(seenByTwo?.every((seen) => seen === two)).toBe(true);
  });

  it('is common to all copies of the package', () => {
    runInContext({ clock }, () => {
      const shared = (globalThis as Record<symbol, unknown>)[Symbol.for('kopf-ts.context')];
      expect(shared).toBeInstanceOf(AsyncLocalStorage);
      expect((shared as AsyncLocalStorage<unknown>).getStore()).toBe(currentContext());
    });
  });

  it('is demanded with a word of what to do', () => {
    expect(() => requireContext('sleep()')).toThrow(ContextError);
    expect(() => requireContext('sleep()')).toThrow(
      /^sleep\(\) is called outside of any handler\. Call it from a handler/,
    );
    expect(runInContext({ clock }, () => requireContext('sleep()').clock)).toBe(clock);
  });
});

describe('The default registry', () => {
  afterEach(() => setDefaultRegistry(undefined));

  it('is made when first needed, and stays', () => {
    const registry = getDefaultRegistry();
    registry.on.create('kopfexamples', function fn() {});
    expect(getDefaultRegistry()).toBe(registry);
    expect(getDefaultRegistry().handlers.changing.size).toBe(1);
  });

  it('can be replaced, and begun anew', () => {
    const [before, mine] = [getDefaultRegistry(), createRegistry()];
    setDefaultRegistry(mine);
    expect(getDefaultRegistry()).toBe(mine);
    setDefaultRegistry(undefined);
    expect([mine, before]).not.toContain(getDefaultRegistry());
    expect(getDefaultRegistry().handlers.changing.size).toBe(0);
  });
});

describe('Children of the object being handled', () => {
  const owner = {
    apiVersion: 'kopf.dev/v1',
    kind: 'KopfExample',
    metadata: { name: 'name1', namespace: 'ns1', uid: 'uid1', labels: { l: 'lv' } },
  };
  const reference = {
    controller: true,
    blockOwnerDeletion: true,
    apiVersion: 'kopf.dev/v1',
    kind: 'KopfExample',
    name: 'name1',
    uid: 'uid1',
  };
  const FUNCTIONS = { adopt, label, appendOwnerReference, removeOwnerReference, harmonizeNaming, adjustNamespace };

  it.each([
    ['a change', changingCause({ body: owner })],
    ['an event', watchingCause({ body: owner })],
  ])('are adopted by it in handlers of %s', (_what, cause) => {
    const child = {};
    runInContext({ cause }, () => adopt(child));
    expect(child).toEqual({
      metadata: { ownerReferences: [reference], generateName: 'name1-', namespace: 'ns1', labels: { l: 'lv' } },
    });
  });

  it('are adopted in part', () => {
    const made = (fn: (child: object) => void) => {
      const child = {};
      runInContext({ cause: changingCause({ body: owner }) }, () => fn(child));
      return (child as { metadata?: unknown }).metadata;
    };
    expect(made((child) => label(child))).toEqual({ labels: { l: 'lv' } });
    expect(made((child) => label(child, { labels: { x: 'y' } }))).toEqual({ labels: { x: 'y' } });
    expect(made((child) => appendOwnerReference(child, { controller: false }))).toEqual({
      ownerReferences: [{ ...reference, controller: false }],
    });
    expect(made((child) => removeOwnerReference(child))).toEqual({ ownerReferences: [] });
    expect(made((child) => harmonizeNaming(child, { strict: true }))).toEqual({ name: 'name1' });
    expect(made((child) => adjustNamespace(child))).toEqual({ namespace: 'ns1' });
  });

  it('are adopted by another owner, if there is one named', () => {
    const child = {};
    const other = { ...owner, metadata: { name: 'other', uid: 'uid2' } };
    runInContext({ cause: changingCause({ body: owner }) }, () => adopt(child, { owner: other }));
    expect(child).toMatchObject({ metadata: { generateName: 'other-', ownerReferences: [{ uid: 'uid2' }] } });
  });

  it.each(Object.entries(FUNCTIONS))('need an owner for %s(), even if there are none of them', (_name, fn) => {
    expect(() => fn([])).toThrow(ContextError);
    const activity = {
      kind: 'activity',
      activity: 'startup',
      settings: settings(),
      memo: {},
      logger: changingCause().logger,
    };
    expect(() => runInContext({ cause: activity as never }, () => fn({}))).toThrow(ContextError);
  });
});
