import * as kopf from 'kopf-ts';

export const registry = kopf.createRegistry();

registry.on.startup(({ settings }) => {
  // Each of several operators serves its own shard. The server sends it nothing else.
  settings.watching.selectors = { kopfexamples: { labels: { shard: process.env['SHARD'] ?? 'a' } } };
});

registry.on.create('kopfexamples', function greet({ name, logger }) {
  logger.info(`Hello, ${name}!`);
});

// As long as the object is in this shard.
registry.daemon('kopfexamples', async function guard({ name, stopped, logger }) {
  while (!stopped.aborted) await kopf.sleep(60, stopped);
  logger.info(`Leaving ${name}.`);
});

// All handlers of this kind want the same label: so the server is asked for nothing else, without being told so.
registry.on.update('configmaps', { labels: { shard: 'a' } }, function note({ name, logger }) {
  logger.info(`${name} has changed.`);
});
