import * as kopf from 'kopf-ts';

interface Site {
  readonly spec: { readonly domain?: string };
  readonly status?: { readonly network?: string; readonly address?: string };
}

// Three things in a row, each of them done once: whatever fails, and however often the operator is killed in between.
kopf.on.create('kopfexamples', async function buildSite({ name, spec, logger, patch }: kopf.Change<Site>) {
  const network = await kopf.step('network', async ({ key }) => {
    logger.info(`Ordering a network by ${key.slice(0, 8)}….`);
    return { id: `net-${key.slice(0, 8)}` };
  });

  // What comes later uses the results of what was before, as in any function.
  const machine = await kopf.step('machine', { retries: 5, backoff: { min: 1, max: 30 } }, async ({ retry }) => {
    if (retry === 0) throw new Error('There is no machine left at the moment.');
    logger.info(`Starting a machine in ${network.id}.`);
    return { address: '10.0.0.7' };
  });

  // A step that fails for good fails its handler, too; unless the handler can do without it.
  try {
    await kopf.step('domain', { errors: 'permanent' }, () => {
      if (spec.domain === undefined) throw new Error('No domain is given.');
      logger.info(`${spec.domain} is ${machine.address}.`);
    });
  } catch (error) {
    if (!(error instanceof kopf.StepError)) throw error;
    logger.info(`${name} goes without a domain.`);
  }
  patch.status.network = network.id;
  patch.status.address = machine.address;
});
