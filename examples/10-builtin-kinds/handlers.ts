import * as kopf from 'kopf-ts';

const LIFETIME = 'example.kopf.dev/lifetime';

// Any kind of resources can be served, not only your own ones. Those of others are better filtered well.
kopf.on.create(
  'v1/pods',
  { annotations: { [LIFETIME]: kopf.PRESENT } },
  function notice({ name, annotations, logger }) {
    logger.info(`The pod ${name} has ${annotations[LIFETIME]} seconds to live.`);
  },
);

// Lives as long as the pod does; so it is stopped by itself if somebody else is faster.
kopf.daemon('v1/pods', { annotations: { [LIFETIME]: kopf.PRESENT } }, async function reap(kwargs) {
  const { namespace, name, annotations, client, stopped, logger } = kwargs;
  await kopf.sleep(Number(annotations[LIFETIME]), stopped);
  if (stopped.aborted) return;
  await client.request({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}/pods/${name}` });
  logger.info(`The pod ${name} has lived for long enough.`);
});
