/** The results of probe handlers, collected once for all concurrent requests. */
import { ActivityError, type HandlerId, KopfError, type Seconds } from '@kopf-ts/core';
import { childController, describeError, quoteId } from '@kopf-ts/core/engine';
import { runActivity } from '../activities/run-activity.js';
import type { OperatorParts } from '../parts.js';

export interface ProbeResults {
  /** The results as JSON. Rejects if any probe failed for good, returned an invalid result, or does not end. */
  collect(): Promise<string>;
}

/** Since the end of the collection. */
const CACHED_FOR: Seconds = 10;
/** The longest wait of a request; usually, the requester gives up much earlier. */
const PATIENCE: Seconds = 30;

/** The collection ends with the signal, not when a requester stops waiting. */
export function probeResults(parts: OperatorParts & { readonly memo: unknown }, signal: AbortSignal): ProbeResults {
  const { clock, logger, memo } = parts;
  let cached: { readonly json: string; readonly at: Seconds } | undefined;
  let running: { readonly json: Promise<string>; isOverdue: boolean } | undefined;

  const run = async (runSignal: AbortSignal): Promise<string> => {
    const results = await runActivity(parts, { activity: 'probe', memo, signal: runSignal });
    try {
      const json = asJson(results);
      cached = { json, at: clock.now() };
      return json;
    } catch (error) {
      logger.error(describeError(error));
      throw error;
    }
  };

  const start = (): NonNullable<typeof running> => {
    const controller = childController(signal);
    const ended = new AbortController();
    const collected = run(controller.signal).finally(() => {
      ended.abort();
      controller.dispose();
      running = undefined;
    });
    const limited = async (): Promise<string> => {
      const left = await clock.sleep(PATIENCE, { wakeup: ended.signal });
      if (left !== undefined) return await collected;
      const error = stillRunning();
      logger.warn(error.message);
      started.isOverdue = true;
      controller.abort(error);
      throw error;
    };
    const started = { isOverdue: false, json: Promise.race([collected, limited()]) };
    return started;
  };

  return {
    async collect() {
      if (cached !== undefined && clock.now() - cached.at < CACHED_FOR) return cached.json;
      // Not restarted while the previous one hangs: hanging collections would pile up.
      if (running?.isOverdue) throw stillRunning();
      running ??= start();
      return await running.json;
    },
  };
}

function stillRunning(): KopfError {
  return new KopfError(`The probe handlers have not ended within ${PATIENCE} seconds.`, { code: 'KOPF_PROBE_TIMEOUT' });
}

/** Each result separately, so that errors can name the probe. */
function asJson(results: Readonly<Record<HandlerId, unknown>>): string {
  const members = Object.entries(results).map(([id, result]) => `${JSON.stringify(id)}:${memberAsJson(id, result)}`);
  return `{${members.join(',')}}`;
}

function memberAsJson(id: HandlerId, result: unknown): string {
  try {
    const json = JSON.stringify(result) as string | undefined;
    if (json !== undefined) return json;
  } catch (error) {
    throw unserialisable(id, describeError(error), { cause: error });
  }
  throw unserialisable(id, `a ${typeof result} cannot be in JSON`);
}

function unserialisable(id: HandlerId, why: string, options?: ErrorOptions): KopfError {
  const message = `The probe ${quoteId(id)} has returned a value that cannot be put into an answer: ${why}`;
  return new KopfError(message, { code: 'KOPF_PROBE_RESULT', ...options });
}

/** The ids of the probes that are to blame, if it is about them. */
export function failedProbes(error: unknown): readonly HandlerId[] {
  if (!(error instanceof ActivityError)) return [];
  const isFailed = (outcome: unknown): boolean => typeof outcome === 'object' && outcome !== null && 'error' in outcome;
  return [...error.outcomes].filter(([, outcome]) => isFailed(outcome)).map(([id]) => id);
}
