/**
 * One root task of the operator. It runs until aborted; if it ends earlier, the whole operator ends.
 *
 * ```ts
 * const heartbeat: kopf.Service = {
 *   name: 'heartbeat',
 *   async run(signal) {
 *     while (!signal.aborted) {
 *       await clock.sleep(60, { signal });
 *       logger.info('Still alive.');
 *     }
 *   },
 * };
 * ```
 */
export interface Service {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}
