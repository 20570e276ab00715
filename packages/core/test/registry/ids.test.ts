import { recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { createRegistry, type Registry } from '../../src/intents/registration/registry.js';
import { resource } from '../../src/values/resources/resource.js';
import { EVERYTHING } from '../../src/values/resources/selector.js';

function fn() {}
const arrow = () => {};
const nameless = (() => () => {})();

function idsOf({ handlers }: Registry): string[] {
  return Object.values(handlers).flatMap((family) => [...family].map(({ id }) => id));
}

function idOf(declare: (registry: Registry) => unknown): string | undefined {
  const registry = createRegistry();
  declare(registry);
  return idsOf(registry)[0];
}

describe("a handler's id", () => {
  it.each<[string, string, (registry: Registry) => unknown]>([
    ['the name', 'fn', ({ on }) => on.create('x', fn)],
    ['the name of an arrow function', 'arrow', ({ on }) => on.create('x', arrow)],
    ['the name of a bound function', 'fn', ({ on }) => on.create('x', fn.bind(null))],
    ['the name given in place', 'inPlace', ({ on }) => on.create('x', function inPlace() {})],
    ['the name of an asynchronous function', 'later', ({ on }) => on.create('x', async function later() {})],
    ['the id, if given', 'given', ({ on }) => on.create('x', { id: 'given' }, fn)],
    [
      'the id and the field',
      'given/field.subfield',
      ({ on }) => on.create('x', { id: 'given', field: 'field.subfield' }, fn),
    ],
    ['for creation', 'fn/a.b', ({ on }) => on.create('x', { field: 'a.b' }, fn)],
    ['for updates', 'fn/a.b', ({ on }) => on.update('x', { field: 'a.b' }, fn)],
    ['for deletion', 'fn/a.b', ({ on }) => on.delete('x', { field: 'a.b' }, fn)],
    ['for resuming', 'fn/a.b', ({ on }) => on.resume('x', { field: 'a.b' }, fn)],
    ['for fields', 'fn/a.b', ({ on }) => on.field('x', { field: 'a.b' }, fn)],
    ['for events', 'fn/a.b', ({ on }) => on.event('x', { field: 'a.b' }, fn)],
    ['for daemons', 'fn/a.b', ({ daemon }) => daemon('x', { field: 'a.b' }, fn)],
    ['for timers', 'fn/a.b', ({ timer }) => timer('x', { field: 'a.b' }, fn)],
    ['for validation', 'fn/a.b', ({ on }) => on.validate('x', { field: 'a.b' }, fn)],
    ['for mutation', 'val!x/a.b', ({ on }) => on.mutate('x', { id: 'val!x', field: 'a.b' }, fn)],
    ['for indices: as the user calls them', 'fn', ({ index }) => index('x', { field: 'a.b' }, fn)],
    ['for a field of several keys', 'fn/a.b/c', ({ on }) => on.event('x', { field: ['a', 'b/c'] }, fn)],
    ['without a name, by a string', 'create.kopfexamples', ({ on }) => on.create('kopfexamples', nameless)],
    ['without a name, in place', 'update.kopfexamples', ({ on }) => on.update('kopfexamples', () => {})],
    ['without a name, by a path', 'create.kopfexamples', ({ on }) => on.create('kopf.dev/v1/kopfexamples', nameless)],
    [
      'without a name, with a version',
      'create.kopfexamples',
      ({ on }) => on.create('kopfexamples.v1.kopf.dev', nameless),
    ],
    ['without a name, by fields', 'create.KopfExample', ({ on }) => on.create({ kind: 'KopfExample' }, nameless)],
    ['without a name, by a token', 'create.pods', ({ on }) => on.create(resource({ plural: 'pods' }), nameless)],
    ['without a name, by a category', 'event.all', ({ on }) => on.event({ category: 'all' }, nameless)],
    ['without a name, of everything', 'event.everything', ({ on }) => on.event(EVERYTHING, nameless)],
    [
      'without a name, by a predicate',
      'event.isMine',
      ({ on }) =>
        on.event(function isMine() {
          return true;
        }, nameless),
    ],
    ['without any names', 'event.resources', ({ on }) => on.event(() => true, nameless)],
    ['without a name, with a field', 'create.x/a.b', ({ on }) => on.create('x', { field: 'a.b' }, nameless)],
    ['without a name, an activity', 'startup', ({ on }) => on.startup(() => {})],
    ['without a name, a daemon', 'daemon.x', ({ daemon }) => daemon('x', () => {})],
  ])('%s: %s', (_title, id, declare) => {
    expect(idOf(declare)).toBe(id);
  });
});

describe('handlers without names', () => {
  it('are refused if they would share an id', () => {
    const registry = createRegistry();
    registry.on.create('x', () => {});
    expect(() => registry.on.create('x', () => {})).toThrow(
      /Handler 'create\.x' is already declared.*name at least one of the functions, or give it an id/,
    );
    expect(() => registry.on.create('kopf.dev/v1/x', () => {})).toThrow(/already declared/);
    expect(() => registry.on.create('x')(() => {})).toThrow(/already declared/);
    expect(idsOf(registry)).toEqual(['create.x']);
  });

  it('are refused for activities as well', () => {
    const { on } = createRegistry();
    on.probe(() => 1);
    on.startup(() => {});
    expect(() => on.probe(() => 2)).toThrow(/Activity 'probe' is already declared/);
  });

  it('are fine if they differ in anything of the id', () => {
    const registry = createRegistry();
    registry.on.create('x', () => {});
    registry.on.update('x', () => {});
    registry.on.create('y', () => {});
    registry.on.create('x', { field: 'a' }, () => {});
    registry.on.create('x', { id: 'b' }, () => {});
    expect(idsOf(registry)).toEqual(['create.x', 'update.x', 'create.y', 'create.x/a', 'b']);
  });

  it('are fine if it is one function', () => {
    const registry = createRegistry();
    registry.on.create('x', { labels: { a: 'b' } }, nameless);
    registry.on.create('x', { labels: { c: 'd' } }, nameless);
    expect(idsOf(registry)).toEqual(['create.x', 'create.x']);
  });

  it('do not restrict those with names', () => {
    const registry = createRegistry();
    const another = { fn: () => {} }.fn;
    registry.on.create('x', fn);
    registry.on.create('x', another);
    expect(idsOf(registry)).toEqual(['fn', 'fn']);
  });
});

function warningsOf(declare: (registry: Registry) => unknown): string[] {
  const registry = createRegistry();
  declare(registry);
  const logger = recordingLogger();
  registry.verify({ logger });
  expect(logger.messages()).toEqual(logger.messages('warn'));
  return logger.messages();
}

describe('ids that cannot be in names of annotations', () => {
  it('are warned of, since the cluster would refuse every patch with their progress', () => {
    expect(warningsOf(({ on }) => on.create('x', { id: 'a:b' }, fn))).toEqual([
      expect.stringMatching(/^Handler 'a:b' has characters in its id .* use letters, digits/),
    ]);
  });

  it('are fine where nothing is stored, or where the storages replace them', () => {
    const declare = ({ on, daemon }: Registry) => [
      on.event('x', { id: 'a:b' }, fn),
      daemon('x', { id: 'a b' }, fn),
      on.create('x', { id: 'a.<b>_c-d', field: 'spec.e' }, fn),
    ];
    expect(warningsOf(declare)).toEqual([]);
  });
});

describe('names that a minifier could have made', () => {
  const p = () => {};

  it('are warned of before the operator starts', () => {
    const warnings = warningsOf(({ on, daemon }) => {
      on.create('x', p);
      on.create('x', { field: 'spec.a' }, p);
      on.startup(p);
      daemon('x', p);
      on.update('x', fn);
    });
    expect(warnings).toEqual([
      expect.stringMatching(/^Handler 'p' has a one-letter name.*keepNames, or give ids explicitly/),
      expect.stringMatching(/^Handler 'p\/spec\.a' has a one-letter name/),
      expect.stringMatching(/^Activity 'p' has a one-letter name/),
      expect.stringMatching(/^Daemon 'p' has a one-letter name/),
    ]);
  });

  it('are warned of once for one id', () => {
    expect(warningsOf(({ on }) => [on.create('x', p), on.resume('x', p)])).toHaveLength(1);
  });

  it('are fine if the user insists', () => {
    expect(warningsOf(({ on }) => on.create('x', { id: 'p' }, p))).toEqual([]);
    expect(warningsOf(({ on }) => on.create('x', { id: 'mine' }, p))).toEqual([]);
    expect(warningsOf(({ on }) => on.create('x', nameless))).toEqual([]);
  });

  it('are no reason to fail, nor to warn without a logger', () => {
    const registry = createRegistry();
    registry.on.create('x', p);
    expect(() => registry.verify()).not.toThrow();
  });
});
