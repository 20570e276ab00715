import * as kopf from 'kopf-ts';

kopf.on.startup(({ settings }) => {
  // How soon an operator that has died without a word is not waited for any more.
  settings.peering.lifetime = 10;
});

kopf.on.create('kopfexamples', function take({ name, logger }) {
  logger.info(`${name} is mine.`);
});
