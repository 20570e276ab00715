import { describe, expect, it, vi } from 'vitest';
import { RegistrationError } from '../../src/errors.js';
import { makeResource, resource } from '../../src/values/resources/resource.js';
import {
  EVERYTHING,
  parseSelector,
  type SelectorFields,
  type SelectorSpec,
} from '../../src/values/resources/selector.js';

function criteria(spec: SelectorSpec): object {
  const { isSpecific, check, select, toString: _, ...rest } = parseSelector(spec);
  return rest;
}

describe('a selector is understood', () => {
  it.each<[SelectorSpec, object]>([
    ['pods', { anyName: 'pods' }],
    ['pods.v1', { version: 'v1', anyName: 'pods' }],
    ['pods.v1.', { group: '', version: 'v1', anyName: 'pods' }],
    ['kex.v1.kopf.dev', { group: 'kopf.dev', version: 'v1', anyName: 'kex' }],
    ['kex.v99beta99.kopf', { group: 'kopf', version: 'v99beta99', anyName: 'kex' }],
    ['kex.v2alpha1.kopf.dev', { group: 'kopf.dev', version: 'v2alpha1', anyName: 'kex' }],
    ['kex.kopf.dev', { group: 'kopf.dev', anyName: 'kex' }],
    ['kex.v1nonconventional', { group: 'v1nonconventional', anyName: 'kex' }],
    ['kex.v1gamma1.kopf.dev', { group: 'v1gamma1.kopf.dev', anyName: 'kex' }],
    ['kopf.dev/v1/kex', { group: 'kopf.dev', version: 'v1', anyName: 'kex' }],
    ['kopf.dev/odd-version/kex', { group: 'kopf.dev', version: 'odd-version', anyName: 'kex' }],
    ['/v1/pods', { group: '', version: 'v1', anyName: 'pods' }],
    ['v1/pods', { group: '', version: 'v1', anyName: 'pods' }],
    ['v1beta1/pods', { group: 'v1beta1', anyName: 'pods' }],
    ['kopf.dev/kex', { group: 'kopf.dev', anyName: 'kex' }],
    ['/pods', { group: '', anyName: 'pods' }],
    [EVERYTHING, { anyName: EVERYTHING }],
    [
      { group: 'kopf.dev', version: 'v1', name: EVERYTHING },
      { group: 'kopf.dev', version: 'v1', anyName: EVERYTHING },
    ],
    [
      { group: 'kopf.dev', name: 'kex' },
      { group: 'kopf.dev', anyName: 'kex' },
    ],
    [{ kind: 'KopfExample' }, { kind: 'KopfExample' }],
    [{ plural: 'kexes' }, { plural: 'kexes' }],
    [{ singular: 'kex' }, { singular: 'kex' }],
    [{ shortcut: 'kex' }, { shortcut: 'kex' }],
    [{ category: 'all' }, { category: 'all' }],
    [{ group: undefined, version: null, plural: 'kexes' } as unknown as SelectorFields, { plural: 'kexes' }],
    [
      resource({ group: 'kopf.dev', version: 'v1', plural: 'kexes' }),
      { group: 'kopf.dev', version: 'v1', plural: 'kexes' },
    ],
  ])('from %s', (spec, expected) => {
    expect(criteria(spec)).toStrictEqual(expected);
  });

  it('from a function, alone or within a group', () => {
    const fn = () => true;
    expect(criteria(fn)).toStrictEqual({ fn });
    expect(criteria({ group: 'kopf.dev', version: 'v1', fn })).toStrictEqual({ group: 'kopf.dev', version: 'v1', fn });
  });
});

describe('a selector is refused', () => {
  it.each<[SelectorSpec, RegExp]>([
    [{}, /Unspecific resource with no names.*add one of kind, plural.*EVERYTHING/],
    [{ group: 'g' }, /Unspecific resource with no names in Selector\(group='g'\)/],
    [{ version: 'v1' }, /Unspecific resource with no names/],
    ['apps/v1', /Unspecific resource with no names.*'apps\/v1\/<name>'/],
    [{ kind: 'K', plural: 'p' }, /Ambiguous resource specification.*keep one of kind, plural/],
    [{ name: 'n', category: 'c' }, /Ambiguous resource specification.*keep one of category, name/],
    [{ name: EVERYTHING, fn: () => true }, /Ambiguous resource specification.*keep one of fn, name/],
    ['', /Names must not be empty/],
    ['.v1.kopf.dev', /Names must not be empty/],
    ['.kopf.dev', /Names must not be empty/],
    ['kopf.dev/', /Names must not be empty/],
    ['kopf.dev/v1/', /Names must not be empty/],
    ['kopf.dev//kex', /Names must not be empty/],
    [{ kind: '' }, /Names must not be empty/],
    [{ plural: '' }, /Names must not be empty/],
    [{ singular: '' }, /Names must not be empty/],
    [{ shortcut: '' }, /Names must not be empty/],
    [{ category: '' }, /Names must not be empty/],
    [{ name: '' }, /Names must not be empty/],
    ['a/b/c/d', /Too many parts.*'group\/version\/name'/],
    [['kopf.dev', 'v1', 'kex'] as unknown as SelectorSpec, /it is an array.*'group\/version\/name'/],
    [null as unknown as SelectorSpec, /it is null/],
    [undefined as unknown as SelectorSpec, /of type undefined/],
    [5 as unknown as SelectorSpec, /of type number/],
  ])('if it is %s', (spec, message) => {
    expect(() => parseSelector(spec)).toThrow(RegistrationError);
    expect(() => parseSelector(spec)).toThrow(message);
    expect(() => parseSelector(spec)).toThrow(expect.objectContaining({ code: 'KOPF_BAD_SELECTOR' }));
  });
});

const kexes = makeResource({
  group: 'kopf.dev',
  version: 'v1',
  plural: 'kopfexamples',
  singular: 'kopfexample',
  kind: 'KopfExample',
  shortcuts: ['kex', 'kexes'],
  categories: ['all', 'examples'],
});
const oldKexes = makeResource({ ...kexes, version: 'v1beta1', preferred: false });
const pods = makeResource({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', categories: ['all'] });
const podMetrics = makeResource({ ...pods, group: 'metrics.k8s.io', version: 'v1beta1' });
const coreEvents = makeResource({ group: '', version: 'v1', plural: 'events', kind: 'Event' });
const newEvents = makeResource({ group: 'events.k8s.io', version: 'v1', plural: 'events', kind: 'Event' });
const othersEvents = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'events' });

describe('a resource matches a selector', () => {
  it.each<SelectorSpec>([
    'kopfexamples',
    'kopfexample',
    'KopfExample',
    'kex',
    'kexes.v1',
    'kex.kopf.dev',
    'kopf.dev/kex',
    'kopf.dev/v1/kopfexamples',
    { kind: 'KopfExample' },
    { plural: 'kopfexamples' },
    { singular: 'kopfexample' },
    { shortcut: 'kexes' },
    { category: 'examples' },
    { group: 'kopf.dev', name: EVERYTHING },
    EVERYTHING,
    ({ kind }) => kind === 'KopfExample',
  ])('by %s', (spec) => {
    expect(parseSelector(spec).check(kexes)).toBe(true);
  });

  it.each<SelectorSpec>([
    'examples',
    'kopfexamples.v2',
    'kopf/kopfexamples',
    'v1/kopfexamples',
    { kind: 'kopfexample' },
    { plural: 'kex' },
    { singular: 'kopfexamples' },
    { shortcut: 'kopfexamples' },
    { category: 'kex' },
    { group: '', name: EVERYTHING },
    { group: 'other', fn: () => true },
    { version: 'v2', fn: () => true },
    () => false,
  ])('but not by %s', (spec) => {
    expect(parseSelector(spec).check(kexes)).toBe(false);
  });

  it('of a non-preferred version only if asked for that version, or if a function takes it', () => {
    expect(parseSelector('kex').check(oldKexes)).toBe(false);
    expect(parseSelector(EVERYTHING).check(oldKexes)).toBe(false);
    expect(parseSelector({ category: 'all' }).check(oldKexes)).toBe(false);
    expect(parseSelector('kex.v1beta1').check(oldKexes)).toBe(true);
    expect(parseSelector({ version: 'v1beta1', name: EVERYTHING }).check(oldKexes)).toBe(true);
    expect(parseSelector(() => true).check(oldKexes)).toBe(true);
  });

  it.each([coreEvents, newEvents])('of events only if called by the name: %#', (events) => {
    const fn = vi.fn(() => true);
    expect(parseSelector(EVERYTHING).check(events)).toBe(false);
    expect(parseSelector(fn).check(events)).toBe(false);
    expect(fn).not.toHaveBeenCalled();
    expect(parseSelector('events').check(events)).toBe(true);
    expect(parseSelector({ kind: 'Event' }).check(events)).toBe(true);
    expect(parseSelector({ group: events.group, version: 'v1', name: 'events' }).check(events)).toBe(true);
  });

  it("named as events, but in someone's own group, as any other", () => {
    expect(parseSelector(EVERYTHING).check(othersEvents)).toBe(true);
    expect(parseSelector(() => true).check(othersEvents)).toBe(true);
  });
});

describe('of the resources of a cluster', () => {
  it('the core ones win over their namesakes if meant by the name', () => {
    expect([...parseSelector('pods').select([podMetrics, pods, kexes])]).toStrictEqual([pods]);
    expect([...parseSelector({ kind: 'Pod' }).select([podMetrics, pods])]).toStrictEqual([pods]);
    expect([...parseSelector('metrics.k8s.io/pods').select([podMetrics, pods])]).toStrictEqual([podMetrics]);
  });

  it('all namesakes are selected if none of them is a core one', () => {
    const others = makeResource({ ...kexes, group: 'example.com' });
    expect([...parseSelector('kex').select([kexes, others, pods])]).toStrictEqual([kexes, others]);
  });

  it.each<SelectorSpec>([EVERYTHING, { category: 'all' }, () => true])(
    'all matching ones are selected if not meant by the name: %#',
    (spec) => {
      expect([...parseSelector(spec).select([podMetrics, pods, kexes])]).toStrictEqual([podMetrics, pods, kexes]);
    },
  );

  it('each one is selected once', () => {
    expect([...parseSelector('kex').select([kexes, makeResource(kexes)])]).toStrictEqual([kexes]);
    expect(parseSelector('kex').select([]).size).toBe(0);
  });

  it.each<[SelectorSpec, boolean]>([
    ['kex', true],
    [{ kind: 'K' }, true],
    [{ plural: 'p' }, true],
    [{ singular: 's' }, true],
    [{ shortcut: 's' }, true],
    [{ category: 'c' }, false],
    [EVERYTHING, false],
    [{ group: 'g', name: EVERYTHING }, false],
    [() => true, false],
  ])('one is meant only by a name of its own: %#', (spec, isSpecific) => {
    expect(parseSelector(spec).isSpecific).toBe(isSpecific);
  });
});

describe('in logs, a selector', () => {
  it.each<[SelectorSpec, string]>([
    ['g/n', "Selector(group='g', anyName='n')"],
    ['/v1/n', "Selector(group='', version='v1', anyName='n')"],
    [{ kind: 'K' }, "Selector(kind='K')"],
    [EVERYTHING, 'Selector(anyName=EVERYTHING)'],
    [
      function mine() {
        return true;
      },
      'Selector(fn=<function mine>)',
    ],
    [
      {
        group: 'g',
        fn: (
          () => () =>
            true
        )(),
      },
      "Selector(group='g', fn=<function>)",
    ],
  ])('shows only what is set: %#', (spec, text) => {
    expect(String(parseSelector(spec))).toBe(text);
  });

  it('has one marker of everything in all copies of the package', () => {
    expect(EVERYTHING).toBe(Symbol.for('kopf-ts.EVERYTHING'));
  });
});
