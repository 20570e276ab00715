/** A switch that code can wait for, e.g. "paused by a peer" or "indexed for the first time". */
import type { Toggle } from '../seams/toggle.js';
import { type Condition, condition } from './condition.js';

/** A read-only toggle that code can wait for. */
export type ToggleView = Omit<Toggle, 'turn'>;

export interface NamedToggle extends Toggle {
  /** For people, in logs and debuggers. */
  readonly name: string | undefined;
}

export interface ToggleOptions {
  readonly name?: string | undefined;
  /** Notified on each turn; its own by default. Toggles of a set share one. */
  readonly changed?: Pick<Condition, 'until' | 'notify'> | undefined;
}

export function toggle(initially = false, options: ToggleOptions = {}): NamedToggle {
  const changed = options.changed ?? condition();
  let isOn = initially;
  return {
    name: options.name,
    get isOn() {
      return isOn;
    },
    turn(on) {
      if (isOn === on) return;
      isOn = on;
      changed.notify();
    },
    whenOn: (signal) => changed.until(() => isOn, signal),
    whenOff: (signal) => changed.until(() => !isOn, signal),
  };
}
