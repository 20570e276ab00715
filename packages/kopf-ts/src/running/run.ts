/** An operator that owns its process: signals stop it, and the exit code reports how it ended. */
import type { Clock, Logger, Seconds, Settings } from '@kopf-ts/core';
import { childController, describeError, isTold } from '@kopf-ts/core/engine';
import { type Operator, systemClock } from '@kopf-ts/reactor';
import { defaultSettings } from '../defaults.js';
import { defaultLogger } from '../logging/default-logger.js';
import { surviveLostOutput } from '../logging/lost-streams.js';
import { operator } from '../operator.js';
import type { OperatorOptions } from '../options.js';
import { codeOfSignal, type Host, processHost, type StopSignal } from './process-host.js';

/**
 * Runs an operator until SIGINT or SIGTERM, until its own signal aborts, or until it fails. Resolves with the exit
 * code, which is also set for the process: 0 if it was stopped, 1 if it failed or could not be stopped in time.
 * A second signal ends the process at once, with the code of that signal.
 *
 * The operator owns the process: if something else keeps it alive, it is ended shortly after the operator.
 * For several operators, or operators beside other work, use `operator()`.
 *
 * ```ts
 * kopf.on.create('kopfexamples', ({ name, logger }) => logger.info(`Hello, ${name}!`));
 * await kopf.run({ clusterwide: true, liveness: 'http://0.0.0.0:8080/healthz' });
 * ```
 */
export function run(options: OperatorOptions = {}): Promise<number> {
  const { settings = defaultSettings(), clock = systemClock, logger = defaultLogger() } = options;
  surviveLostOutput();
  const start = (signal: AbortSignal): Operator => operator({ ...options, settings, clock, logger, signal });
  return runIn(processHost(), start, { settings, clock, logger, signal: options.signal });
}

export interface RunInOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Stops the operator as a signal of the process does. */
  readonly signal?: AbortSignal | undefined;
}

/** The operator stops itself in time unless something is really wrong. How long to wait beyond that. */
const FUSE_MARGIN: Seconds = 1;

/** How long a process may need to notice that it has nothing more to do. */
const EXIT_GRACE: Seconds = 2;

/** The same with a given process and operator. */
export async function runIn(
  host: Host,
  start: (signal: AbortSignal) => Operator,
  { settings, clock, logger, signal }: RunInOptions,
): Promise<number> {
  const stopping = childController(signal);
  const ended = new AbortController();
  const forced = forcedEnd(host);
  let first: StopSignal | undefined;

  const onSignal = (name: StopSignal): void => {
    if (first !== undefined) {
      logger.warn(`Signal ${name} is received again. Exiting at once.`);
      forced.end(codeOfSignal(name));
      return;
    }
    first = name;
    // The operator itself logs that the signal was received, and what it does about it.
    stopping.abort(name);
    void burnFuse();
  };

  const burnFuse = async (): Promise<void> => {
    // Handlers may change the settings while the operator runs, so they are read only now.
    const timeout = settings.process.ultimateExitingTimeout;
    if (timeout === undefined) return;
    await clock.sleep(timeout + FUSE_MARGIN, { wakeup: ended.signal });
    if (ended.signal.aborted) return;
    logger.error(
      `The operator did not stop within ${timeout} seconds; forcing the process to exit. ${waitedFor(host)}`,
    );
    forced.end(1);
  };

  if (!host.hasSignals) logger.warn('OS signals are ignored: the operator does not run in the main thread.');
  const forgetSignals = host.hasSignals ? host.onSignal(onSignal) : () => {};
  // An idle operator holds nothing that keeps the process alive, but it still waits for work.
  const release = host.hold();
  try {
    const code = await Promise.race([outcomeOf(() => start(stopping.signal), logger), forced.code]);
    host.setExitCode(code);
    host.later(EXIT_GRACE, () => {
      logger.debug(`The operator has ended, but the process has not; forcing it to exit. ${waitedFor(host)}`);
      host.exit(code);
    });
    return code;
  } finally {
    ended.abort();
    stopping.dispose();
    forgetSignals();
    release();
  }
}

async function outcomeOf(start: () => Operator, logger: Logger): Promise<number> {
  try {
    await start().done;
    return 0;
  } catch (error) {
    // A running operator logs its failures itself. Mistakes in the options are not logged yet, and need no stack.
    if (!isTold(error)) logger.error(`The operator failed: ${describeError(error)}`);
    return 1;
  }
}

/** Real processes end at once; others must be told that it is over. */
function forcedEnd(host: Host): { end(code: number): void; readonly code: Promise<number> } {
  let resolve = (_code: number): void => {};
  const code = new Promise<number>((onResolve) => {
    resolve = onResolve;
  });
  return {
    code,
    end(code) {
      host.exit(code);
      resolve(code);
    },
  };
}

function waitedFor(host: Host): string {
  const counts = new Map<string, number>();
  for (const name of host.pending()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = [...counts].map(([name, count]) => (count === 1 ? name : `${name} (${count})`));
  return names.length > 0 ? `Still pending: ${names.join(', ')}.` : 'Nothing is pending.';
}
