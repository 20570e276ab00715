import { describe, expect, it } from 'vitest';
import { operated } from '../support/operated.js';

describe('An object that is being deleted', () => {
  it('is released once, and its handlers are called once, whatever others do to it meanwhile', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.delete('kopfexamples', { id: 'd1' }, async ({ name }) => {
      calls.push(`d1 ${calls.length}`);
      // The version changes, so that the finalizer cannot be removed from the one that is known.
      if (calls.length === 1) await operator.edit(name, { metadata: { labels: { changed: 'yes' } } });
    });
    await operator.start();
    await operator.create('name1');
    await operator.remove('name1');
    await operator.advance(1000);
    expect(calls).toEqual(['d1 0']);
    const releases = operator.patches.filter(({ body }) => JSON.stringify(body).includes('"remove"'));
    expect(releases).toHaveLength(2);
  });
});
