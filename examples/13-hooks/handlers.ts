import * as kopf from 'kopf-ts';

// Before anything else. The operator does not begin until all of these have succeeded.
kopf.on.startup({ backoff: 1 }, async function warmUp({ retry, memo, logger }) {
  if (retry < 2) throw new kopf.TemporaryError('The database is not there yet.', { delay: 1 });
  memo.connections = 1;
  logger.info('The database is there.');
});

kopf.on.startup(({ settings }) => {
  settings.posting.enabled = false;
  settings.execution.defaultBackoff = 10;
});

// Instead of the usual logins: asked at the start, when the credentials expire, and when they are refused.
kopf.on.login(async function logIn({ logger }) {
  const connection = await kopf.client.loginWithKubeconfig();
  if (connection === undefined) throw new kopf.PermanentError('There is no kubeconfig.');
  logger.info('Logged in, for 30 seconds.');
  return { ...connection, expiration: new Date(Date.now() + 30_000) };
});

// What is told by the liveness endpoint, besides of how the streams are doing.
kopf.on.probe(function connections({ memo }) {
  return memo.connections;
});
kopf.on.probe(function now() {
  return new Date().toISOString();
});

kopf.on.create('kopfexamples', function create({ memo }) {
  return { connections: memo.connections };
});

// After everything else: all handlers have ended, and nobody is logged in any more.
kopf.on.cleanup(function coolDown({ memo, logger }) {
  memo.connections = 0;
  logger.info('All connections are closed.');
});
