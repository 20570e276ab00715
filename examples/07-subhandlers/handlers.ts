import * as kopf from 'kopf-ts';

interface Items {
  readonly spec: { readonly items: readonly string[] };
}

// As many things to do as there are items: each is retried, and remembered as done, on its own.
kopf.on.create('kopfexamples', async function createItems({ spec }: kopf.Change<Items>) {
  for (const item of spec.items) {
    kopf.subhandler(item, async ({ retry, logger }) => {
      if (item === 'slow' && retry === 0) throw new kopf.TemporaryError(`${item} is not ready yet.`, { delay: 1 });
      logger.info(`Made ${item}.`);
      return { made: true };
    });
  }
});

// All at once, and in the middle of the function: what follows is reached only when all of them are done.
kopf.on.update('kopfexamples', { field: 'spec.items' }, async function syncItems({ old = [], new: now = [], logger }) {
  const added = now.filter((item: string) => !old.includes(item));
  const removed = old.filter((item: string) => !now.includes(item));
  await kopf.execute({
    fns: Object.fromEntries([
      ...added.map((item: string) => [item, () => logger.info(`Made ${item}.`)]),
      ...removed.map((item: string) => [item, () => logger.info(`Removed ${item}.`)]),
    ]),
  });
  logger.info(`In sync: ${now.join(', ')}.`);
});
