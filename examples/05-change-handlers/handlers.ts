import * as kopf from 'kopf-ts';

// Several handlers for one and the same thing: each is called, and each succeeds or fails on its own.
kopf.on.create('kopfexamples', function firstSteps({ name, logger }) {
  logger.info(`${name} is created.`);
});

kopf.on.create('kopfexamples', function registration({ uid }) {
  return { number: uid.slice(0, 8) };
});

// One function for several things. `resume` is for objects that were handled by an earlier run of the operator.
kopf.on.create('kopfexamples', ensureCache);
kopf.on.resume('kopfexamples', ensureCache);
function ensureCache({ memo, reason, logger }: kopf.Change) {
  memo.cache ??= new Map();
  logger.info(`The cache is there, because of: ${reason}.`);
}

kopf.on.update('kopfexamples', function follow({ diff, old, new: now, logger }) {
  for (const [operation, field, before, after] of diff) {
    logger.info(`${operation} of ${field.join('.')}: ${before} → ${after}`);
  }
  logger.debug('As a whole.', { old, now });
});

// Only for what is under that field; the diff is relative to it.
kopf.on.field('kopfexamples', { field: 'spec.items' }, function counting({ new: items, logger }) {
  logger.info(`There are ${items?.length ?? 0} items now.`);
});

// The object is not gone until this is done.
kopf.on.delete('kopfexamples', { retries: 3 }, function farewell({ name, logger }) {
  logger.info(`${name} is let go.`);
});
