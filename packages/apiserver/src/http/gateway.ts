/** Where all requests enter, over HTTP and in the process: first faults, then authentication, then the pipeline. */

import type { FaultPlan } from '../contracts/faults.js';
import type { UserInfo } from '../contracts/objects.js';
import type { ApiAnswer, ApiRequest } from '../contracts/request.js';
import type { Pipeline } from '../routing/pipeline.js';
import { ConnectionReset, makeOutlet, type Outlet } from '../watching/outlet.js';
import { refusal } from './answers.js';
import { unauthorized } from './status-errors.js';

export interface GatewayAnswer extends Omit<ApiAnswer, 'stream'> {
  readonly outlet?: Outlet;
}

export interface Gateway {
  /** `identify` tells the user; `undefined` is nobody. Rejects with `ConnectionReset` to break the connection. */
  handle(request: Omit<ApiRequest, 'user'>, identify: () => UserInfo | undefined): Promise<GatewayAnswer>;
  /** Grows with every request; while it stays the same, nothing happens. */
  readonly activity: number;
  /** How many requests are being handled; open streams do not count. */
  readonly inFlight: number;
}

export function makeGateway(pipeline: Pipeline, faults: FaultPlan): Gateway {
  let activity = 0;
  let inFlight = 0;

  async function answer(
    request: Omit<ApiRequest, 'user'>,
    identify: () => UserInfo | undefined,
  ): Promise<GatewayAnswer> {
    const fault = faults.beforeRequest(request);
    const injected = fault instanceof Promise ? await fault : fault;
    if (injected !== undefined && 'kind' in injected) {
      if (injected.kind === 'reset') throw new ConnectionReset();
      return injected.answer;
    }
    const user = identify();
    if (user === undefined) return refusal(unauthorized());
    const { stream, ...rest } = await pipeline.handle({ ...request, user });
    if (stream === undefined) return rest;
    const outlet = makeOutlet(stream, (control) => faults.onStream(request, control));
    // A client that left while the answer was being made will not leave once more.
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
