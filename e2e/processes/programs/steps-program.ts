/** An operator whose handler has five steps, each of them something done in the world outside: a request to a service. */
import { type ConnectionInfo, createRegistry, run, step } from 'kopf-ts';

export interface StepsProgramOptions {
  readonly connection: ConnectionInfo;
  readonly selector: string;
  readonly namespace: string;
  /** Where the service is. */
  readonly service: string;
}

export const STEPS = ['network', 'disk', 'machine', 'address', 'name'] as const;

const { connection, selector, namespace, service } = JSON.parse(process.argv[2] ?? '{}') as StepsProgramOptions;
const registry = createRegistry();
registry.on.login(function login() {
  return connection;
});
registry.on.startup(() => void process.stdout.write('started\n'));
registry.on.create(selector, async function build({ name }) {
  const made: string[] = [];
  for (const what of STEPS) {
    const { id } = await step(what, { backoff: 0.1 }, async ({ key, signal }) => {
      const answer = await fetch(`${service}/${name}/${what}/${key}`, { method: 'POST', signal });
      return (await answer.json()) as { id: string };
    });
    made.push(id);
    // Here, the step is done, and the next one has not begun.
    await fetch(`${service}/${name}/${what}/done`, { method: 'POST' });
  }
  return made.join(' ');
});
await run({ registry, namespaces: [namespace], standalone: true });
