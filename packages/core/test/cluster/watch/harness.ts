/** A watch-stream under test: with its own clock, client and log, and with all that came out of it. */
import { type ManualClock, manualClock, type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import { onTestFinished } from 'vitest';
import type { WatchOptions, WatchSignal } from '../../../src/cluster/watch/signals.js';
import { watch } from '../../../src/cluster/watch/watch.js';
import { facts } from '../../../src/observing/facts.js';
import type { Fact, FactKind, FactOf } from '../../../src/seams/inspection/observer.js';
import { settings as makeSettings, type WatchingSettings } from '../../../src/settings.js';
import { onAbort } from '../../../src/sync/abort.js';
import type { AnyObject } from '../../../src/values/objects/body.js';
import { type WatchTargetFields, watchTarget } from '../../../src/values/resources/watch-target.js';
import { KEX, kex, kexList } from '../fixtures.js';
import { type ScriptedClient, scriptedClient } from '../scripted-client.js';

export interface WatchUnderTest {
  readonly client: ScriptedClient;
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  readonly signals: WatchSignal[];
  readonly phases: FactOf<'stream.phase'>[];
  /** Of the kinds that are wanted. */
  readonly told: Fact[];
  /** All that came out, in short: `null a`, `LISTED`, `ADDED b`, `DELETED a vanished`. */
  readonly story: string[];
  /** The requests and their times: `0.1 watch 100`, `0 list`. */
  readonly attempts: string[];
  /** When the current version was asked for, apart from all attempts to list and to watch. */
  readonly checks: number[];
  /** The addresses of these requests. */
  readonly checked: string[];
  /** What is answered to that; unless given, nothing ever is. */
  currentVersion: string | Promise<string> | Error | undefined;
  /** Begins to read from the stream, and lets everything settle. */
  start(): Promise<void>;
  /** Whether the stream has ended. */
  readonly isOver: boolean;
  /** What the stream has failed with. */
  readonly error: unknown;
  abort(): Promise<void>;
}

export interface WatchUnderTestOptions extends Partial<Omit<WatchOptions, 'settings' | 'facts'>> {
  readonly target?: WatchTargetFields;
  /** The facts to be collected. */
  readonly wants?: readonly FactKind[];
  readonly watching?: Partial<WatchingSettings>;
  readonly obeysSignals?: boolean;
  /** Called for each signal, and waited for. */
  readonly consume?: (signal: WatchSignal) => Promise<void> | void;
}

export function watchUnderTest(options: WatchUnderTestOptions = {}): WatchUnderTest {
  const { watching = {}, obeysSignals = true, consume, target, wants = [], ...rest } = options;
  const clock = manualClock();
  const logger = recordingLogger();
  const controller = new AbortController();
  const signals: WatchSignal[] = [];
  const phases: FactOf<'stream.phase'>[] = [];
  const told: Fact[] = [];
  const times: number[] = [];
  const checks: number[] = [];
  const checked: string[] = [];
  let isOver = false;
  let error: unknown;

  const client = scriptedClient({ obeysSignals });
  const timed: ScriptedClient = Object.create(client, {
    request: {
      value: (request: Parameters<ScriptedClient['request']>[0]) => {
        if (isCheck(request.path)) {
          checked.push(request.path);
          return check(request.signal);
        }
        times.push(clock.now());
        return client.request(request);
      },
    },
    stream: {
      value: (request: Parameters<ScriptedClient['stream']>[0]) => {
        times.push(clock.now());
        return client.stream(request);
      },
    },
  });

  const check = async (signal: AbortSignal | undefined): Promise<unknown> => {
    checks.push(clock.now());
    const { currentVersion } = underTest;
    if (currentVersion === undefined) return await new Promise((_, reject) => signal && onAbort(signal, reject));
    if (currentVersion instanceof Error) throw currentVersion;
    return kexList(await currentVersion, [kex('any', '1')], 'more');
  };

  const read = async (): Promise<void> => {
    const stream = watch(timed, watchTarget(KEX, target), {
      settings: makeSettings({ watching }),
      clock,
      logger,
      signal: controller.signal,
      capabilities: { streamingLists: false },
      random: () => 1,
      facts: facts({
        observers: [
          { wants: ['stream.phase'], observe: (fact) => void phases.push(fact as FactOf<'stream.phase'>) },
          { wants, observe: (fact) => void told.push(fact) },
        ],
        operator: 'me',
        clock,
        logger,
      }),
      ...rest,
    });
    for await (const signal of stream) {
      signals.push(signal);
      await consume?.(signal);
    }
  };

  const abort = async (): Promise<void> => {
    controller.abort(new Error('the end of the test'));
    await clock.settle();
  };
  onTestFinished(abort);

  const underTest: WatchUnderTest = {
    client,
    clock,
    logger,
    signals,
    phases,
    told,
    checks,
    checked,
    currentVersion: undefined,
    get story() {
      return signals.map(inShort);
    },
    get attempts() {
      return client.requests.map(({ path }, index) => `${times[index]} ${attemptInShort(path)}`);
    },
    async start() {
      void read()
        .catch((thrown: unknown) => {
          error = thrown;
        })
        .finally(() => {
          isOver = true;
        });
      await clock.settle();
    },
    get isOver() {
      return isOver;
    },
    get error() {
      return error;
    },
    abort,
  };
  return underTest;
}

function isCheck(path: string): boolean {
  const query = new URLSearchParams(path.split('?')[1]);
  return query.get('limit') === '1' && query.get('resourceVersion') === '';
}

function inShort(signal: WatchSignal): string {
  if (signal.type === 'LISTED' || signal.type === 'REWOUND') return signal.type;
  return `${signal.type} ${signal.object.metadata?.name}${signal.vanished ? ' vanished' : ''}`;
}

function attemptInShort(path: string): string {
  const query = new URLSearchParams(path.split('?')[1]);
  if (query.has('sendInitialEvents')) return 'streamed list';
  if (query.has('watch')) return `watch ${query.get('resourceVersion')}`;
  return query.has('continue') ? `list ${query.get('continue')}` : 'list';
}

export function added(object: AnyObject): object {
  return { type: 'ADDED', object };
}

export function modified(object: AnyObject): object {
  return { type: 'MODIFIED', object };
}

export function deleted(object: AnyObject): object {
  return { type: 'DELETED', object };
}

export function bookmark(resourceVersion: string): object {
  return { type: 'BOOKMARK', object: { metadata: { resourceVersion } } };
}

export function errorEvent(code: number, extra: object = {}): object {
  return { type: 'ERROR', object: { kind: 'Status', code, message: `error ${code}`, ...extra } };
}
