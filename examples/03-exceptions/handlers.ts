import * as kopf from 'kopf-ts';

class NotYourFault extends Error {}

// It will never work: no more attempts.
kopf.on.create('kopfexamples', function hopeless({ spec }) {
  if (spec.size === undefined) throw new kopf.PermanentError('There is no size, and nobody can guess it.');
});

// It will work later: the handler itself knows when to try again.
kopf.on.create('kopfexamples', function impatient({ retry }) {
  if (retry < 3) throw new kopf.TemporaryError(`Attempt ${retry + 1} is too early.`, { delay: 1 });
  return { attempts: retry + 1 };
});

// Any other error is taken for a temporary one: here, 3 attempts are made, with 1 second in between.
kopf.on.create('kopfexamples', { retries: 3, backoff: 1 }, function unlucky() {
  throw new NotYourFault('Something is wrong with the network.');
});

// Unless it is declared to be permanent. `errors: 'ignored'` would take it for a success.
kopf.on.create('kopfexamples', { errors: 'permanent' }, function strict() {
  throw new NotYourFault('Once is enough.');
});

// At most so many seconds for all attempts together.
kopf.on.create('kopfexamples', { timeout: 4, backoff: 1 }, function hasty({ runtime }) {
  throw new Error(`Not done in ${Math.floor(runtime)} seconds.`);
});
