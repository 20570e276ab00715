/** Everything of the other examples in one operator: to see that nothing is in the way of anything else. */
import * as kopf from 'kopf-ts';

// The operator itself.

kopf.on.startup(function configure({ settings, memo, logger }) {
  settings.posting.loggers = true;
  settings.posting.level = 'warn';
  settings.persistence.finalizer = 'all-at-once.kopf.dev/finalizer';
  settings.persistence.progressStorage = kopf.storage.annotationsProgressStorage({ prefix: 'all-at-once.kopf.dev' });
  settings.persistence.diffbaseStorage = kopf.storage.annotationsDiffBaseStorage({ prefix: 'all-at-once.kopf.dev' });
  settings.admission.server = kopf.webhooks.webhookServer({ addr: '127.0.0.1' });
  settings.admission.managed = 'all-at-once.kopf.dev';
  memo.startedAt = Date.now();
  logger.info('Everything is configured.');
});

kopf.on.probe(function uptime({ memo }) {
  return Math.round((Date.now() - memo.startedAt) / 1000);
});

kopf.on.cleanup(function tidyUp({ logger }) {
  logger.info('Everything is over.');
});

// What is known of other objects.

const podsOfOwners = kopf.index('v1/pods', { id: 'podsOfOwners' }, ({ meta, name }) => {
  const owner = meta.ownerReferences?.find(({ kind }) => kind === 'KopfExample');
  return owner?.uid === undefined ? undefined : { [owner.uid]: name };
});

// Before objects are stored.

const checked = { labels: { 'all-at-once': 'yes' } };

kopf.on.mutate('kopfexamples', { ...checked, operations: ['CREATE'] }, function setDefaults({ spec, patch }) {
  if (spec.items === undefined) patch.spec.items = ['default'];
});

kopf.on.validate('kopfexamples', checked, function checkItems({ spec }) {
  if (spec.items?.includes('bad')) throw new kopf.AdmissionError('There are bad items.', { code: 422 });
});

// When they are.

kopf.on.create(
  'kopfexamples',
  { ...checked, retries: 5, backoff: 1 },
  async function createPod({ namespace, client, body, retry }) {
    if (retry === 0) throw new kopf.TemporaryError('On second thought…', { delay: 1 });
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {},
      spec: { containers: [{ name: 'main', image: 'busybox' }] },
    };
    kopf.adopt(pod);
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const created = await client.request<kopf.AnyObject>({ method: 'POST', path, body: pod });
    // Posted whatever the level of posting is, unlike `kopf.info()`.
    kopf.event(body, { type: 'Normal', reason: 'PodCreated', message: 'The pod is there.' });
    return { name: created.metadata?.name };
  },
);

kopf.on.create('kopfexamples', checked, async function createItems({ spec }) {
  for (const item of spec.items) {
    kopf.subhandler(item, ({ logger }) => logger.info(`Made ${item}.`));
  }
});

kopf.on.update('kopfexamples', checked, function follow({ diff, logger }) {
  logger.info(`Changed: ${diff.map(([operation, field]) => `${operation} of ${field.join('.')}`).join('; ')}.`);
});

kopf.on.field(
  'kopfexamples',
  { ...checked, field: 'spec.field', old: 'value' },
  function leaveValue({ new: now, logger }) {
    logger.warn(`The field is not "value" any more, but "${now}".`);
  },
);

kopf.on.resume('kopfexamples', checked, function recall({ logger }) {
  logger.info('Seen before.');
});

kopf.on.delete('kopfexamples', checked, function farewell({ name, logger }) {
  logger.info(`${name} is let go.`);
});

kopf.on.event('kopfexamples', checked, function count({ memo }) {
  memo.events = (memo.events ?? 0) + 1;
});

// All the time.

kopf.timer('kopfexamples', { ...checked, interval: 1 }, function survey({ uid, indices, memo, patch }) {
  const pods = [...(indices.get(podsOfOwners).get(uid) ?? [])];
  patch.status.survey = { pods: pods.length, sawEvents: memo.events > 0 };
});

kopf.daemon('kopfexamples', { ...checked, cancellationTimeout: 5 }, async function guard({ name, stopped, logger }) {
  logger.info(`${name} is guarded.`);
  while (!stopped.aborted) await kopf.sleep(60, stopped);
  logger.info(`${name} needs no guard.`);
});
