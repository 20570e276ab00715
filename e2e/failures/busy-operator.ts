/**
 * A program with an operator whose only handler is busy until it is told to go on. It says in its lines: what was
 * seen in the stream, what the handler was called with, and, when asked, how much memory it takes.
 */
import { createInterface } from 'node:readline';
import { type ConnectionInfo, createRegistry, run } from 'kopf-ts';
import { collectGarbage } from './garbage.js';

export interface BusyOperatorOptions {
  readonly connection: ConnectionInfo;
  readonly selector: string;
  readonly namespace: string;
}

const { connection, selector, namespace } = JSON.parse(process.argv[2] ?? '{}') as BusyOperatorOptions;
const say = (text: string): void => void process.stdout.write(`${text}\n`);
let release: () => void = () => {};
const released = new Promise<void>((resolve) => {
  release = resolve;
});

const registry = createRegistry();
registry.on.login(function login() {
  return connection;
});
// Indexed is whatever comes, at once, no matter how busy the others are.
registry.index(selector, function rounds({ spec }) {
  say(`seen ${spec['round']}`);
});
registry.on.create(selector, { id: 'busy' }, handle);
registry.on.update(selector, { id: 'busy' }, handle);

async function handle({ spec }: { readonly spec: Readonly<Record<string, unknown>> }): Promise<void> {
  say(`called ${spec['round']}`);
  await released;
}

createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'release') release();
  else void measure(line);
});

async function measure(title: string): Promise<void> {
  await collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  say(`${title} ${heapUsed + external} ${rss}`);
}

await run({ registry, namespaces: [namespace], standalone: true });
process.stdin.destroy();
