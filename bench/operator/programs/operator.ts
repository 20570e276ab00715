/**
 * The operator to be measured. By the `WORKLOAD`, it
 *
 * - `create`: returns `{ ok: true }` from a handler of creation, so that it is put into the status;
 * - `events`: prints `SEEN name` for each object;
 * - `update`: prints `UPDATED name time` when the handler of updates is called.
 *
 * It prints `READY` when it is at work.
 */
import { createRegistry, type Logger } from '@kopf-ts/core';
import { operator } from 'kopf-ts';

const { WORKLOAD } = process.env;
const registry = createRegistry();
if (WORKLOAD === 'events') {
  registry.on.event('kopfexamples', async ({ name }) => {
    console.log(`SEEN ${name}`);
  });
} else {
  registry.on.create('kopfexamples', { id: 'create_fn' }, async () => ({ ok: true }));
}
if (WORKLOAD === 'update') {
  registry.on.update('kopfexamples', { id: 'update_fn' }, async ({ name }) => {
    console.log(`UPDATED ${name} ${Date.now()}`);
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

const running = operator({ registry, clusterwide: true, standalone: true, logger: errorsOnly });
process.on('SIGTERM', () => void running.stop());
await running.ready;
console.log('READY');
await running.done;
