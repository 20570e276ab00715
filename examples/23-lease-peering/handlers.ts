import * as kopf from 'kopf-ts';

kopf.on.create('kopfexamples', function take({ name, logger }) {
  logger.info(`${name} is done by the leader.`);
});
