/** A whole process with operators in it, for the tests of what becomes of its errors. Prints what it sees, as JSON. */
import { settings as defaultSettings, type Logger } from '@kopf-ts/core';
import { runInContext } from '@kopf-ts/core/engine';
import { systemClock } from '../../src/running/clock.js';
import { strayErrors } from '../../src/running/stray.js';
import { type Operator, supervise } from '../../src/running/supervisor.js';
import { callOf } from './calls.js';

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

const logger: Logger = {
  debug: () => {},
  info: () => {},
  warn: (message) => print({ warn: message }),
  error: (message) => print({ error: message }),
  child: () => logger,
};

/** An operator that does nothing but listening for stray errors, and the way to be in a handler of it. */
function start(onStray: 'exit' | 'log'): { operator: Operator; inHandler: (id: string, fn: () => void) => void } {
  const settings = defaultSettings({ process: { onStray } });
  const idle = { name: 'idle', run: (signal: AbortSignal) => systemClock.sleep(3600, { signal }).then(() => {}) };
  const operator = supervise(
    {
      lifelong: [strayErrors({ settings, logger }).service],
      startup: async () => {},
      underlying: [],
      services: [idle],
      cleanup: async () => print({ cleanup: true }),
    },
    { settings, logger, clock: systemClock },
  );
  const inHandler = (id: string, fn: () => void): void => runInContext({ settings, ...callOf(id, 'obj1', logger) }, fn);
  return { operator, inHandler };
}

/** All the ways in which a handler can leave an error behind. */
const WAYS: Readonly<Record<string, () => void>> = {
  'a floating call': () =>
    void (async () => {
      await systemClock.sleep(0.001);
      throw new Error('late');
    })(),
  'a floating rejection': () => void Promise.reject(new Error('now')),
  'a rejection with a text': () => void Promise.reject('text'),
  'a promise rejected by a timer': () =>
    void new Promise((_resolve, reject) => setTimeout(() => reject(new Error('promised')), 1)),
  'a timer': () =>
    void setTimeout(() => {
      throw new Error('timer');
    }, 1),
  'an immediate': () =>
    void setImmediate(() => {
      throw new Error('immediate');
    }),
  'a tick': () =>
    void process.nextTick(() => {
      throw new Error('tick');
    }),
};

const SCENARIOS: Readonly<Record<string, () => Promise<void>>> = {
  async log() {
    const [one, two] = [start('log'), start('log')];
    await Promise.all([one.operator.ready, two.operator.ready]);
    for (const [way, fn] of Object.entries(WAYS)) one.inHandler(way, fn);
    await systemClock.sleep(0.1);
    await Promise.all([one.operator.stop(), two.operator.stop()]);
  },
  async exit() {
    const [one, two] = [start('exit'), start('exit')];
    await Promise.all([one.operator.ready, two.operator.ready]);
    const floating = WAYS['a floating call'] as () => void;
    one.inHandler('guilty', floating);
    await one.operator.done.catch((error: Error) => {
      print({ done: error.name, cause: (error.cause as Error).message });
      process.exitCode = 1;
    });
    await two.operator.stop();
    print({ listeners: process.listenerCount('unhandledRejection') });
  },
  async foreignRejection() {
    const operators = [start('log'), start('log')];
    await Promise.all(operators.map(({ operator }) => operator.ready));
    void Promise.reject(new Error('of nobody'));
    await systemClock.sleep(0.05);
    await Promise.all(operators.map(({ operator }) => operator.stop()));
  },
  async foreignException() {
    const operators = [start('log'), start('log')];
    await Promise.all(operators.map(({ operator }) => operator.ready));
    setImmediate(() => {
      throw new Error('of nobody');
    });
    await systemClock.sleep(0.05);
    await Promise.all(operators.map(({ operator }) => operator.stop()));
  },
  async listenedByOthers() {
    process.on('unhandledRejection', (error: Error) => print({ other: error.message }));
    process.on('uncaughtException', (error: Error) => print({ other: error.message }));
    const { operator, inHandler } = start('log');
    await operator.ready;
    void Promise.reject(new Error('rejection of nobody'));
    setImmediate(() => {
      throw new Error('exception of nobody');
    });
    inHandler('ours', WAYS['a floating rejection'] as () => void);
    await systemClock.sleep(0.05);
    await operator.stop();
  },
};

await SCENARIOS[process.argv[2] ?? '']?.();
