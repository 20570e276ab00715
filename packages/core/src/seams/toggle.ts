/**
 * A switch with a state that code can wait for.
 *
 * ```ts
 * const waitUntilResumed = (paused: kopf.Toggle): Promise<void> => paused.whenOff(signal);
 * ```
 */
export interface Toggle {
  readonly isOn: boolean;
  turn(on: boolean): void;
  whenOn(signal?: AbortSignal): Promise<void>;
  whenOff(signal?: AbortSignal): Promise<void>;
}
