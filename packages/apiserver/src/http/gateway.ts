/** The front of the server, behind all doors: faults first, then who it is, then what they want. */

import type { FaultPlan } from '../contracts/faults.js';
import type { UserInfo } from '../contracts/objects.js';
import type { ApiAnswer, ApiRequest } from '../contracts/request.js';
import type { Pipeline } from '../routing/pipeline.js';
import { ConnectionReset, makeOutlet, type Outlet } from '../watching/outlet.js';
import { refusal } from './answers.js';
import { unauthorized } from './status-errors.js';

export interface FrontAnswer extends Omit<ApiAnswer, 'stream'> {
  readonly outlet?: Outlet;
}

export interface Front {
  /** `identify` says who it is; `undefined` is nobody. Rejects with `ConnectionReset` if the connection is to be broken. */
  handle(request: Omit<ApiRequest, 'user'>, identify: () => UserInfo | undefined): Promise<FrontAnswer>;
  /** Grows with everything that happens; when it does not grow, nothing happens. */
  readonly activity: number;
  /** How many requests are being handled; open streams do not count. */
  readonly inFlight: number;
}

export function makeFront(pipeline: Pipeline, faults: FaultPlan): Front {
  let activity = 0;
  let inFlight = 0;

  async function answer(request: Omit<ApiRequest, 'user'>, identify: () => UserInfo | undefined): Promise<FrontAnswer> {
    const fault = faults.beforeRequest(request);
    const verdict = fault instanceof Promise ? await fault : fault;
    if (verdict !== undefined && 'kind' in verdict) {
      if (verdict.kind === 'reset') throw new ConnectionReset();
      return verdict.answer;
    }
    const user = identify();
    if (user === undefined) return refusal(unauthorized());
    const { stream, ...rest } = await pipeline.handle({ ...request, user });
    if (stream === undefined) return rest;
    const outlet = makeOutlet(stream, (control) => faults.onStream(request, control));
    // Whoever has left while the answer was being made will not leave once more.
    if (request.signal.aborted) outlet.close();
    return { ...rest, outlet };
  }

  return {
    get activity() {
      return activity;
    },
    get inFlight() {
      return inFlight;
    },
    async handle(request, identify) {
      activity++;
      inFlight++;
      try {
        return await answer(request, identify);
      } finally {
        activity++;
        inFlight--;
      }
    },
  };
}
