/** An operator that serves the objects with one label, with all that holds their deletion. */
import { type ConnectionInfo, createRegistry, run } from 'kopf-ts';

export interface SelectorsProgramOptions {
  readonly connection: ConnectionInfo;
  readonly selector: string;
  readonly namespace: string;
}

const { connection, selector, namespace } = JSON.parse(process.argv[2] ?? '{}') as SelectorsProgramOptions;
const registry = createRegistry();
registry.on.login(function login() {
  return connection;
});
registry.on.startup(({ settings }) => {
  settings.watching.selectors = { [selector]: { labels: { mine: 'yes' } } };
  process.stdout.write('started\n');
});
registry.on.delete(selector, function forget() {});
registry.daemon(selector, { cancellationTimeout: 1 }, async function guard({ stopped }) {
  await new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve(), { once: true }));
});
registry.on.reconcile(selector, { cleanup() {} }, function reconcile({ spec, patch }) {
  patch.status.size = spec.size;
});
await run({ registry, namespaces: [namespace], standalone: true });
