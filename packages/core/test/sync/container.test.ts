import { describe, expect, it } from 'vitest';
import { container } from '../../src/sync/container.js';

describe('a container', () => {
  it('is empty until a value is put in', async () => {
    const box = container<string>();
    expect(box).toMatchObject({ value: undefined, revision: 0 });
    const waiting = box.get();
    box.put('a');
    await expect(waiting).resolves.toBe('a');
    expect(box).toMatchObject({ value: 'a', revision: 1 });
  });

  it('gives what it has at once', async () => {
    await expect(container(123).get()).resolves.toBe(123);
    await expect(container<undefined>(undefined).get()).resolves.toBe(undefined);
  });

  it('stops waiting when aborted', async () => {
    const controller = new AbortController();
    const waiting = container().get(controller.signal);
    controller.abort(new Error('stop'));
    await expect(waiting).rejects.toThrow('stop');
  });

  it('gives each next value to those who iterate, and only the newest to those who are late', async () => {
    const box = container('a');
    const values = box.values();
    expect((await values.next()).value).toBe('a');
    box.put('b');
    box.put('c');
    expect((await values.next()).value).toBe('c');
    const next = values.next();
    box.put('c');
    expect((await next).value).toBe('c');
  });

  it('ends the iteration when aborted', async () => {
    const box = container('a');
    const controller = new AbortController();
    const values = box.values(controller.signal);
    expect((await values.next()).value).toBe('a');
    const next = values.next();
    controller.abort();
    box.put('b');
    expect(await next).toEqual({ done: true, value: undefined });
  });
});
