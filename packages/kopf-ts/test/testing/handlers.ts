/** As users write them: declared in the registry of the process. */
import * as kopf from 'kopf-ts';

let created = 0;

kopf.on.create('kopfexamples', function greet({ name, patch }) {
  created += 1;
  patch.status['greeting'] = `Hello, ${name}!`;
  return { created };
});

kopf.on.update('kopfexamples', function grumble({ retry }) {
  if (retry === 0) throw new kopf.TemporaryError('not now', { delay: 10 });
  throw new kopf.PermanentError('never');
});
