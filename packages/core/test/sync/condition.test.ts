import { describe, expect, it } from 'vitest';
import { condition } from '../../src/sync/condition.js';

describe('a condition', () => {
  it('does not wait for what already holds', async () => {
    const changed = condition();
    await changed.until(() => true);
    expect(changed.isAwaited).toBe(false);
  });

  it('releases only those whose predicates hold, in the order of their coming', async () => {
    const changed = condition();
    const released: string[] = [];
    let level = 0;
    const wait = (name: string, above: number) => changed.until(() => level > above).then(() => released.push(name));
    const all = [wait('a1', 0), wait('b', 1), wait('a2', 0)];
    changed.notify();
    await Promise.resolve();
    expect(released).toEqual([]);
    level = 1;
    changed.notify();
    await Promise.all([all[0], all[2]]);
    expect(released).toEqual(['a1', 'a2']);
    level = 2;
    changed.notify();
    await Promise.all(all);
    expect(released).toEqual(['a1', 'a2', 'b']);
    expect(changed.isAwaited).toBe(false);
  });

  it('forgets those whose signal aborts', async () => {
    const changed = condition();
    const controller = new AbortController();
    const waiting = changed.until(() => false, controller.signal);
    expect(changed.isAwaited).toBe(true);
    controller.abort(new Error('stop'));
    await expect(waiting).rejects.toThrow('stop');
    expect(changed.isAwaited).toBe(false);
  });
});
