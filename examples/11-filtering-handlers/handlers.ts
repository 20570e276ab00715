import * as kopf from 'kopf-ts';

// By labels and annotations: a value, any value, no value, or a function of the value.
kopf.on.create('kopfexamples', { labels: { somelabel: 'somevalue' } }, seen('with the value'));
kopf.on.create('kopfexamples', { labels: { somelabel: kopf.PRESENT } }, seen('with the label'));
kopf.on.create('kopfexamples', { labels: { somelabel: kopf.ABSENT } }, seen('without the label'));
kopf.on.create(
  'kopfexamples',
  { annotations: { someannotation: (value) => value?.startsWith('some') ?? false } },
  seen('annotated'),
);

// By anything else that is known of the object.
kopf.on.create('kopfexamples', { when: ({ spec }) => spec.items?.length > 1 }, seen('with several items'));

// Several conditions together.
kopf.on.create(
  'kopfexamples',
  { when: kopf.all([({ spec }) => spec.field !== undefined, kopf.not(({ name }) => name.startsWith('test-'))]) },
  seen('for real'),
);

// By the value of a field: as it is; or, for updates, as it was and as it has become.
kopf.on.create('kopfexamples', { field: 'spec.field', value: 'value' }, seen('with the field'));
kopf.on.update('kopfexamples', { field: 'spec.field', old: 'value', new: 'other' }, seen('from value to other'));
kopf.on.field('kopfexamples', { field: 'spec.field', new: kopf.ABSENT }, seen('without the field'));

// Runs as long as the object fits: begins and ends as labels come and go.
kopf.daemon('kopfexamples', { labels: { guarded: 'yes' } }, async function guard({ name, stopped, logger }) {
  logger.info(`${name} is guarded.`);
  while (!stopped.aborted) await kopf.sleep(60, stopped);
  logger.info(`${name} is not guarded any more.`);
});

/** Each has an id of its own, as it is a function of its own. */
function seen(how: string): (kwargs: kopf.Change) => void {
  const handler = ({ name, logger }: kopf.Change): void => logger.info(`${name} is seen ${how}.`);
  return Object.defineProperty(handler, 'name', { value: how.replaceAll(' ', '-') });
}
