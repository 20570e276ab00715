import { describe, expect, it } from 'vitest';
import { operated } from '../support/operated.js';

function latch(): { readonly whenOpen: Promise<void>; open(): void } {
  let open = () => {};
  const whenOpen = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { whenOpen, open: () => open() };
}

describe('A daemon that takes its time to exit', () => {
  it('releases its object as soon as it has ended, without waiting for the next check', async () => {
    await using operator = await operated();
    const exit = latch();
    operator.registry.daemon('kopfexamples', { id: 'd1' }, async ({ stopped }) => {
      await new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve()));
      await exit.whenOpen;
    });
    await operator.start();
    await operator.create('name1');
    await operator.remove('name1');
    await operator.advance(1);
    expect(operator.logger.find('still exiting')).toBeDefined();
    expect(operator.cluster.get('kopfexamples/default/name1')).toBeDefined();

    exit.open();
    await operator.settle();
    expect(operator.cluster.get('kopfexamples/default/name1')).toBeUndefined();
  });

  it('is started anew as soon as it has ended, if it is wanted again', async () => {
    await using operator = await operated();
    const exit = latch();
    let starts = 0;
    operator.registry.daemon('kopfexamples', { id: 'd1', labels: { guarded: 'yes' } }, async ({ stopped }) => {
      starts += 1;
      await new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve()));
      await exit.whenOpen;
    });
    await operator.start();
    await operator.create('name1', { metadata: { labels: { guarded: 'yes' } }, spec: {} });
    await operator.edit('name1', { metadata: { labels: { guarded: null } } });
    await operator.edit('name1', { metadata: { labels: { guarded: 'yes' } } });
    await operator.advance(1);
    expect(starts).toBe(1);

    exit.open();
    await operator.settle();
    expect(starts).toBe(2);
  });
});
