/**
 * Where all requests enter, over HTTP and in the process: faults, authentication, authorization, and then the pipeline.
 * The body is read only for those that may come in.
 */
import type { Duplex, Readable } from 'node:stream';
import type { Awaitable, Clock } from '@kopf-ts/core';
import type { Gatekeeper } from '../authorization/gatekeeper.js';
import type { FaultPlan } from '../contracts/faults.js';
import type { UserInfo } from '../contracts/objects.js';
import type { ApiAnswer, RequestBody, RequestHead } from '../contracts/request.js';
import { isWatch } from '../faults/fault-rules.js';
import { type ProxiedPath, proxiedPathOf } from '../proxy/proxied-path.js';
import type { ClusterProxy } from '../proxy/proxying.js';
import type { Pipeline } from '../routing/pipeline.js';
import { ConnectionReset, makeOutlet, type Outlet } from '../watching/outlet.js';
import { formatted } from './answer-formats.js';
import { refusal } from './answers.js';
import { answeredWithin, timeoutOf } from './request-timeouts.js';
import { unauthorized } from './status-errors.js';

export interface GatewayAnswer extends Omit<ApiAnswer, 'stream'> {
  readonly outlet?: Outlet;
  /** Of those behind a proxy: it is passed on as it comes. */
  readonly content?: Readable;
}

/** What a request brings with it. */
interface Visitor {
  /** `undefined` if the credentials are wrong. */
  identify(): UserInfo | undefined;
  readBody(): Awaitable<RequestBody>;
  /** The body as it comes, for those behind a proxy; within the process, there is none. */
  rawBody?(): Readable;
}

export interface Gateway {
  /** Rejects with `ConnectionReset` to break the connection. */
  handle(head: RequestHead, visitor: Visitor): Promise<GatewayAnswer>;
  /** Connects a client with somebody who speaks another protocol; resolves with the answer if that cannot be. */
  upgrade(head: RequestHead, visitor: Visitor, client: Duplex, first: Buffer): Promise<GatewayAnswer | undefined>;
  /** Grows with every request; while it stays the same, nothing happens. */
  readonly activity: number;
  /** How many requests are being handled; open streams do not count, nor do bodies that are still to come. */
  readonly inFlight: number;
}

/** What is behind the gateway. */
interface Behind {
  readonly pipeline: Pipeline;
  /** To pods and services. */
  readonly proxy: ClusterProxy;
}

export function makeGateway(
  { pipeline, proxy }: Behind,
  gatekeeper: Gatekeeper,
  faults: FaultPlan,
  clock: Clock,
): Gateway {
  let activity = 0;
  let inFlight = 0;

  async function answer(head: RequestHead, visitor: Visitor): Promise<GatewayAnswer> {
    const fault = faults.beforeRequest(head);
    const injected = fault instanceof Promise ? await fault : fault;
    if (injected !== undefined && 'kind' in injected) {
      if (injected.kind === 'reset') throw new ConnectionReset();
      return injected.answer;
    }
    const user = admitted(head, visitor);
    if ('status' in user) return user;
    const path = proxiedPathOf(head.url);
    if (path !== undefined) return await forwarded(path, head, visitor);
    const { stream, ...rest } = await answerInTime(head, visitor, user);
    if (stream === undefined) return rest;
    const outlet = makeOutlet(stream, (control) => faults.onStream(head, control));
    // A client that left while the answer was being made will not leave once more.
    if (head.signal.aborted) outlet.close();
    return { ...rest, outlet };
  }

  async function forwarded(path: ProxiedPath, head: RequestHead, visitor: Visitor): Promise<GatewayAnswer> {
    try {
      const answer = await proxy.forward(path, head, visitor.rawBody?.() ?? (await readBody(visitor)));
      if (!('location' in answer)) return { ...answer, body: '' };
      return { status: answer.status, headers: { location: answer.location }, body: '' };
    } catch (error) {
      return await formatted(head, refusal(error));
    }
  }

  async function answerInTime(head: RequestHead, visitor: Visitor, user: UserInfo): Promise<ApiAnswer> {
    if (head.method === 'GET' && isWatch(head.url.slice(head.url.indexOf('?') + 1))) {
      return await pipeline.handle({ ...head, user, body: await visitor.readBody() });
    }
    try {
      const timeout = timeoutOf(head.url);
      const leaving = new AbortController();
      let either: AbortSignal | undefined;
      const handling = readBody(visitor).then((body) => {
        // Combined for those who look at it, which are few: it takes longer than most requests do.
        const signal = () => (either ??= AbortSignal.any([head.signal, leaving.signal]));
        return pipeline.handle(Object.defineProperty({ ...head, user, body }, 'signal', { get: signal }));
      });
      return await answeredWithin(clock, timeout, handling, (why) => leaving.abort(why));
    } catch (error) {
      return refusal(error);
    }
  }

  async function readBody(visitor: Visitor): Promise<RequestBody> {
    const body = visitor.readBody();
    if (!(body instanceof Promise)) return body;
    inFlight--;
    try {
      return await body;
    } finally {
      inFlight++;
    }
  }

  /** The user, or the answer for those who may not come in. */
  function admitted(head: RequestHead, visitor: Visitor): UserInfo | ApiAnswer {
    try {
      const user = visitor.identify();
      return user === undefined ? refusal(unauthorized()) : gatekeeper.admit(head, user);
    } catch (error) {
      const answer = refusal(error);
      return { ...answer, headers: { ...answer.headers, 'x-content-type-options': 'nosniff' } };
    }
  }

  return {
    get activity() {
      return activity;
    },
    get inFlight() {
      return inFlight;
    },
    async upgrade(head, visitor, client, first) {
      const user = admitted(head, visitor);
      if ('status' in user) return user;
      try {
        const path = proxiedPathOf(head.url);
        if (path !== undefined) {
          await proxy.upgrade(path, head, client, first);
          return undefined;
        }
        const { command, ...answer } = await pipeline.handle({ ...head, user, body: undefined });
        if (command === undefined) return answer;
        const { talk } = await import('../commands/talking.js');
        return talk(command, head, client, first) ? undefined : answer;
      } catch (error) {
        return refusal(error);
      }
    },
    async handle(head, visitor) {
      activity++;
      inFlight++;
      try {
        return await answer(head, visitor);
      } finally {
        activity++;
        inFlight--;
      }
    },
  };
}
