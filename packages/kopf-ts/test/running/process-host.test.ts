import { afterEach, describe, expect, it, vi } from 'vitest';
import { codeOfSignal, processHost } from '../../src/running/process-host.js';

describe('the real process', () => {
  const exitCode = process.exitCode;
  afterEach(() => {
    process.exitCode = exitCode;
  });

  it('is listened to for as long as needed', () => {
    const heard: string[] = [];
    const before = process.listenerCount('SIGTERM');
    const forget = processHost().onSignal((name) => heard.push(name));
    expect(process.listenerCount('SIGTERM')).toBe(before + 1);
    // As Node does it when a signal comes; but of the listeners, only ours is called.
    process.listeners('SIGTERM').at(-1)?.('SIGTERM');
    process.listeners('SIGINT').at(-1)?.('SIGINT');
    expect(heard).toEqual(['SIGTERM', 'SIGINT']);
    forget();
    expect(process.listenerCount('SIGTERM')).toBe(before);
  });

  it('is kept alive by a timer, for as long as needed', () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const release = processHost().hold();
    expect(timers()).toBe(before + 1);
    release();
    expect(timers()).toBe(before);
  });

  it('keeps a code of failure that others have set', () => {
    process.exitCode = 3;
    processHost().setExitCode(0);
    expect(process.exitCode).toBe(3);
    processHost().setExitCode(1);
    expect(process.exitCode).toBe(1);
  });

  it.each([
    [0, 3, 3],
    [0, undefined, 0],
    [1, 3, 1],
  ])('exits with %s, when %s was set before, as %s', (code, before, expected) => {
    const exit = vi.spyOn(process, 'exit').mockImplementation((() => {}) as never);
    try {
      process.exitCode = before;
      processHost().exit(code);
      expect(exit.mock.calls).toEqual([[expected]]);
    } finally {
      exit.mockRestore();
    }
  });

  it('tells what it waits for', () => {
    expect(Array.isArray(processHost().pending())).toBe(true);
  });

  it('numbers signals as shells do', () => {
    expect([codeOfSignal('SIGINT'), codeOfSignal('SIGTERM')]).toEqual([130, 143]);
  });
});
