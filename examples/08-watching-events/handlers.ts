import * as kopf from 'kopf-ts';

// Whatever is seen in the cluster, as it is seen: nothing is remembered of it, and nothing is tried again.
kopf.on.event('kopfexamples', function watching({ type, name, meta, logger }) {
  logger.info(`${type ?? 'LISTED'}: ${name} of generation ${meta.generation}.`);
});

// Also for kinds that are not yours: no annotations and no finalizers are put on their objects.
kopf.on.event('v1/pods', { labels: { app: 'web' } }, function watchingPods({ type, name, status, logger }) {
  logger.info(`The pod ${name} is ${type === 'DELETED' ? 'gone' : (status.phase ?? 'new')}.`);
});

// An error is logged, and that is all: the next event is another story.
kopf.on.event('kopfexamples', function failing() {
  throw new Error('Nobody is harmed by this.');
});
