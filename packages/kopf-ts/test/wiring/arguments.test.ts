import { settings as makeSettings, type Settings } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import type { OperatorOptions } from '../../src/options.js';
import { newPlace, startOperator, stopOperator } from './wired.js';

const PEERINGS = { group: 'kopf.dev', plural: 'clusterkopfpeerings', kind: 'ClusterKopfPeering', namespaced: false };
const PEERING = { apiVersion: 'kopf.dev/v1', kind: 'ClusterKopfPeering', metadata: { name: 'default' } };

describe('the arguments of an operator', () => {
  const cases: [OperatorOptions, Partial<Settings['peering']>][] = [
    [{ clusterwide: true }, { clusterwide: true, namespaced: false, mandatory: false, name: 'default', priority: 0 }],
    [{ clusterwide: undefined }, { clusterwide: true, namespaced: false }],
    [{ clusterwide: undefined, namespaces: [] }, { clusterwide: true }],
    [{ namespaces: ['default'] }, { clusterwide: false, namespaced: true }],
    [{ peeringName: 'special' }, { name: 'special', mandatory: true, standalone: false }],
    [{ priority: 123 }, { priority: 123, mandatory: false, name: 'default' }],
    [{ priority: 0 }, { priority: 0 }],
    [{ standalone: true }, { standalone: true, mandatory: false }],
  ];
  it.each(cases)('%j are in the settings before the startup: %j', async (options, expected) => {
    const place = await newPlace();
    let seen: unknown;
    await startOperator(
      place,
      ({ on }) => {
        on.startup(function look({ settings }) {
          seen = { ...settings.peering };
        });
      },
      options,
    );
    expect(seen).toMatchObject(expected);
  });

  it('win over the given settings, and those that are not given do not', async () => {
    const place = await newPlace();
    const settings = makeSettings({ peering: { priority: 5, standalone: true, name: 'other', clusterwide: false } });
    await startOperator(place, () => {}, { settings, priority: 6 });
    expect(settings.peering).toMatchObject({ priority: 6, standalone: true, name: 'other', mandatory: false });
    expect(settings.peering.clusterwide).toBe(true);
  });

  it('cannot be both for the whole cluster and for some namespaces; then nothing begins', async () => {
    const place = await newPlace();
    const options = { clusterwide: true, namespaces: ['default'] };
    await expect(startOperator(place, () => {}, options)).rejects.toThrow(/both cluster-wide and restricted/);
    await place.settle();
    expect(place.requests).toEqual([]);
    expect(place.clock.sleepers).toBe(0);
  });

  it('of the scope are not given: the whole cluster is served, with a warning', async () => {
    const place = await newPlace();
    const calls: unknown[] = [];
    const started = await startOperator(
      place,
      ({ on }) => {
        on.create('kopfexamples', function created({ name }) {
          calls.push(name);
        });
      },
      { clusterwide: undefined },
    );
    expect(started.logger.messages('warn')).toEqual([expect.stringContaining('the whole cluster is served')]);
    await place.create('one');
    expect(calls).toEqual(['one']);
  });

  it('restrict it to the namespaces', async () => {
    const place = await newPlace();
    const calls: unknown[] = [];
    await startOperator(
      place,
      ({ on }) => {
        on.create('kopfexamples', function created({ namespace, name }) {
          calls.push(`${namespace}/${name}`);
        });
      },
      { namespaces: ['def*'] },
    );
    const metadata = { name: 'elsewhere', namespace: 'kube-public' };
    await place.cluster.create({ apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata });
    await place.create('one');
    expect(calls).toEqual(['default/one']);
  });
});

describe('startup handlers have the last word on the arguments:', () => {
  it.each([
    [true, false],
    [false, true],
  ])('of standalone=%j if set to %j', async (argument, decided) => {
    const place = await newPlace();
    await place.cluster.define(PEERINGS);
    await place.cluster.create(PEERING);
    await startOperator(
      place,
      ({ on }) => {
        on.startup(function decide({ settings }) {
          settings.peering.standalone = decided;
        });
        on.create('kopfexamples', function created() {});
      },
      { standalone: argument },
    );
    const { status } = place.cluster.get('clusterkopfpeerings/default') as { status?: object };
    expect(Object.keys(status ?? {})).toEqual(decided ? [] : ['me']);
  });

  it('of the name, the priority, and whether the peering must be there', async () => {
    const place = await newPlace();
    await place.cluster.define(PEERINGS);
    await place.cluster.create(PEERING);
    const calls: unknown[] = [];
    await startOperator(
      place,
      ({ on }) => {
        on.startup(function decide({ settings }) {
          Object.assign(settings.peering, { name: 'default', priority: 7, mandatory: false });
        });
        on.create('kopfexamples', function created({ name }) {
          calls.push(name);
        });
      },
      { peeringName: 'absent', priority: 1 },
    );
    await place.create('one');
    expect(place.cluster.get('clusterkopfpeerings/default')).toMatchObject({ status: { me: { priority: 7 } } });
    expect(calls).toEqual(['one']);
  });
});

describe('an operator with the name of a peering', () => {
  it('that is paused because of one namespace, goes on when that one is gone', async () => {
    const place = await newPlace();
    const { cluster } = place;
    await cluster.define({ group: 'kopf.dev', plural: 'kopfpeerings', kind: 'KopfPeering' });
    for (const name of ['ns-a', 'ns-b'])
      await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const inB = { name: 'default', namespace: 'ns-b' };
    await cluster.create({ apiVersion: 'kopf.dev/v1', kind: 'KopfPeering', metadata: inB });
    const calls: unknown[] = [];
    await startOperator(
      place,
      ({ on }) => {
        on.create('kopfexamples', function created({ name }) {
          calls.push(name);
        });
      },
      { namespaces: ['ns-*'], peeringName: 'default' },
    );
    await cluster.create({ apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata: { ...inB, name: 'one' } });
    await place.settle();
    await place.clock.advance(10);
    expect(calls).toEqual([]);

    await cluster.delete('namespaces/ns-a');
    await place.settle();
    await place.clock.advance(10);
    await place.settle();
    expect(calls).toEqual(['one']);
  });

  it('does nothing until the kind of peerings is defined, even if its own handlers are of another group', async () => {
    const place = await newPlace();
    const calls: unknown[] = [];
    await startOperator(
      place,
      ({ on }) => {
        on.create({ group: '', version: 'v1', plural: 'configmaps' }, function created({ name }) {
          calls.push(name);
        });
      },
      { peeringName: 'default' },
    );
    const metadata = { name: 'one', namespace: 'default' };
    await place.cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    await place.clock.advance(10);
    expect(calls).toEqual([]);

    await place.cluster.define(PEERINGS);
    await place.cluster.create(PEERING);
    await place.settle();
    await place.clock.advance(10);
    await place.settle();
    expect(calls).toEqual(['one']);
    expect(place.cluster.get('clusterkopfpeerings/default')).toMatchObject({ status: { me: {} } });
  });

  it('does nothing until there is such a peering, and leaves it in the end', async () => {
    const place = await newPlace();
    await place.cluster.define(PEERINGS);
    const calls: unknown[] = [];
    const started = await startOperator(
      place,
      ({ on }) => {
        on.create('kopfexamples', function created({ name }) {
          calls.push(name);
        });
      },
      { peeringName: 'default' },
    );
    await place.create('one');
    await place.clock.advance(1);
    await place.settle();
    expect(calls).toEqual([]);

    await place.cluster.create(PEERING);
    await place.settle();
    await place.clock.advance(1);
    await place.settle();
    expect(calls).toEqual(['one']);
    const status = () => (place.cluster.get('clusterkopfpeerings/default') as { status?: object }).status ?? {};
    expect(Object.keys(status())).toEqual(['me']);

    await stopOperator(place, started);
    expect(Object.keys(status())).toEqual([]);
  });
});
