import * as kopf from 'kopf-ts';

export const registry = kopf.createRegistry();

registry.on.create('kopfexamples', function greet({ namespace, name, logger }) {
  logger.info(`Hello, ${namespace}/${name}!`);
});

// As long as the namespace has its label, and the object is there.
registry.daemon('kopfexamples', async function guard({ namespace, name, stopped, logger }) {
  logger.info(`Guarding ${namespace}/${name}.`);
  while (!stopped.aborted) await kopf.sleep(60, stopped);
  logger.info(`Leaving ${namespace}/${name}.`);
});
