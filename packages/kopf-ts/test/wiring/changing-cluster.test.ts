import type { Peering } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { newPlace, startOperator, stopOperator } from './wired.js';

describe('an operator', () => {
  it('serves and indexes a kind that comes later, and forgets one that goes', async () => {
    const place = await newPlace();
    const calls: unknown[] = [];
    const started = await startOperator(
      place,
      ({ on, index }) => {
        index('latecomers', { id: 'names' }, ({ name }) => ({ [String(name)]: true }));
        for (const kind of ['latecomers', 'kopfexamples']) {
          // biome-ignore lint/suspicious/noExplicitAny: indices come under their own names
          on.create(kind, { id: `of-${kind}` }, ({ name, names }: any) => {
            calls.push([name, [...names.keys()]]);
          });
        }
      },
      { namespaces: ['default'] },
    );
    await place.create('one');
    expect(calls.splice(0)).toEqual([['one', []]]);
    expect(started.logger.messages('warn')).toEqual([expect.stringMatching(/^Unresolved resources .*latecomers/)]);

    await place.cluster.define({ group: 'later.dev', plural: 'latecomers', kind: 'Latecomer' });
    await place.settle();
    await place.clock.advance(5);
    const metadata = { name: 'late', namespace: 'default' };
    await place.cluster.create({ apiVersion: 'later.dev/v1', kind: 'Latecomer', metadata });
    await place.settle();
    await place.create('two');
    expect(calls.splice(0)).toEqual([
      ['late', ['late']],
      ['two', ['late']],
    ]);

    await place.cluster.delete('customresourcedefinitions/latecomers.later.dev');
    await place.settle();
    await place.clock.advance(100);
    await place.create('three');
    expect(calls).toEqual([['three', []]]);
    expect(started.logger.messages('error')).toEqual([]);
  });

  it('stops its daemons in a pause, and afterwards catches up with what has come and gone', async () => {
    const place = await newPlace();
    const calls: unknown[] = [];
    let pause = (_isOn: boolean): void => {};
    const peering: Peering = {
      async join({ paused, signal }) {
        pause = (isOn) => paused.turn(isOn);
        pause(false);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    };
    const started = await startOperator(
      place,
      ({ daemon, on }) => {
        on.event('kopfexamples', function seen({ type, name }) {
          if (type === 'DELETED') calls.push(`${name} is gone`);
        });
        daemon('kopfexamples', async function endless({ stopped, name }) {
          calls.push(`${name} begins`);
          await new Promise((resolve) => stopped.addEventListener('abort', resolve));
          calls.push(`${name} ends: ${[...stopped.reason.reasons]}`);
        });
      },
      { peering },
    );
    await place.create('one');
    expect(calls.splice(0)).toEqual(['one begins']);

    pause(true);
    await place.settle();
    expect(calls.splice(0)).toEqual(['one ends: operator-pausing']);
    place.requests.length = 0;
    await place.create('two');
    await place.cluster.delete('kopfexamples/default/one');
    await place.clock.advance(10);
    expect(calls).toEqual([]);
    expect(place.requests.filter((request) => request.includes('kopfexamples'))).toEqual([]);

    pause(false);
    await place.settle();
    expect(calls.splice(0)).toEqual(['two begins', 'one is gone']);
    expect(place.cluster.list('kopfexamples')).toHaveLength(1);

    await stopOperator(place, started);
    expect(calls).toEqual(['two ends: operator-exiting']);
  });
});
