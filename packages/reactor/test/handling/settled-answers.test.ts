/** The answer to our own patch is not handled where it holds nothing new; and it is handled where it does. */
import { describe, expect, it } from 'vitest';
import { type Operated, operated } from '../support/operated.js';

const finalizersOf = async (operator: Operated) => (await operator.get('one')).metadata?.finalizers ?? [];

describe('The answer to our own patch', () => {
  it('is not looked at again, if all is done', async () => {
    await using operator = await operated();
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => 'created');
    operator.registry.on.delete('kopfexamples', { id: 'd' }, () => {});
    await operator.start();
    await operator.create('one');
    await operator.settle();
    const { length } = operator.patches;
    await operator.advance(100);
    expect(operator.patches).toHaveLength(length);
    expect(operator.logger.messages().at(-1)).toBe('Handling cycle is finished, waiting for new changes.');
  });

  it.each([
    ['labels', { labels: { n: (_value: unknown, { status }: Kwargs) => status['bucket'] !== undefined } }],
    ['annotations', { annotations: { n: (_value: unknown, { status }: Kwargs) => status['bucket'] !== undefined } }],
    ['a field', { field: 'spec.x', value: (_value: unknown, { status }: Kwargs) => status['bucket'] !== undefined }],
    ['a callback', { when: ({ status }: Kwargs) => status['bucket'] !== undefined }],
  ])('puts the finalizer on, if %s of a deletion handler wants it because of that patch', async (_title, filters) => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, ({ patch }) => {
      patch.status['bucket'] = 'b1';
    });
    operator.registry.on.delete('kopfexamples', { id: 'd', ...(filters as object) }, () => void calls.push('d'));
    await operator.start();
    await operator.create('one', { metadata: { labels: { n: 'x' }, annotations: { n: 'x' } }, spec: { x: 1 } });
    await operator.settle();
    expect(await finalizersOf(operator)).toHaveLength(1);
    await operator.remove('one');
    await operator.settle();
    expect(calls).toEqual(['d']);
  });

  it('takes the finalizer off, if the deletion handler does not want the object any more', async () => {
    await using operator = await operated();
    operator.registry.on.update('kopfexamples', { id: 'u' }, () => {});
    operator.registry.on.delete('kopfexamples', { id: 'd', field: 'spec.mode', value: 'protected' }, () => {});
    await operator.start();
    await operator.create('one', { spec: { mode: 'protected' } });
    await operator.settle();
    expect(await finalizersOf(operator)).toHaveLength(1);
    await operator.edit('one', { spec: { mode: 'open' } });
    await operator.settle();
    expect(await finalizersOf(operator)).toEqual([]);
  });

  it.each([[[]], [null], [['of.others/finalizer']]])(
    'puts the finalizer back, if a handler has replaced the finalizers by %j',
    async (finalizers) => {
      await using operator = await operated();
      const calls: string[] = [];
      operator.registry.on.update('kopfexamples', { id: 'u' }, ({ patch }) => {
        patch.metadata['finalizers'] = finalizers;
      });
      operator.registry.on.delete('kopfexamples', { id: 'd' }, () => void calls.push('d'));
      await operator.start();
      await operator.create('one', { spec: { x: 1 } });
      await operator.settle();
      await operator.edit('one', { spec: { x: 2 } });
      await operator.settle();
      expect(await finalizersOf(operator)).toHaveLength((finalizers?.length ?? 0) + 1);
      const { length } = operator.patches;
      await operator.advance(100);
      expect(operator.patches).toHaveLength(length);
      await operator.remove('one');
      await operator.settle();
      expect(calls).toEqual(['d']);
    },
  );

  it('is looked at again by field handlers, if they watch the status', async () => {
    await using operator = await operated();
    const seen: unknown[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, ({ patch }) => {
      patch.status['phase'] = 'ready';
    });
    operator.registry.on.field('kopfexamples', { id: 'f', field: 'status.phase' }, ({ new: phase }) => {
      seen.push(phase);
    });
    await operator.start();
    await operator.create('one');
    await operator.settle();
    expect(seen).toEqual(['ready']);
  });
});

interface Kwargs {
  readonly status: Readonly<Record<string, unknown>>;
}
