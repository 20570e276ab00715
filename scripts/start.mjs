/**
 * The demo: a Kubernetes API server and an operator in this process, and a story that happens to them.
 * With `--once`, it ends when the story is told, with the exit code 0 if it went as it should;
 * otherwise, it goes on until Ctrl-C, so that one can play with it from another terminal.
 */
import { parseArgs, styleText } from 'node:util';
import { bundled } from './demo/bundling.mjs';
import { websiteHandlers } from './demo/websites.mjs';

const HELP = `Usage: npm start [-- --once]

Starts an API server and a small operator in one process, and shows what the operator does.
  --once   end when the story is told, instead of waiting for Ctrl-C
  --help   show this`;

/** How long any step of the story may take: it takes a second or two. */
const PATIENCE_MS = 30_000;

async function main() {
  const options = parsed(process.argv.slice(2));
  if (options === undefined) return 2;
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  const { kopf, localCluster } = await bundled();
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => stopping.abort(name));

  const cluster = await localCluster({ tls: true });
  try {
    await cluster.define({
      group: 'example.com',
      plural: 'websites',
      kind: 'Website',
      singular: 'website',
      subresources: ['status'],
    });
    const kubeconfig = await cluster.kubeconfigFile();
    tell('A Kubernetes API server runs in this process, with a kind of objects of our own: websites.');
    tell(`It is at ${cluster.url}, and its kubeconfig is ${kubeconfig}`);

    const operator = kopf.operator({
      registry: websiteHandlers(kopf),
      client: cluster.client,
      clusterwide: true,
      standalone: true,
      logger: kopf.consoleLogger({ format: 'plain', stream: indented(process.stdout) }),
    });
    try {
      await operator.ready;
      tell('An operator for websites runs here, too: scripts/demo/websites.mjs. What it says is indented.\n');
      await tellStory(cluster, Promise.race([aborted(stopping.signal), operator.done]));
      if (!options.once && !stopping.signal.aborted) await keepGoing(cluster, kubeconfig, stopping.signal, operator);
    } finally {
      await operator.stop();
    }
  } finally {
    await cluster.stop();
  }
  return 0;
}

/** Each step is something that a user does; the next one comes when the operator is done with it. */
async function tellStory(cluster, ended) {
  const seen = (what, condition) => until(what, condition, ended);
  const site = () => cluster.get('websites/default/first');
  const page = () => cluster.get('configmaps/default/first-page')?.data?.['index.html'] ?? '';

  tell('You create the website "first":');
  await cluster.create(website('first', { title: 'Hello', text: 'Nice to see you.' }));
  await seen('the page of the new website', () => page().includes('Hello') && site()?.status?.publish);
  tell(`Now there is a page, and the website knows it: status.publish = ${JSON.stringify(site().status.publish)}.\n`);

  tell('You change its title and remove its text:');
  await cluster.patch('websites/default/first', { spec: { title: 'Hello, world', text: null } });
  await seen('the change of the page', () => page().includes('Hello, world'));
  tell(`The page is ${page()} now.\n`);

  tell('You wait a little, and the timer goes on:');
  const looks = site()?.status?.looks ?? 0;
  await seen('the timer', () => (site()?.status?.looks ?? 0) > looks);
  console.log();

  tell('You delete the website:');
  await cluster.delete('websites/default/first');
  await seen('the website to be gone, and its page', () => site() === undefined && page() === '');
  tell('The website is gone; and its page, since the website was its owner, as well. That is the story.\n');
}

async function keepGoing(cluster, kubeconfig, signal, operator) {
  await cluster.create(website('second', { title: 'Your turn' }));
  tell('There is a second website now, for you to play with. If you have kubectl, in another terminal:\n');
  for (const command of [
    `export KUBECONFIG=${kubeconfig}`,
    `kubectl get websites,configmaps`,
    `kubectl patch website second --type=merge -p '{"spec":{"title":"My turn"}}'`,
    `kubectl delete website second`,
  ]) {
    console.log(`    ${styleText('cyan', command, { stream: process.stdout })}`);
  }
  console.log();
  tell('Ctrl-C ends it all.\n');
  await Promise.race([aborted(signal), operator.done]);
  tell('Stopping.');
}

function website(name, spec) {
  return { apiVersion: 'example.com/v1', kind: 'Website', metadata: { name, namespace: 'default' }, spec };
}

/** Waits for the condition; fails if it takes too long. Ends early, as if all were well, when everything ends. */
async function until(what, condition, ended) {
  let hasEnded = false;
  const end = ended.then(() => {
    hasEnded = true;
  });
  for (const deadline = performance.now() + PATIENCE_MS; !hasEnded && !condition(); ) {
    if (performance.now() > deadline) throw new Error(`Waited in vain for ${what}.`);
    await Promise.race([end, new Promise((resolve) => setTimeout(resolve, 20))]);
  }
  if (hasEnded) throw new Interrupted();
}

/** Ctrl-C in the middle of the story. */
class Interrupted extends Error {}

function aborted(signal) {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function tell(text) {
  console.log(text);
}

function indented(stream) {
  return { write: (text) => stream.write(text.replace(/^(?=.)/gm, '    │ ')) };
}

function parsed(args) {
  try {
    return parseArgs({ args, options: { once: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } }).values;
  } catch (error) {
    console.error(`${error.message}\n\n${HELP}`);
    return undefined;
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  if (error instanceof Interrupted) tell('Stopped.');
  else {
    console.error(`The demo has failed: ${error.message}`);
    process.exitCode = 1;
  }
}
