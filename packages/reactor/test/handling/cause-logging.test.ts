import { TemporaryError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { type Operated, operated } from '../support/operated.js';

const LAST_HANDLED = 'kopf.zalando.org/last-handled-configuration';

/** The beginnings of what was logged, without what is inside of the objects. */
const logged = ({ logger }: Operated) => logger.messages().map((line) => line.replace(/(: |\s)[{[].*$/su, '$1…'));

describe('A cycle of', () => {
  it('a creation is told in order, and sent as one patch', async () => {
    await using operator = await operated();
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => {});
    await operator.start();
    operator.logger.clear();
    await operator.create('name1');
    expect(logged(operator)).toEqual([
      'Creation is in progress: …',
      "Handler 'c' is invoked.",
      "Handler 'c' succeeded.",
      'Creation is processed: 1 succeeded; 0 failed.',
      'Merge-patching the resource with: …',
      'Something has changed, but we are not interested (the essence is the same).',
      'Handling cycle is finished, waiting for new changes.',
    ]);
    expect(operator.patches).toHaveLength(1);
    expect(operator.patches[0]?.body.metadata.annotations[LAST_HANDLED]).toBe('{"spec":{"field":"v"}}\n');
  });

  it('an update is told in order with what has changed, and sent as one patch', async () => {
    await using operator = await operated();
    operator.registry.on.update('kopfexamples', { id: 'u' }, () => {});
    await operator.start();
    await operator.create('name1');
    operator.logger.clear();
    operator.patches.length = 0;
    await operator.edit('name1', { spec: { field: 'w' } });
    expect(logged(operator).slice(0, 6)).toEqual([
      'Updating is in progress: …',
      'Updating diff: …',
      "Handler 'u' is invoked.",
      "Handler 'u' succeeded.",
      'Updating is processed: 1 succeeded; 0 failed.',
      'Merge-patching the resource with: …',
    ]);
    const diff = operator.logger.find('Updating diff:')?.message;
    expect(diff).toBe('Updating diff: [["change",["spec","field"],"v","w"]]');
    expect(operator.patches).toHaveLength(1);
  });

  it('a resuming has no diff to tell of', async () => {
    await using operator = await operated();
    const annotations = { [LAST_HANDLED]: '{"spec":{"field":"v"}}\n' };
    await operator.create('name1', { metadata: { annotations }, spec: { field: 'v' } });
    operator.registry.on.resume('kopfexamples', { id: 'r' }, () => {});
    await operator.start();
    expect(logged(operator)).toContain('Resuming is in progress: …');
    expect(logged(operator)).toContain('Resuming is processed: 1 succeeded; 0 failed.');
    expect(operator.logger.find('diff:')).toBeUndefined();
    expect(operator.patches).toEqual([]);
  });

  it('a cause that has no handlers is only remembered', async () => {
    await using operator = await operated();
    operator.registry.on.update('kopfexamples', { id: 'u' }, () => {});
    await operator.start();
    operator.logger.clear();
    await operator.create('name1');
    expect(logged(operator)).toContain('Creation is in progress: …');
    expect(operator.logger.find('is processed')).toBeUndefined();
    expect(operator.patches.map(({ body }) => Object.keys(body.metadata.annotations))).toEqual([[LAST_HANDLED]]);
  });

  it.each([
    ['labels', { labels: { some: 'label' } }],
    ['annotations', { annotations: { some: 'annotation' } }],
    ['a callback', { when: () => false }],
  ])('an object that no handler wants by %s is not even mentioned', async (_what, filter) => {
    await using operator = await operated();
    const { on } = operator.registry;
    on.create('kopfexamples', { id: 'c', ...filter }, () => {});
    on.update('kopfexamples', { id: 'u', ...filter }, () => {});
    on.resume('kopfexamples', { id: 'r', ...filter }, () => {});
    on.delete('kopfexamples', { id: 'd', ...filter }, () => {});
    on.delete('kopfexamples', { id: 'optional', optional: true, ...filter }, () => {});
    on.resume('kopfexamples', { id: 'deleted', deleted: true, ...filter }, () => {});
    await operator.create('listed', { metadata: { finalizers: ['others/one'] } });
    await operator.start();
    await operator.create('added');
    await operator.edit('listed', { spec: { field: 'w' } });
    await operator.remove('listed');
    expect(operator.patches).toEqual([]);
    expect(operator.logger.lines.filter(({ fields }) => fields['object'] !== undefined)).toEqual([]);
  });

  it('an object whose essence is the same is not patched', async () => {
    await using operator = await operated();
    operator.registry.on.update('kopfexamples', { id: 'u' }, () => {});
    await operator.start();
    await operator.create('name1');
    operator.patches.length = 0;
    operator.logger.clear();
    await operator.edit('name1', { status: { by: 'others' } });
    expect(operator.logger.messages()).toEqual([
      'Something has changed, but we are not interested (the essence is the same).',
      'Handling cycle is finished, waiting for new changes.',
    ]);
    expect(operator.patches).toEqual([]);
    expect(operator.events).toEqual([]);
  });
});

it('All lines of an object say of which object they are', async () => {
  await using operator = await operated();
  operator.registry.on.create('kopfexamples', { id: 'c' }, ({ logger }) => logger.info('hello'));
  operator.registry.on.event('kopfexamples', { id: 'e' }, ({ logger }) => logger.info('event'));
  await operator.start();
  operator.logger.clear();
  const { metadata } = await operator.create('name1');
  expect(operator.logger.lines.length).toBeGreaterThan(5);
  for (const { fields } of operator.logger.lines) {
    expect(fields).toMatchObject({ object: { name: 'name1', namespace: 'default', uid: metadata?.uid } });
  }
});

describe('Superseding', () => {
  const reasons = ['create', 'update', 'resume', 'delete'] as const;
  const titles = { create: 'Creation', update: 'Updating', resume: 'Resuming', delete: 'Deletion' };
  const pairs = reasons.flatMap((one) =>
    reasons.filter((other) => other !== one).map((other) => [one, other] as const),
  );

  it.each(pairs)('of %s by %s is told', async (stored, current) => {
    await using operator = await operated();
    const { on } = operator.registry;
    const fn = () => {
      throw new TemporaryError('not yet', { delay: 1000 });
    };
    on.create('kopfexamples', { id: 'fn' }, fn);
    on.update('kopfexamples', { id: 'fn' }, fn);
    on.resume('kopfexamples', { id: 'fn' }, fn);
    on.delete('kopfexamples', { id: 'fn' }, fn);
    const essence = current === 'update' ? { spec: { field: 'other' } } : { spec: { field: 'v' } };
    const started = '2019-12-31T23:59:59.000000+00:00';
    const record = { started, purpose: stored, retries: 1, success: false, failure: false };
    const annotations = {
      'kopf.zalando.org/fn': JSON.stringify(record),
      ...(current === 'create' ? {} : { [LAST_HANDLED]: `${JSON.stringify(essence)}\n` }),
    };
    const finalizers = ['kopf.zalando.org/KopfFinalizerMarker'];
    await operator.create('name1', { metadata: { annotations, finalizers }, spec: { field: 'v' } });
    if (current === 'delete') await operator.remove('name1');
    await operator.start();
    expect(operator.logger.messages('info')).toContain(
      `${titles[stored]} is superseded by ${titles[current].toLowerCase()}: 0 succeeded; 0 failed; 1 left to the moment.`,
    );
    const kept = (await operator.get('name1')).metadata?.annotations?.['kopf.zalando.org/fn'] ?? '{}';
    expect(JSON.parse(kept)).toMatchObject({ purpose: current, retries: 2, started });
  });
});
