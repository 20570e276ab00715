/** Many toggles that are seen as one: the operator is paused if any peering says so, and ready when all indices are. */
import type { Toggle } from '../seams/toggle.js';
import { condition } from './condition.js';
import { type NamedToggle, type ToggleView, toggle } from './named-toggle.js';

export interface ToggleSet extends ToggleView {
  readonly size: number;
  /** Makes a toggle that counts until it is dropped. */
  make(initially?: boolean, options?: { readonly name?: string }): NamedToggle;
  /** From now on, the toggle does not count. Dropping it twice, or one of another set, changes nothing. */
  drop(toggle: Toggle): void;
}

/** The set is on when any or all of its toggles are; so an empty set is off for `any`, and on for `all`. */
export function toggleSet(mode: 'any' | 'all'): ToggleSet {
  const changed = condition();
  const toggles = new Set<Toggle>();
  // Asked for each event of each object, and changed once in a while.
  let isOn = mode === 'all';
  const update = (): void => {
    isOn = [...toggles].some((one) => one.isOn === (mode === 'any')) === (mode === 'any');
    changed.notify();
  };
  return {
    get isOn() {
      return isOn;
    },
    get size() {
      return toggles.size;
    },
    make(initially = false, options = {}) {
      const made = toggle(initially, { ...options, changed: { until: changed.until, notify: update } });
      toggles.add(made);
      update();
      return made;
    },
    drop(dropped) {
      if (toggles.delete(dropped)) update();
    },
    whenOn: (signal) => changed.until(() => isOn, signal),
    whenOff: (signal) => changed.until(() => !isOn, signal),
  };
}
