import { createRegistry, getDefaultRegistry, type Registry, setDefaultRegistry } from '@kopf-ts/core';
import { placeOf } from '@kopf-ts/core/engine';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import * as kopf from '../../src/index.js';

let declared: Registry;
beforeEach(() => {
  const previous = getDefaultRegistry();
  onTestFinished(() => setDefaultRegistry(previous));
  declared = createRegistry();
  setDefaultRegistry(declared);
});

function idsOf(handlers: Iterable<{ readonly id: string }>): readonly string[] {
  return [...handlers].map(({ id }) => id);
}

describe('the short way to declare handlers', () => {
  it('declares them in the registry of the process, with the types of their selectors', () => {
    const Volume = kopf.resource<{ size: number }, { phase: string }>({ group: 'example.com', plural: 'volumes' });
    kopf.on.startup(function started() {});
    kopf.on.create(Volume, function created({ spec, patch }) {
      patch.status.phase = spec.size.toFixed();
    });
    kopf.on.event('pods', function seen() {});
    kopf.daemon(Volume, function served() {});
    kopf.timer(Volume, { interval: 1 }, function ticked() {});
    kopf.index(Volume, function indexed({ name, spec }) {
      return { [name]: spec.size };
    });
    const { activities, changing, watching, spawning, indexing } = declared.handlers;
    expect([activities, changing, watching, spawning, indexing].map(idsOf)).toEqual([
      ['started'],
      ['created'],
      ['seen'],
      ['served', 'ticked'],
      ['indexed'],
    ]);
  });

  it('tells where that was done, whatever our own functions are called in stacks', () => {
    const lines = [kopf.daemon, kopf.timer].map((declare) => {
      Object.defineProperty(declare, 'name', { value: 'renamed' });
      declare('pods', function ticked() {});
      return /default-registry\.test\.ts:(\d+)/.exec(new Error('here').stack ?? '')?.[1];
    });
    const places = [...declared.handlers.spawning].map((handler) => placeOf(handler));
    // The line before.
    expect(places).toEqual(lines.map((line) => `declaring/default-registry.test.ts:${Number(line) - 1}`));
  });

  it('looks for that registry each time, as it may be replaced', () => {
    const { on, daemon } = kopf;
    const other = createRegistry();
    setDefaultRegistry(other);
    on.create('pods', function created() {});
    daemon('pods', function served() {});
    expect(idsOf(other.handlers.changing)).toEqual(['created']);
    expect(idsOf(other.handlers.spawning)).toEqual(['served']);
    expect(declared.handlers.changing.size).toBe(0);
  });
});
