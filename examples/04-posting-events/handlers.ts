import * as kopf from 'kopf-ts';

kopf.on.create('kopfexamples', function announce({ body, spec }) {
  kopf.info(body, { reason: 'Greeting', message: 'The object is seen.' });
  kopf.warn(body, { reason: 'Doubt', message: `The field is ${spec.field}, which is unusual.` });
  kopf.event(body, { type: 'Normal', reason: 'Anything', message: 'With a type of your choice.' });

  try {
    JSON.parse('{ this is not JSON');
  } catch (error) {
    kopf.exception(body, { reason: 'Parsing', message: 'It went wrong, and life goes on:', error });
  }
});
