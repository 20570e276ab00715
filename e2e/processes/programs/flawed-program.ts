/** A program with an operator and nothing else, as users write them. Its argument says what is wrong with it. */
import { createRegistry, type KubeClient, run, settings } from 'kopf-ts';

const [flaw] = process.argv.slice(2);

/** A cluster with nothing in it. */
const emptyCluster: KubeClient = {
  request: async <T>() => ({ versions: [], groups: [], resources: [], items: [], metadata: {} }) as T,
  async *stream({ signal }) {
    await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
  },
};

const registry = createRegistry();

registry.on.startup({ errors: 'permanent' }, function begin({ logger }) {
  if (flaw === 'fails-to-start') throw new Error('This is never going to work.');
  logger.info('It begins.');
});

registry.on.cleanup(async function finish({ logger }) {
  logger.info('It ends.');
  if (flaw === 'never-ends') await new Promise(() => {});
});

if (flaw === 'holds-the-process') setInterval(() => {}, 1000);

await run({
  registry,
  client: emptyCluster,
  clusterwide: true,
  standalone: true,
  settings: settings({ process: { ultimateExitingTimeout: flaw === 'never-ends' ? 600 : 5 } }),
});
