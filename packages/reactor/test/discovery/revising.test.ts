import {
  createRegistry,
  EVERYTHING,
  type Registry,
  type Resource,
  type SelectorSpec,
  resource as token,
} from '@kopf-ts/core';
import { formatResource, makeResource, type ResourceFields } from '@kopf-ts/core/engine';
import { describe, expect, it } from 'vitest';
import { groupsOfInterest, revise } from '../../src/discovery/revision.js';
import { mergeDiscovery } from '../../src/discovery/scanner.js';
import { noop } from './harness.js';

const ALL_VERBS = ['list', 'watch', 'patch'];

function resource(group: string, plural: string, extra: Partial<ResourceFields> = {}): Resource {
  return makeResource({ group, version: 'v1', plural, namespaced: true, verbs: ALL_VERBS, ...extra });
}

const ONE = resource('g1', 'ones');
const TWO = resource('g1', 'twos');

function revised(resources: readonly Resource[], declare: (registry: Registry) => void) {
  const registry = createRegistry();
  declare(registry);
  const { watched, indexed, webhook, warnings } = revise(registry.handlers, resources);
  const named = (set: ReadonlySet<Resource>) => [...set].map((one) => formatResource(one)).sort();
  return { watched: named(watched), indexed: named(indexed), webhook: named(webhook), warnings };
}

describe('the groups to ask for', () => {
  const BACKBONE = ['', 'apiextensions.k8s.io', 'admissionregistration.k8s.io', 'kopf.dev', 'zalando.org'];

  function groups(declare: (registry: Registry) => void): string[] | undefined {
    const registry = createRegistry();
    declare(registry);
    const found = groupsOfInterest(registry.handlers);
    return found && [...found].sort();
  }

  it('are those of the framework itself, if there are no handlers', () => {
    expect(groups(noop)).toEqual([...BACKBONE].sort());
  });

  it('are also those of the handlers of every kind', () => {
    const found = groups(({ on, daemon, timer, index }) => {
      on.event('g1/ones', noop);
      on.create('g2/twos', noop);
      daemon('g3/threes', noop);
      timer('g4/fours', { interval: 1 }, noop);
      index('g5/fives', noop);
      on.validate('g6/sixes', noop);
      on.event('v1/pods', noop);
    });
    expect(found).toEqual([...BACKBONE, 'g1', 'g2', 'g3', 'g4', 'g5', 'g6'].sort());
  });

  it.each<[string, SelectorSpec]>([
    ['a name only', 'ones'],
    ['everything', EVERYTHING],
    ['a function', () => true],
    ['a category', { category: 'all' }],
  ])('are all of them, if any handler is for %s', (_title, selector) => {
    const found = groups(({ on }) => {
      on.event('g1/ones', noop);
      on.create(selector, noop);
    });
    expect(found).toBeUndefined();
  });
});

describe('the kinds of handlers', () => {
  it.each([
    ['event', ({ on }: Registry) => on.event('g1/ones', noop), ['watched']],
    ['create', ({ on }: Registry) => on.create('g1/ones', noop), ['watched']],
    ['daemon', ({ daemon }: Registry) => daemon('g1/ones', noop), ['watched']],
    ['timer', ({ timer }: Registry) => timer('g1/ones', { interval: 1 }, noop), ['watched']],
    ['index', ({ index }: Registry) => index('g1/ones', noop), ['watched', 'indexed']],
    ['validate', ({ on }: Registry) => on.validate('g1/ones', noop), ['webhook']],
    ['mutate', ({ on }: Registry) => on.mutate('g1/ones', noop), ['webhook']],
  ] as const)('%s: where the resources go', (_title, declare, sets) => {
    const { warnings, ...found } = revised([ONE, TWO], declare);
    const filled = Object.entries(found).filter(([, members]) => members.length > 0);
    expect(filled.map(([name]) => name).sort()).toEqual([...sets].sort());
    for (const [, members] of filled) expect(members).toEqual(['ones.v1.g1']);
    expect(warnings).toEqual([]);
  });

  it('of the webhooks are not checked for anything', () => {
    const blind = resource('g1', 'ones', { verbs: [] });
    const namesake = resource('g2', 'ones', { verbs: [] });
    const { webhook, warnings } = revised([blind, namesake], ({ on }) => {
      on.validate('ones', noop);
      on.validate('absents', noop);
    });
    expect(webhook).toEqual(['ones.v1.g1', 'ones.v1.g2']);
    expect(warnings).toEqual([]);
  });
});

describe('ambiguous resources', () => {
  const NAMESAKES = [resource('g1', 'ones'), resource('g2', 'ones')];

  it('are not served, and so the selector is left with nothing', () => {
    const { watched, warnings } = revised(NAMESAKES, ({ on }) => on.event('ones', noop));
    expect(watched).toEqual([]);
    expect(warnings).toEqual([
      "Ambiguous resources will not be served (try specifying API groups): Selector(anyName='ones') => " +
        '{ones.v1.g1, ones.v1.g2}',
      expect.stringMatching(
        /^Unresolved resources cannot be served \(try creating their CRDs\): Selector\(anyName='ones'\)\. Handler 'noop' \(.*revising\.test\.ts:\d+\) waits for it\.$/,
      ),
    ]);
  });

  it('are told of once, however many handlers there are', () => {
    const { warnings } = revised(NAMESAKES, ({ on }) => {
      on.event('ones', noop);
      on.create('ones', noop);
    });
    expect(warnings.filter((warning) => warning.startsWith('Ambiguous'))).toHaveLength(1);
  });

  it('do not exist if the group is given', () => {
    const { watched, warnings } = revised(NAMESAKES, ({ on }) => on.event('g2/ones', noop));
    expect(watched).toEqual(['ones.v1.g2']);
    expect(warnings).toEqual([]);
  });

  it('do not exist if one of them is of the core', () => {
    const pods = [resource('', 'pods'), resource('metrics.k8s.io', 'pods')];
    const { watched, warnings } = revised(pods, ({ on }) => on.event('pods', noop));
    expect(watched).toEqual(['pods.v1']);
    expect(warnings).toEqual([]);
  });

  it.each<[string, SelectorSpec]>([
    ['everything', EVERYTHING],
    ['a function', () => true],
    ['a category', { category: 'all' }],
  ])('do not exist if the selector is %s', (_title, selector) => {
    const categories = ['all'];
    const namesakes = [resource('', 'ones', { categories }), resource('g2', 'ones', { categories })];
    const { watched, warnings } = revised(namesakes, ({ on }) => on.event(selector, noop));
    expect(watched).toEqual(['ones.v1', 'ones.v1.g2']);
    expect(warnings).toEqual([]);
  });
});

describe('unresolved resources', () => {
  it('are told of in one warning for all of them', () => {
    const { watched, warnings } = revised([ONE], ({ on, index }) => {
      on.event('g1/ones', noop);
      on.create('g1/absents', noop);
      index({ category: 'none' }, noop);
    });
    expect(watched).toEqual(['ones.v1.g1']);
    expect(warnings).toEqual([
      expect.stringContaining(
        "Unresolved resources cannot be served (try creating their CRDs): Selector(category='none'), " +
          "Selector(group='g1', anyName='absents')",
      ),
    ]);
  });

  it('are told of with the handlers that wait for them, and with what to do', () => {
    const { warnings } = revised([ONE], ({ on, timer }) => {
      on.create('g1/absents', function make() {});
      timer('g1/absents', { interval: 1 }, function look() {});
    });
    expect(warnings[0]).toMatch(
      /Timer 'look' \(.*revising\.test\.ts:\d+\), Handler 'make' \(.*revising\.test\.ts:\d+\) wait for it\. Create the CRD.*kubectl apply -f crd\.yaml/,
    );
  });

  it.each(['onse', 'Ones', 'one', 'g1/ons'])('are told of with those that are probably meant: %s', (name) => {
    const { warnings } = revised([resource('g1', 'ones', { kind: 'Unus' })], ({ on }) => on.event(name, noop));
    expect(warnings[0]).toMatch(/waits for it\. Did you mean 'ones'\?$/);
  });
});

describe('non-watchable resources', () => {
  it.each([[[]], [['list', 'patch']], [['watch', 'patch']]])('are not served: with the verbs %j', (verbs) => {
    const { watched, warnings } = revised(
      [resource('group1', 'plural1', { version: 'version1', verbs }), ONE],
      ({ on }) => on.event(EVERYTHING, noop),
    );
    expect(watched).toEqual(['ones.v1.g1']);
    expect(warnings).toEqual(['Non-watchable resources will not be served: {plural1.version1.group1}']);
  });
});

describe('non-patchable resources', () => {
  const READ_ONLY = resource('g1', 'reads', { verbs: ['list', 'watch'] });
  const ANOTHER = resource('g1', 'others', { verbs: ['list', 'watch'] });

  it.each([
    ['change handlers', ({ on }: Registry) => on.update('g1/reads', noop)],
    ['daemons', ({ daemon }: Registry) => daemon('g1/reads', noop)],
    ['timers', ({ timer }: Registry) => timer('g1/reads', { interval: 1 }, noop)],
  ])('are not served if they have %s', (_title, declare) => {
    const { watched, warnings } = revised([READ_ONLY], declare);
    expect(watched).toEqual([]);
    expect(warnings).toEqual(['Non-patchable resources will not be served: {reads.v1.g1}']);
  });

  it.each([
    ['event handlers', ({ on }: Registry) => on.event('g1/reads', noop)],
    ['indices', ({ index }: Registry) => index('g1/reads', noop)],
  ])('are served if they only have %s', (_title, declare) => {
    const { watched, warnings } = revised([READ_ONLY], declare);
    expect(watched).toEqual(['reads.v1.g1']);
    expect(warnings).toEqual([]);
  });

  it('are those of the patching handlers only: others are served', () => {
    const { watched, warnings } = revised([READ_ONLY, ANOTHER, ONE], ({ on }) => {
      on.create('g1/reads', noop);
      on.create('g1/ones', noop);
      on.event('g1/others', noop);
    });
    expect(watched).toEqual(['ones.v1.g1', 'others.v1.g1']);
    expect(warnings).toEqual(['Non-patchable resources will not be served: {reads.v1.g1}']);
  });
});

describe('the order of the warnings', () => {
  it('is from the ambiguous to the non-patchable ones', () => {
    const { warnings } = revised(
      [
        resource('g1', 'ones'),
        resource('g2', 'ones'),
        resource('g1', 'blinds', { verbs: [] }),
        resource('g1', 'reads', { verbs: ['list', 'watch'] }),
      ],
      ({ on }) => {
        on.create('reads', noop);
        on.create('blinds', noop);
        on.create('ones', noop);
      },
    );
    expect(warnings.map((warning) => warning.split(' ')[0])).toEqual([
      'Ambiguous',
      'Unresolved',
      'Non-watchable',
      'Non-patchable',
    ]);
  });
});

describe('what is known after one more discovery', () => {
  const nothingFailed = { failed: [] };

  it('is what was found, if everything was asked for', () => {
    expect(mergeDiscovery([ONE], { resources: [TWO], ...nothingFailed }, undefined)).toEqual([TWO]);
  });

  it('is the same as before for the groups that were not asked for', () => {
    const other = resource('g2', 'others');
    const after = mergeDiscovery([ONE, other], { resources: [TWO], ...nothingFailed }, new Set(['g1']));
    expect(after).toEqual([other, TWO]);
  });

  it('is nothing of the groups that are empty now', () => {
    expect(mergeDiscovery([ONE, TWO], { resources: [], ...nothingFailed }, new Set(['g1']))).toEqual([]);
  });

  it('is the very same descriptions where nothing has changed', () => {
    const [found] = mergeDiscovery([ONE], { resources: [resource('g1', 'ones')], ...nothingFailed }, new Set(['g1']));
    expect(found).toBe(ONE);
  });

  it.each([
    ['the subresources', { subresources: ['status'] }],
    ['the shortcuts', { shortcuts: ['o'] }],
    ['the scope', { namespaced: false }],
    ['the verbs', { verbs: ['list'] }],
    ['the preference', { preferred: false }],
  ])('is a new description where %s have changed', (_title, extra) => {
    const changed = resource('g1', 'ones', extra);
    expect(mergeDiscovery([ONE], { resources: [changed], ...nothingFailed }, undefined)[0]).toBe(changed);
  });

  it('is what it was of a definition that is being deleted: its objects can still be patched', () => {
    const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
    const before = resource('g1', 'ones', { verbs });
    const terminating = resource('g1', 'ones', { verbs: ['delete', 'deletecollection', 'get', 'list', 'watch'] });
    const discovery = { resources: [terminating], ...nothingFailed };
    expect(mergeDiscovery([before], discovery, undefined)[0]).toBe(before);
    expect(mergeDiscovery([], discovery, undefined)[0]?.verbs).toEqual(new Set(verbs));
  });

  it('is what was known before of the groups that do not answer, besides what they still tell', () => {
    const after = mergeDiscovery([ONE, TWO], { resources: [resource('g1', 'twos')], failed: ['g1'] }, undefined);
    expect(after).toEqual([ONE, TWO]);
    expect(after[1]).toBe(TWO);
  });
});

describe('resources that are not as a token says', () => {
  const inNamespaces = token({ group: 'g1', version: 'v1', plural: 'ones', namespaced: true });
  const ofTheCluster = token({ group: 'g1', version: 'v1', plural: 'ones', namespaced: false });

  it.each<[string, (registry: Registry) => unknown]>([
    ['a change', ({ on }) => on.create(ofTheCluster, noop)],
    ['an event', ({ on }) => on.event(ofTheCluster, noop)],
    ['a daemon', ({ daemon }) => daemon(ofTheCluster, noop)],
    ['an index', ({ index }) => index(ofTheCluster, noop)],
    ['admission', ({ on }) => on.validate(ofTheCluster, noop)],
  ])('are not served, and the mistake is told: %s', (_title, declare) => {
    const found = revised([ONE, TWO], (registry) => {
      declare(registry);
      registry.on.event('g1/twos', noop);
    });
    expect(found).toEqual({
      watched: ['twos.v1.g1'],
      indexed: [],
      webhook: [],
      warnings: [
        'The token of ones.v1.g1 says that these objects are of the whole cluster, but in this cluster they are in ' +
          'namespaces: write `namespaced: true` in it, or define the resource as the token says. ' +
          'Until then, they are not served.',
      ],
    });
  });

  it('are told of once, also beside handlers that say nothing', () => {
    const cluster = [resource('g1', 'ones', { namespaced: false })];
    const { watched, warnings } = revised(cluster, ({ on }) => {
      on.event('g1/v1/ones', noop);
      on.create(inNamespaces, noop);
      on.delete(inNamespaces, noop);
    });
    expect(watched).toEqual([]);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^The token of ones.v1.g1 .* in namespaces, but .* of the whole cluster: .*namespaced: false/,
      ),
    ]);
  });

  it('do not exist if the cluster agrees, or does not say', () => {
    const { watched, warnings } = revised([ONE], ({ on }) => on.create(inNamespaces, noop));
    expect({ watched, warnings }).toEqual({ watched: ['ones.v1.g1'], warnings: [] });
    const unknown = makeResource({ group: 'g1', version: 'v1', plural: 'ones', verbs: ALL_VERBS });
    expect(revised([unknown], ({ on }) => on.create(ofTheCluster, noop)).warnings).toEqual([]);
  });
});
