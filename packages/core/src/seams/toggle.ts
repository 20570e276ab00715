/** A switch that can be waited for. */
export interface Toggle {
  readonly isOn: boolean;
  turn(on: boolean): void;
  whenOn(signal?: AbortSignal): Promise<void>;
  whenOff(signal?: AbortSignal): Promise<void>;
}
