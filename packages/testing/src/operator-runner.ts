/**
 * An operator for the length of a test: started, looked at, stopped. Which operators they are is up to the caller:
 * `kopf-ts/testing` does so for the operators of `kopf-ts`.
 */
import { randomUUID } from 'node:crypto';
import {
  type Awaitable,
  type Body,
  type Clock,
  type Control,
  createRegistry,
  KopfError,
  type KubeClient,
  type Logger,
  type ObservedObject,
  type Observer,
  type Registry,
  type Seconds,
  type Selection,
  type Settings,
} from '@kopf-ts/core';
import { toError } from '@kopf-ts/core/engine';
import { eventually } from './eventually.js';
import { type RecordingLogger, recordingLogger } from './recording-logger.js';
import { explained, nameOf, observedName } from './runner/expectations/explaining.js';
import { expectIdempotent } from './runner/expectations/repeating.js';
import { type QuiescenceOptions, resting } from './runner/expectations/resting.js';
import { history } from './runner/expectations/rewinding.js';
import { type HandlersSource, type LoadHandlers, loadHandlers } from './runner/loading.js';
import { type HandledCalls, handledCalls } from './runner/outcomes.js';
import { endsWithin, isManual } from './runner/stopping.js';
import { teeLogger } from './runner/tee.js';

/**
 * An operator, as far as the runner is concerned.
 *
 * ```ts
 * import type { RunnableOperator } from 'kopf-ts/testing';
 * const operator: RunnableOperator = kopf.operator();
 * ```
 */
export interface RunnableOperator {
  readonly ready: Promise<void>;
  readonly done: Promise<void>;
  stop(reason?: unknown): Promise<void>;
  /** Needed for `expectIdempotent()`. */
  readonly control?: Pick<Control, 'pause' | 'resume'> | undefined;
}

/**
 * What is given to the operators. They may have more options; these go there as they are.
 *
 * ```ts
 * import type { RunnableOptions } from 'kopf-ts/testing';
 * const options: RunnableOptions = { registry: kopf.createRegistry(), namespaces: ['shop'] };
 * ```
 */
export interface RunnableOptions {
  // biome-ignore lint/suspicious/noExplicitAny: an operator runs handlers of any environment alike
  readonly registry?: Registry<any> | undefined;
  readonly client?: KubeClient | undefined;
  readonly clock?: Clock | undefined;
  readonly settings?: Settings | undefined;
  readonly logger?: Logger | undefined;
  readonly observers?: readonly Observer[] | undefined;
  readonly identity?: string | undefined;
  readonly clusterwide?: boolean | undefined;
  readonly namespaces?: readonly (string | RegExp)[] | { readonly labels: Selection } | undefined;
}

/**
 * What a cluster must have to run operators on it; those of `localCluster()` do.
 *
 * ```ts
 * import { type RunnerCluster, operatorRunner } from 'kopf-ts/testing';
 * const cluster: RunnerCluster = { client }; // of any server
 * await using runner = await operatorRunner({ cluster });
 * ```
 */
export interface RunnerCluster {
  readonly client: KubeClient;
  readonly clock?: Clock | undefined;
  settled?(): Promise<void>;
}

/**
 * What is up to the runner itself.
 *
 * ```ts
 * import type { RunnerOptions } from 'kopf-ts/testing';
 * const options: RunnerOptions = { handlers: 'src/handlers.ts', timeout: 10, reraise: false };
 * ```
 */
export interface RunnerOptions {
  /** The cluster to run on: its client and its clock are given to the operator, unless others are. */
  readonly cluster?: RunnerCluster | undefined;
  /** What declares the handlers; into the registry that is given, or into a new one. */
  readonly handlers?: HandlersSource | undefined;
  /** For how long to wait when stopping. Default: for as long as it takes. By the clock of the operator. */
  readonly timeout?: Seconds | undefined;
  /** Whether the error that the operator has failed with is thrown when it is stopped. Default: yes. */
  readonly reraise?: boolean | undefined;
}

/**
 * How to make operators, and what they need by default.
 *
 * ```ts
 * import type { RunnerParts } from 'kopf-ts/testing';
 * const parts: RunnerParts<kopf.OperatorOptions> = { operator: kopf.operator, clock: kopf.reactor.systemClock };
 * ```
 */
export interface RunnerParts<Options extends RunnableOptions> {
  operator(options: Options): RunnableOperator;
  /** Used where neither the options nor the cluster give one. */
  readonly clock: Clock;
  /** A logger that writes its lines as people read them. Default: levels and messages. */
  printer?(write: (text: string) => void): Logger;
  /** How to load files with handlers. Default: they are imported. */
  readonly load?: LoadHandlers | undefined;
  /** The settings with their storages, also if none are given. Needed for `expectIdempotent()`. */
  settings?(given: Settings | undefined): Settings;
  /** What remembers the facts of an operator, and puts them into words. Needed for `why()`. */
  memory?(clock: Clock): RunnerMemory;
}

/**
 * Remembers what an operator does with its objects, and tells why.
 *
 * ```ts
 * import type { RunnerMemory } from 'kopf-ts/testing';
 * const forgetful: RunnerMemory = { observer: { wants: [], observe() {} }, why: () => 'Nobody knows.' };
 * ```
 */
export interface RunnerMemory {
  readonly observer: Observer;
  /** In sentences; `undefined` if nothing is known of the object. */
  why(object: RunnerObject): string | undefined;
}

/**
 * Which object is meant.
 *
 * ```ts
 * import type { RunnerObject } from 'kopf-ts/testing';
 * const one: RunnerObject = { resource: 'kopfexamples', namespace: 'default', name: 'one' };
 * ```
 */
export interface RunnerObject {
  /** A plural, a kind, or a short name; with or without the group. */
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/**
 * An operator for the length of a test, and all that can be asked of it.
 *
 * ```ts
 * import { type OperatorRunner, operatorRunner, testCluster } from 'kopf-ts/testing';
 * await using cluster = await testCluster({ apply: ['crd.yaml', 'object.yaml'] });
 * await using runner: OperatorRunner = await operatorRunner({ cluster, handlers: 'src/handlers.ts' });
 * const { how } = await runner.outcomes.next('create_fn');
 * expect(how).toBe('succeeded');
 * ```
 */
export interface OperatorRunner extends AsyncDisposable {
  /** Resolved when the operator works; rejected if it ends before that. */
  readonly ready: Promise<void>;
  /** Settled when the operator has ended; rejected if it has failed. */
  readonly done: Promise<void>;
  /** Stops the operator, if it runs; throws if it does not stop in time, or if it has failed (unless `reraise` is off). */
  stop(): Promise<void>;
  /** Everything that was logged so far. */
  readonly logs: RecordingLogger;
  /** The same as text: as an operator in a terminal would print it, with everything that `--debug` shows. */
  readonly output: string;
  /** What became of the handlers: to look at, and to wait for. */
  readonly outcomes: HandledCalls;
  /** 0 if the operator was stopped, 1 if it has failed; `undefined` while it runs. */
  readonly exitCode: number | undefined;
  /** What the operator has failed with. */
  readonly exception: Error | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: an operator runs handlers of any environment alike
  readonly registry: Registry<any> | undefined;
  /** Waits until nothing happens any more without the time moving: neither in the cluster nor by a manual clock. */
  settled(): Promise<void>;
  /**
   * Why handlers of the object were called or not, in sentences: of `kopfexamples/default/one`, or of an object. Failures of
   * `eventually()` and of the expectations below have it in their messages.
   */
  why(object: string | RunnerObject | Body): string;
  /**
   * Throws unless the operator is at rest: once all is settled, no handler is called, no object is patched and nothing waits for
   * a retry, until somebody else changes something. A manual clock is moved meanwhile.
   */
  expectQuiescent(options?: QuiescenceOptions): Promise<void>;
  /**
   * Throws unless the handlers can be called twice for the same state: those that were called last for each object are
   * called once more, by another operator, as after a crash before their success was stored. That must succeed, and
   * change nothing in the cluster. Meanwhile, this operator is paused. Timers and daemons are started as at any start.
   */
  expectIdempotent(): Promise<void>;
  /** Calls the function until it does not throw. A manual clock is moved meanwhile: so, time flies. Default: 30 s. */
  eventually<T>(assertions: () => Awaitable<T>, options?: { readonly timeout?: Seconds | undefined }): Promise<T>;
}

/** Loads the handlers, and starts the operator; it does not wait for it to be ready. */
export async function operatorRunner<Options extends RunnableOptions>(
  parts: RunnerParts<Options>,
  options: RunnerOptions & Options,
): Promise<OperatorRunner> {
  const { cluster, handlers, timeout, reraise = true, ...others } = options;
  const registry = options.registry ?? (handlers === undefined ? undefined : createRegistry());
  if (handlers !== undefined && registry !== undefined) await loadHandlers(handlers, registry, parts.load);

  const clock = options.clock ?? cluster?.clock ?? parts.clock;
  const logs = recordingLogger();
  const written: string[] = [];
  const printer = (parts.printer ?? plainPrinter)((text) => void written.push(text));
  const loggers = [logs, printer, ...(options.logger === undefined ? [] : [options.logger])];
  const ended = new AbortController();
  const { calls, observer } = handledCalls(ended.signal);
  const memory = parts.memory?.(clock);
  const past = history();
  const client = options.client ?? cluster?.client;
  const settled = async (): Promise<void> => {
    // Each can give work to the other.
    for (let turn = 0; turn < 3; turn++) {
      await cluster?.settled?.();
      if (isManual(clock)) await clock.settle();
    }
  };
  const whyOf = (object: ObservedObject): string | undefined => memory?.why(observedName(object));
  const rest = resting({ clock, settled, why: whyOf });
  const given = {
    // Otherwise, the host is asked for its name, and that takes real time.
    identity: `runner-${randomUUID()}`,
    ...(options.namespaces === undefined && { clusterwide: true }),
    ...(others as unknown as Options),
    client,
    registry,
    clock,
    logger: teeLogger(loggers),
    observers: [
      observer,
      rest.observer,
      past.observer,
      ...(memory === undefined ? [] : [memory.observer]),
      ...(options.observers ?? []),
    ],
  };
  const operator = parts.operator(given);

  let exitCode: number | undefined;
  let exception: Error | undefined;
  /** What the test knows already: it is not told again by the disposal. */
  let told: unknown;
  const ending = operator.done
    .then(
      () => {
        exitCode = 0;
      },
      (error: unknown) => {
        exitCode = 1;
        exception = toError(error);
      },
    )
    .then(() => ended.abort());
  const telling = (promise: Promise<void>): Promise<void> => {
    const telltale = promise.catch((error: unknown) => {
      told = error;
      throw error;
    });
    telltale.catch(() => {});
    return telltale;
  };

  const stop = async (): Promise<void> => {
    operator.stop().catch(() => {});
    if (!(await endsWithin(ending, timeout, clock))) {
      const text = `The operator didn't stop in ${timeout} seconds.`;
      throw new KopfError(text, { code: 'KOPF_NOT_ENDED', cause: exception });
    }
    if (exception === undefined || !reraise || told === exception) return;
    told = exception;
    throw exception;
  };

  const newSettings = parts.settings;
  const expectAgain = async (): Promise<void> => {
    if (newSettings === undefined || client === undefined) {
      throw new KopfError('To call handlers again, the runner needs the `settings` of operators, and a client.', {
        code: 'KOPF_NO_SETTINGS',
      });
    }
    const again = { operator: parts.operator, options: given, settings: newSettings, clock, client };
    await expectIdempotent(operator, { ...again, past, settled, why: whyOf });
  };

  return {
    get ready() {
      return telling(operator.ready);
    },
    get done() {
      return telling(operator.done);
    },
    stop,
    logs,
    get output() {
      return written.join('');
    },
    outcomes: calls,
    get exitCode() {
      return exitCode;
    },
    get exception() {
      return exception;
    },
    registry,
    settled,
    why(object) {
      const named = nameOf(object);
      return memory?.why(named) ?? `Nothing is known of ${named.resource} ${named.name}.`;
    },
    expectQuiescent: (quiescence) => rest.expect(quiescence),
    expectIdempotent: expectAgain,
    async eventually(assertions, { timeout: patience } = {}) {
      try {
        return await eventually(assertions, { clock, timeout: patience, settled });
      } catch (error) {
        throw explained(error, rest.objects, whyOf);
      }
    },
    [Symbol.asyncDispose]: stop,
  };
}

function plainPrinter(write: (text: string) => void): Logger {
  const at =
    (level: string) =>
    (message: string): void =>
      write(`[${level}] ${message}\n`);
  const printer: Logger = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => printer,
  };
  return printer;
}
