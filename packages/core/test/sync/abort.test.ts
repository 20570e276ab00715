import { describe, expect, it } from 'vitest';
import { abortable, aborted, anySignal, childController, isCancellation, onAbort } from '../../src/sync/abort.js';

/** The number of listeners that the signal itself has, as Node counts them. */
function spied(): { controller: AbortController; count: () => number } {
  const controller = new AbortController();
  let count = 0;
  const { signal } = controller;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    count += 1;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    count -= 1;
    remove(...args);
  };
  return { controller, count: () => count };
}

describe('waiting for an abort', () => {
  it('calls everyone who waits, in their order, with the reason', () => {
    const controller = new AbortController();
    const calls: unknown[] = [];
    onAbort(controller.signal, (reason) => calls.push(['first', reason]));
    onAbort(controller.signal, (reason) => calls.push(['second', reason]));
    controller.abort('why');
    expect(calls).toEqual([
      ['first', 'why'],
      ['second', 'why'],
    ]);
  });

  it('calls at once if the signal has aborted before', () => {
    const calls: unknown[] = [];
    onAbort(AbortSignal.abort('before'), (reason) => calls.push(reason));
    expect(calls).toEqual(['before']);
  });

  it('does not call those who have stopped waiting', () => {
    const controller = new AbortController();
    const calls: unknown[] = [];
    const same = () => calls.push('same');
    const forget = onAbort(controller.signal, same);
    onAbort(controller.signal, same);
    forget();
    forget();
    controller.abort();
    expect(calls).toEqual(['same']);
  });

  it('lets those who are called stop the others from being called', () => {
    const controller = new AbortController();
    const calls: string[] = [];
    onAbort(controller.signal, () => forgetSecond());
    const forgetSecond = onAbort(controller.signal, () => calls.push('second'));
    controller.abort();
    expect(calls).toEqual([]);
  });

  it('takes one listener of the signal for any number of those who wait, and none when they are done', () => {
    const { controller, count } = spied();
    const forgets = Array.from({ length: 50 }, () => onAbort(controller.signal, () => {}));
    expect(count()).toBe(1);
    for (const forget of forgets) forget();
    expect(count()).toBe(0);
    onAbort(controller.signal, () => {});
    expect(count()).toBe(1);
  });
});

describe('a promise of an abort', () => {
  it('rejects with the reason', async () => {
    const controller = new AbortController();
    const promise = aborted(controller.signal);
    controller.abort(new Error('stop'));
    await expect(promise).rejects.toThrow('stop');
  });
});

describe('an abortable promise', () => {
  it('gives the value if it comes first, and leaves no listeners', async () => {
    const { controller, count } = spied();
    await expect(abortable(Promise.resolve(123), controller.signal)).resolves.toBe(123);
    expect(count()).toBe(0);
  });

  it('gives the error if it comes first, and leaves no listeners', async () => {
    const { controller, count } = spied();
    await expect(abortable(Promise.reject(new Error('boo')), controller.signal)).rejects.toThrow('boo');
    expect(count()).toBe(0);
  });

  it('rejects with the reason if the abort comes first, and ignores what comes later', async () => {
    const controller = new AbortController();
    let fail: (error: Error) => void = () => {};
    const work = new Promise<never>((_resolve, reject) => {
      fail = reject;
    });
    const promise = abortable(work, controller.signal);
    controller.abort(new Error('stop'));
    fail(new Error('too late'));
    await expect(promise).rejects.toThrow('stop');
  });

  it('rejects at once with an aborted signal, even if the value is there', async () => {
    await expect(abortable(Promise.resolve(1), AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
  });

  it('is the promise itself without a signal', async () => {
    await expect(abortable(Promise.resolve(1), undefined)).resolves.toBe(1);
  });
});

describe('a child controller', () => {
  it('aborts with any of the parents, with the reason of it', () => {
    const [one, two] = [new AbortController(), new AbortController()];
    const child = childController(one.signal, undefined, two.signal);
    expect(child.signal.aborted).toBe(false);
    two.abort('two');
    one.abort('one');
    expect(child.signal.reason).toBe('two');
  });

  it('aborts on its own, and does not touch the parent', () => {
    const { controller: parent, count } = spied();
    const child = childController(parent.signal);
    child.abort('own');
    expect(child.signal.reason).toBe('own');
    expect(parent.signal.aborted).toBe(false);
    expect(count()).toBe(0);
  });

  it('is aborted from the beginning if a parent is', () => {
    const { controller: other, count } = spied();
    const child = childController(AbortSignal.abort('before'), other.signal);
    expect(child.signal.reason).toBe('before');
    expect(count()).toBe(0);
  });

  it('does not follow the parents when disposed of', () => {
    const { controller: parent, count } = spied();
    const child = childController(parent.signal);
    child.dispose();
    expect(count()).toBe(0);
    parent.abort();
    expect(child.signal.aborted).toBe(false);
  });
});

describe('any of signals', () => {
  it('aborts with the first one', () => {
    const [one, two] = [new AbortController(), new AbortController()];
    const any = anySignal(one.signal, two.signal, undefined);
    two.abort('two');
    expect(any.signal.reason).toBe('two');
  });

  it('leaves nothing on the sources after being disposed of', () => {
    const { controller, count } = spied();
    anySignal(controller.signal).dispose();
    expect(count()).toBe(0);
  });
});

describe('a cancellation', () => {
  const reason = new Error('enough');
  const signal = AbortSignal.abort(reason);

  it.each([
    ['the reason itself', reason],
    ['an error caused by the reason', new Error('gave up', { cause: reason })],
    ['an error of the kind that fetch() throws', new DOMException('This operation was aborted', 'AbortError')],
  ])('is %s', (_what, thrown) => {
    expect(isCancellation(thrown, signal)).toBe(true);
    expect(isCancellation(thrown, new AbortController().signal)).toBe(false);
    expect(isCancellation(thrown, undefined)).toBe(false);
  });

  it.each([
    ['another error', new Error('boo')],
    ['what is no error', 'enough'],
    ['nothing', undefined],
  ])('is not %s, although the signal has aborted', (_what, thrown) => {
    expect(isCancellation(thrown, signal)).toBe(false);
  });
});
