/**
 * The operator to be measured. By the `WORKLOAD`, it
 *
 * - `create`: returns `{ ok: true }` from a handler of creation, so that it is put into the status;
 * - `events`: prints `SEEN moment` when its handler of events is called for as many times as there are `OBJECTS`;
 * - `reconcile`: makes a config map for each object, if there is none, and puts `{ ok: true }` into its status;
 * - `update`: prints `UPDATED name moment` when the handler of updates is called.
 *
 * With `OPTIMIZED=memory`, it is the process that `kopf run` makes of it; otherwise, a program of its own.
 * With `OBSERVED=all`, an observer is told all facts, and counts them; prints `FACTS count` on SIGUSR2.
 * With `METERED=yes`, it counts metrics, though nobody asks for them.
 * With `JOURNALED=yes`, it keeps a journal, though nobody asks why.
 * With `TRACED=yes`, it makes traces by OpenTelemetry, of which there is no SDK.
 *
 * It prints `READY` when it is at work; and on SIGUSR2, `HEAP bytes` without garbage. The moments are milliseconds of the
 * monotonic clock.
 */
import { createRegistry, type Logger, type Observer } from '@kopf-ts/core';
import { operator, otel } from 'kopf-ts';
// oxlint-disable-next-line eslint/no-restricted-imports -- No public name; and it has to be the very same.
import { optimizeForMemory } from '../../../packages/kopf-ts/src/cli/optimizing.js';

const { WORKLOAD, OBJECTS, OBSERVED, METERED, JOURNALED, TRACED, OPTIMIZED } = process.env;
if (OPTIMIZED === 'memory') optimizeForMemory();
const now = (): number => Number(process.hrtime.bigint()) / 1e6;
const registry = createRegistry();
if (WORKLOAD === 'events') {
  let calls = 0;
  registry.on.event('kopfexamples', async () => {
    if (++calls === Number(OBJECTS)) console.log(`SEEN ${now()}`);
  });
} else if (WORKLOAD === 'reconcile') {
  registry.on.reconcile('kopfexamples', { owns: ['configmaps'] }, async ({ name, body, children, api, patch }) => {
    if (children('configmaps').length === 0) {
      await api('configmaps').create({ metadata: { name }, data: { of: name } }, { owner: body });
    }
    patch.status.create_fn = { ok: true };
  });
} else {
  registry.on.create('kopfexamples', { id: 'create_fn' }, async () => ({ ok: true }));
}
if (WORKLOAD === 'update') {
  registry.on.update('kopfexamples', { id: 'update_fn' }, async ({ name }) => {
    console.log(`UPDATED ${name} ${now()}`);
  });
}

/** The output is for the measurements; in production, one would not log each step either. */
const errorsOnly: Logger = {
  debug() {},
  info() {},
  warn: (message) => console.error(message),
  error: (message, fields) => console.error(message, fields?.error),
  isEnabled: (level) => level === 'warn' || level === 'error',
  child: () => errorsOnly,
};

let facts = 0;
const counting: Observer = {
  wants: 'all',
  observe() {
    facts += 1;
  },
};
const observers = OBSERVED === 'all' ? [counting] : [];

const metrics = METERED === 'yes' ? 'http://127.0.0.1:0/metrics' : undefined;
const admin = JOURNALED === 'yes' ? 'http://127.0.0.1:0' : undefined;

const tracing =
  TRACED === 'yes' ? otel.openTelemetry({ api: await import('@opentelemetry/api'), onObjects: true }) : undefined;

const running = operator({
  registry,
  clusterwide: true,
  standalone: true,
  logger: errorsOnly,
  observers,
  metrics,
  admin,
  tracing,
});
process.on('SIGTERM', () => void running.stop());
process.on('SIGUSR2', () => {
  (globalThis as { gc?: () => void }).gc?.();
  if (observers.length > 0) console.log(`FACTS ${facts}`);
  console.log(`HEAP ${process.memoryUsage().heapUsed}`);
});
await running.ready;
console.log('READY');
await running.done;
