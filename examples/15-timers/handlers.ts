import * as kopf from 'kopf-ts';

// Every second: counted from the end of one call to the beginning of the next.
kopf.timer('kopfexamples', { interval: 1 }, function tick({ memo, patch }) {
  memo.ticks = (memo.ticks ?? 0) + 1;
  patch.status.ticks = memo.ticks;
});

// From beginning to beginning, however long a call takes; but for the first time, a bit later.
kopf.timer('kopfexamples', { interval: 2, sharp: true, initialDelay: 1 }, async function tock({ logger, runtime }) {
  logger.info(`Tock, for ${Math.round(runtime)} s.`);
});

// Only when nobody has changed the object for a while: it has settled down.
kopf.timer('kopfexamples', { interval: 1, idle: 3 }, function tidyUp({ name, spec, logger }) {
  logger.info(`${name} is quiet with ${spec.field}.`);
});

// By the clock on the wall, in the notation of cron: here, with seconds in front. If it was due while the operator was down, it
// is called once when the operator is back, for all that it has missed. In real life, rather '30 2 * * MON-FRI'.
kopf.timer(
  'kopfexamples',
  { schedule: '*/5 * * * * *', timeZone: 'Europe/Berlin', missed: 'once' },
  function chime({ name, logger }) {
    logger.info(`${name} hears the chime.`);
  },
);

// With a handler of changes, the operator remembers the last state of the objects, and so can tell changes by people from
// its own ones, like the ticks. Without any, each event is a change to the timers that wait for quiet.
kopf.on.update('kopfexamples', function changed({ name, logger }) {
  logger.info(`${name} is changed.`);
});
