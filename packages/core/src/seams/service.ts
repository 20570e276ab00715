/** One root task of the operator. It runs until aborted; if it ends earlier, the whole operator ends. */
export interface Service {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}
