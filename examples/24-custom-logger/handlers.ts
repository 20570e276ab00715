import * as kopf from 'kopf-ts';

kopf.on.create('kopfexamples', function greet({ name, spec, logger }) {
  // The logger of a handler knows the object already; the rest is up to you.
  logger.info(`Hello, ${name}!`, { field: spec.field, items: spec.items?.length });
  logger.debug('Nobody sees this, unless asked for.');
});

kopf.on.create('kopfexamples', { errors: 'permanent' }, function fail() {
  throw new Error('This is to be seen with its stack.');
});
