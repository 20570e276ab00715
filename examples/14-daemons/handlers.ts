import * as kopf from 'kopf-ts';

// The gentle way: looks at `stopped`, and leaves when asked to. `sleep()` wakes up by itself then.
kopf.daemon('kopfexamples', async function polite({ spec, patch, stopped, logger }) {
  let beats = 0;
  while (!stopped.aborted) {
    // `spec` is always the newest one, also in a daemon that runs for weeks.
    beats += 1;
    logger.info(`Beat ${beats} with ${spec.field}.`);
    await kopf.sleep(1, stopped);
  }
  // Patches are sent when the daemon ends. To change the object on the way, use `client`; or a timer.
  patch.status.beats = beats;
  logger.info(`Leaving after ${beats} beats: ${[...(stopped.reason as kopf.DaemonStop).reasons][0]}.`);
});

// The careless way: never looks. It has 1 second to notice, then `signal` breaks whatever it waits for; and if it
// does not end in 5 seconds after that, it is left alone with a warning.
const patience = { cancellationBackoff: 1, cancellationTimeout: 5 };
kopf.daemon('kopfexamples', patience, async function careless({ signal, logger }) {
  try {
    for (;;) await kopf.sleep(1000, signal);
  } finally {
    logger.info('Broken off.');
  }
});

// What a daemon throws is treated as in other handlers: it is started again, after a pause.
kopf.daemon('kopfexamples', { initialDelay: 1, backoff: 1 }, async function fragile({ retry, stopped, logger }) {
  if (retry < 2) throw new Error(`Fallen for the ${retry + 1}. time.`);
  logger.info('Standing.');
  while (!stopped.aborted) await kopf.sleep(60, stopped);
});
