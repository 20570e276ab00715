import { describe, expect, it } from 'vitest';
import { toggle } from '../../src/sync/named-toggle.js';
import { toggleSet } from '../../src/sync/toggle-set.js';

/** Whether the promise is resolved by now: what comes in later turns does not count. */
async function isResolved(promise: Promise<unknown>): Promise<boolean> {
  let resolved = false;
  void promise.then(() => {
    resolved = true;
  });
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  return resolved;
}

describe('a toggle', () => {
  it('is off unless told otherwise', () => {
    expect(toggle().isOn).toBe(false);
    expect(toggle(true, { name: 'ready' })).toMatchObject({ isOn: true, name: 'ready' });
  });

  it('does not make those wait who want what it is', async () => {
    expect(await isResolved(toggle(true).whenOn())).toBe(true);
    expect(await isResolved(toggle(false).whenOff())).toBe(true);
  });

  it('releases all who wait for it to be turned', async () => {
    const paused = toggle();
    const waiting = [paused.whenOn(), paused.whenOn()];
    expect(await isResolved(Promise.race(waiting))).toBe(false);
    paused.turn(true);
    expect(await isResolved(Promise.all(waiting))).toBe(true);
    const resumed = paused.whenOff();
    expect(await isResolved(resumed)).toBe(false);
    paused.turn(false);
    expect(await isResolved(resumed)).toBe(true);
  });

  it('releases those who wait even if it is turned back at once', async () => {
    const paused = toggle();
    const waiting = paused.whenOn();
    paused.turn(true);
    paused.turn(false);
    expect(await isResolved(waiting)).toBe(true);
    expect(paused.isOn).toBe(false);
  });

  it('stops waiting when aborted', async () => {
    const controller = new AbortController();
    const waiting = toggle().whenOn(controller.signal);
    controller.abort(new Error('stop'));
    await expect(waiting).rejects.toThrow('stop');
    await expect(toggle(true).whenOn(controller.signal)).rejects.toThrow('stop');
  });
});

describe('a set of toggles', () => {
  it.each([
    ['any', [], false],
    ['any', [false], false],
    ['any', [false, true], true],
    ['any', [true, true], true],
    ['all', [], true],
    ['all', [false], false],
    ['all', [false, true], false],
    ['all', [true, true], true],
  ] as const)('of mode "%s" with %j is on: %s', (mode, states, expected) => {
    const set = toggleSet(mode);
    for (const state of states) set.make(state);
    expect(set.isOn).toBe(expected);
    expect(set.size).toBe(states.length);
  });

  it('follows its toggles', async () => {
    const set = toggleSet('all');
    const [one, two] = [set.make(false, { name: 'one' }), set.make(true)];
    expect(one.name).toBe('one');
    const ready = set.whenOn();
    one.turn(true);
    two.turn(false);
    const unready = set.whenOff();
    expect(await isResolved(ready)).toBe(true);
    expect(await isResolved(unready)).toBe(true);
    expect(set.isOn).toBe(false);
  });

  it('lets one wait for a toggle of it', async () => {
    const set = toggleSet('any');
    const [one, two] = [set.make(), set.make()];
    const waiting = one.whenOn();
    two.turn(true);
    expect(await isResolved(waiting)).toBe(false);
    one.turn(true);
    expect(await isResolved(waiting)).toBe(true);
  });

  it('is turned by making and dropping the toggles', async () => {
    const set = toggleSet('all');
    const notReady = set.whenOff();
    const one = set.make(false);
    expect(await isResolved(notReady)).toBe(true);
    const ready = set.whenOn();
    expect(await isResolved(ready)).toBe(false);
    set.drop(one);
    expect(await isResolved(ready)).toBe(true);
    expect(set.size).toBe(0);
  });

  it('ignores the turns of what is dropped, and the drops of what is not there', () => {
    const set = toggleSet('any');
    const one = set.make(false);
    set.drop(one);
    set.drop(one);
    one.turn(true);
    set.drop(toggle(true));
    expect(set.isOn).toBe(false);
  });

  it('stops waiting when aborted', async () => {
    const controller = new AbortController();
    const waiting = toggleSet('any').whenOn(controller.signal);
    controller.abort(new Error('stop'));
    await expect(waiting).rejects.toThrow('stop');
  });
});
