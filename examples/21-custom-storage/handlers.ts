import * as kopf from 'kopf-ts';
import { configMapProgressStorage } from './storage.js';

kopf.on.startup(({ settings, client }) => {
  settings.persistence.progressStorage = configMapProgressStorage(client);
});

kopf.on.create('kopfexamples', function first({ logger }) {
  logger.info('The first step is done.');
});

kopf.on.create('kopfexamples', function second({ spec, logger }) {
  if (spec.ready !== true) throw new kopf.TemporaryError('Not ready yet.', { delay: 2 });
  logger.info('The second step is done.');
});
