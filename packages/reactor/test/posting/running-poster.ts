/** A poster with a cluster that remembers what was posted, and answers as told. */
import {
  type KubeClient,
  type KubeEvent,
  type KubeRequest,
  type Settings,
  type SettingsOverrides,
  settings,
} from '@kopf-ts/core';
import { abortable } from '@kopf-ts/core/engine';
import { type ManualClock, manualClock, type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import { onTestFinished } from 'vitest';
import { type EventPosterOptions, eventPoster } from '../../src/posting/poster.js';

/** An event as it was posted; only what tests look at. */
interface PostedEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count?: number;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly metadata: { readonly namespace: string };
  readonly involvedObject: Record<string, unknown>;
}

export interface PosterUnderTest {
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  readonly settings: Settings;
  readonly requests: readonly KubeRequest[];
  /** How many requests are not answered yet. */
  readonly unanswered: number;
  readonly posted: readonly PostedEvent[];
  /** How many times of events are posted in total, by their counts. */
  readonly times: number;
  /** How the cluster answers from now on: with an error, never, or well. */
  answer: 'well' | 'never' | Error;
  post(event: Partial<KubeEvent>): void;
  readonly poster: { post(event: KubeEvent): void };
  start(): Promise<void>;
  /** Tells the service to stop, and returns when it has ended or the time was moved so far. */
  stop(): Promise<void>;
  readonly isEnded: boolean;
}

export function about(name: string) {
  return { apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata: { name, namespace: 'ns', uid: `uid-${name}` } };
}

export function posterUnderTest(
  options: Partial<EventPosterOptions> & {
    readonly overrides?: SettingsOverrides;
    readonly obeysSignals?: boolean;
  } = {},
): PosterUnderTest {
  const { overrides, obeysSignals = true, ...others } = options;
  const clock = manualClock();
  const logger = recordingLogger();
  const requests: KubeRequest[] = [];
  const controller = new AbortController();
  let unanswered = 0;
  let isEnded = false;

  const client: KubeClient = {
    async request<T>(request: KubeRequest): Promise<T> {
      requests.push(request);
      unanswered += 1;
      try {
        const { answer } = self;
        if (answer === 'never') await abortable(new Promise(() => {}), obeysSignals ? request.signal : undefined);
        // Even a fast cluster needs some time.
        await clock.sleep(0);
        if (answer instanceof Error) throw answer;
        return {} as T;
      } finally {
        unanswered -= 1;
      }
    },
    stream: () => {
      throw new Error('No streams are needed for posting.');
    },
  };
  const ownSettings = settings(overrides);
  const { poster, service } = eventPoster({ settings: ownSettings, clock, logger, client, ...others });
  onTestFinished(() => controller.abort());

  const self: PosterUnderTest = {
    clock,
    logger,
    settings: ownSettings,
    requests,
    poster,
    get unanswered() {
      return unanswered;
    },
    get posted() {
      return requests.map(({ body }) => body as PostedEvent);
    },
    get times() {
      return self.posted.reduce((sum, { count = 1 }) => sum + count, 0);
    },
    answer: 'well',
    post: (event) => poster.post({ about: about('a'), type: 'Normal', reason: 'Reason', message: 'Text.', ...event }),
    async start() {
      void service.run(controller.signal).finally(() => {
        isEnded = true;
      });
      await clock.settle();
    },
    async stop() {
      controller.abort();
      await clock.settle();
    },
    get isEnded() {
      return isEnded;
    },
  };
  return self;
}
