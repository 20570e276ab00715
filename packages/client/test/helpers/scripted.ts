/** A cluster without sockets: a dispatcher that answers by a script, and a clock that tells how long it was slept. */
import { type Clock, type ConnectionInfo, type KubeRequest, type Settings, settings } from '@kopf-ts/core';
import { type ManualClock, manualClock, type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import type { Dispatcher } from 'undici';
import { type HttpKubeClient, type KubeClientOptions, kubeClient } from '../../src/index.js';

interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** Anything but texts is sent as JSON. */
  readonly body?: unknown;
}

/** An error breaks the connection; `'hang'` never answers. */
export type Step = ScriptedAnswer | Error | 'hang';

export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string | string[]>;
  readonly body: unknown;
}

export interface ScriptedServer {
  readonly dispatcher: unknown;
  readonly sent: SentRequest[];
}

/** Answers by the steps, one after another; the last one repeats. */
export function scriptedServer(...steps: (Step | ((request: SentRequest) => Step))[]): ScriptedServer {
  const sent: SentRequest[] = [];
  const dispatch = (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean => {
    const request = {
      method: options.method,
      url: `${String(options.origin)}${options.path}`,
      headers: options.headers as Record<string, string | string[]>,
      body: options.body,
    };
    const step = steps[Math.min(sent.length, steps.length - 1)] as Step;
    sent.push(request);
    queueMicrotask(() =>
      play(typeof step === 'function' ? (step as (r: SentRequest) => Step)(request) : step, handler),
    );
    return true;
  };
  return { dispatcher: { dispatch }, sent };
}

function play(step: Step, handler: Dispatcher.DispatchHandler): void {
  let isAborted = false;
  const controller = {
    aborted: false,
    paused: false,
    reason: null,
    abort: (reason: Error) => {
      isAborted = true;
      handler.onResponseError?.(controller, reason);
    },
    pause: () => {},
    resume: () => {},
  };
  handler.onRequestStart?.(controller, {});
  if (isAborted || step === 'hang') return;
  if (step instanceof Error) {
    handler.onResponseError?.(controller, step);
    return;
  }
  const { status = 200, headers = {}, body = {} } = step;
  handler.onResponseStart?.(controller, status, headers, '');
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  if (text !== '') handler.onResponseData?.(controller, Buffer.from(text));
  handler.onResponseEnd?.(controller, {});
}

export interface Scripted {
  readonly client: HttpKubeClient;
  /** The client's; and all the time passes that it takes. */
  request<T = unknown>(request: KubeRequest): Promise<T>;
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  readonly sent: SentRequest[];
  /** How long it was slept, in order; the limits of requests are off. */
  readonly sleeps: number[];
  readonly settings: Settings;
}

/** A client of such a server. */
export function scripted(
  steps: Parameters<typeof scriptedServer>,
  networking: Partial<Settings['networking']> = {},
  options: Partial<KubeClientOptions> = {},
): Scripted {
  const server = scriptedServer(...steps);
  const clock = manualClock();
  const sleeps: number[] = [];
  const recording: Clock = {
    now: clock.now,
    utc: clock.utc,
    sleep: (delay, sleepOptions) => {
      sleeps.push(delay);
      return clock.sleep(delay, sleepOptions);
    },
  };
  const logger = recordingLogger();
  const limits = { requestTimeout: undefined, connectTimeout: undefined, headersTimeout: undefined };
  const config = settings({ networking: { ...limits, ...networking }, watching: { connectTimeout: undefined } });
  const connection: ConnectionInfo = { server: 'https://cluster.example', token: 'tkn', dispatcher: server.dispatcher };
  const source = options.credentials === undefined ? { connection } : {};
  const client = kubeClient({ ...source, clock: recording, logger, settings: config, random: () => 0, ...options });
  const request = <T = unknown>(kubeRequest: KubeRequest): Promise<T> => inTime(clock, client.request<T>(kubeRequest));
  return { client, request, clock, logger, sent: server.sent, sleeps, settings: config };
}

/** Lets the time pass until it is done. */
export async function inTime<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
  let isPending = true;
  const settle = (): void => {
    isPending = false;
  };
  promise.then(settle, settle);
  for (;;) {
    await clock.settle();
    if (!isPending || clock.nextWakeup === undefined) return await promise;
    await clock.advance(clock.nextWakeup);
  }
}
