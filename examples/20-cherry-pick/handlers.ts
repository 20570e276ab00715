import { createRegistry, info } from '@kopf-ts/core';

export const registry = createRegistry();

registry.on.create('kopfexamples', function greet({ name, body, patch }) {
  patch.status['greeting'] = `Hello, ${name}!`;
  info(body, { reason: 'Greeted', message: 'Politely.' });
});

registry.on.delete('kopfexamples', function part({ name, logger }) {
  logger.info(`Farewell, ${name}!`);
});
