/** What the probe handlers return: collected once for all requests of the same time. */
import { ActivityError, type HandlerId, KopfError, type Seconds } from '@kopf-ts/core';
import { childController, describeError, quoteId } from '@kopf-ts/core/engine';
import { runActivity } from '../activities/run-activity.js';
import type { OperatorParts } from '../parts.js';

export interface ProbeResults {
  /** The results as JSON. Rejects if any probe has failed for good, has returned nonsense, or does not end. */
  collect(): Promise<string>;
}

/** Since the end of the collection. */
const CACHED_FOR: Seconds = 10;
/** A request waits no longer than that; usually, the requester gives up much earlier. */
const PATIENCE: Seconds = 30;

/** The collection ends with the signal; that somebody does not wait for it any more is no reason to end it. */
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
      // Not started anew while the previous one hangs: hanging ones would only pile up.
      if (running?.isOverdue) throw stillRunning();
      running ??= start();
      return await running.json;
    },
  };
}

function stillRunning(): KopfError {
  return new KopfError(`The probe handlers have not ended within ${PATIENCE} seconds.`, { code: 'KOPF_PROBE_TIMEOUT' });
}

/** Each result apart, so that the culprit can be named. */
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
