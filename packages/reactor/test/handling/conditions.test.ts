import { type AnyObject, type Change, conditions } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { applier } from '../../src/sending/apply.js';
import { operated } from '../support/operated.js';

const conditionsOf = ({ status }: AnyObject): unknown => status?.conditions;
const FOREIGN = { type: 'Foreign', status: 'True', lastTransitionTime: '2018-01-01T00:00:00Z' };

describe.each([true, false])('Conditions (with a status of its own: %s)', (status) => {
  it('are written by change handlers when they change, at the time of the operator', async () => {
    await using operator = await operated({ status, start: '2021-01-01T00:00:00Z' });
    const set = ({ patch, body, spec }: Change) => {
      conditions(patch, body).set('Ready', spec['size'] > 0, { reason: 'Sized' });
    };
    operator.registry.on.create('kopfexamples', { id: 'c' }, set);
    operator.registry.on.update('kopfexamples', { id: 'u' }, set);
    await operator.start();
    await operator.create('one', { spec: { size: 1 } });
    const first = {
      type: 'Ready',
      status: 'True',
      reason: 'Sized',
      message: '',
      lastTransitionTime: '2021-01-01T00:00:00Z',
    };
    expect(conditionsOf(await operator.get('one'))).toMatchObject([first]);
    await operator.advance(60);
    await operator.edit('one', { spec: { size: 2 } });
    expect(conditionsOf(await operator.get('one'))).toMatchObject([first]);
    await operator.edit('one', { spec: { size: 0 } });
    const second = { ...first, status: 'False', lastTransitionTime: '2021-01-01T00:01:00Z' };
    expect(conditionsOf(await operator.get('one'))).toMatchObject([second]);
    expect(operator.logger.messages('warn')).toEqual([]);
  });

  it('are written by timers and handlers of events only when they change', async () => {
    await using operator = await operated({ status, start: '2021-01-01T00:00:00Z' });
    operator.registry.timer('kopfexamples', { id: 't', interval: 10 }, ({ patch, body }) => {
      conditions(patch, body).set('Alive', true, { observedGeneration: null });
    });
    operator.registry.on.event('kopfexamples', { id: 'e' }, ({ patch, body }) => {
      conditions(patch, body).set('Seen', true, { observedGeneration: null });
    });
    await operator.start();
    await operator.create('one');
    operator.patches.length = 0;
    await operator.edit('one', { spec: { size: 2 } });
    await operator.advance(100);
    const lastTransitionTime = '2021-01-01T00:00:00Z';
    expect(conditionsOf(await operator.get('one'))).toEqual(
      expect.arrayContaining([
        { type: 'Alive', status: 'True', reason: 'Alive', message: '', lastTransitionTime },
        { type: 'Seen', status: 'True', reason: 'Seen', message: '', lastTransitionTime },
      ]),
    );
    expect(operator.patches).toEqual([]);
  });

  it('of others are not lost, though they came while the handler was at work', async () => {
    await using operator = await operated({ status });
    operator.registry.on.create('kopfexamples', { id: 'c' }, async ({ patch, body }) => {
      await operator.clock.sleep(10);
      conditions(patch, body).set('Ready', true);
    });
    await operator.start();
    await operator.create('one');
    await operator.cluster.client.request({
      method: 'PATCH',
      path: `/apis/kopf.dev/v1/namespaces/default/kopfexamples/one${status ? '/status' : ''}`,
      contentType: 'application/merge-patch+json',
      body: { status: { conditions: [FOREIGN] } },
    });
    await operator.advance(10);
    expect(conditionsOf(await operator.get('one'))).toMatchObject([FOREIGN, { type: 'Ready', status: 'True' }]);
  });
});

it('Conditions that the schema of the kind does not permit are not sent, and that is told once', async () => {
  const prunes = (_resource: unknown, key: string) => key === 'conditions';
  await using operator = await operated({ applier: (options) => applier({ ...options, statusSchemas: { prunes } }) });
  operator.registry.on.create('kopfexamples', { id: 'c' }, ({ patch, body }) => {
    conditions(patch, body).set('Ready', true);
    patch.status['phase'] = 'kept';
  });
  await operator.start();
  await operator.create('one');
  await operator.create('two');
  expect((await operator.get('two')).status).toEqual({ phase: 'kept' });
  expect(operator.logger.messages('warn')).toEqual([
    expect.stringMatching(/^Results in status\.conditions of kopfexamples\.v1\.kopf\.dev are not stored: the schema/),
  ]);
});
