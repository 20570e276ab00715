import * as kopf from 'kopf-ts';

kopf.on.create('kopfexamples', function greet({ name, spec, logger }) {
  logger.info(`Hello, ${name}! Your field is ${spec.field}.`);
  return { said: 'hello' };
});
