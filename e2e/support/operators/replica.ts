/** A program: one of several operators that agree on who of them works. Its argument tells in JSON which of them. */
import { setTimeout as pause } from 'node:timers/promises';
import { type ConnectionInfo, createRegistry, peering, run, settings } from 'kopf-ts';

export interface ReplicaOptions {
  readonly connection: ConnectionInfo;
  readonly selector: string;
  readonly namespace: string;
  /** Who it is for the peers and for the counter. */
  readonly identity: string;
  /** Where the handlers tell of themselves. */
  readonly counter?: string;
  /** By priorities. */
  readonly peers?: { readonly name: string; readonly priority: number; readonly lifetime: number };
  /** By a lease. */
  readonly lease?: peering.LeasePeeringOptions;
  /** How long handlers of creation take. */
  readonly takes?: number;
  /** Writes to each object that often. */
  readonly tickEvery?: number;
}

const options = JSON.parse(process.argv[2] ?? '{}') as ReplicaOptions;
const { connection, selector, namespace, identity, counter, peers, lease, takes, tickEvery } = options;

async function tell(what: string): Promise<void> {
  if (counter === undefined) return;
  await fetch(`${counter}/${encodeURIComponent(identity)}/${encodeURIComponent(what)}`, { method: 'POST' });
}

const registry = createRegistry();
registry.on.login(function login() {
  return connection;
});
registry.on.create(selector, async function made({ name }) {
  await tell(`create ${name}`);
  await pause((takes ?? 0) * 1000);
});
registry.on.update(selector, { field: 'spec' }, async function changed({ name, new: spec, patch }) {
  await tell(`update ${name} ${JSON.stringify(spec)}`);
  patch.status['handledBy'] = identity;
});
registry.on.resume(selector, async function noticed({ name }) {
  await tell(`resume ${name} by ${identity}`);
});
if (tickEvery !== undefined) {
  let ticks = 0;
  registry.timer(selector, { interval: tickEvery }, function tick({ patch }) {
    ticks += 1;
    patch.status['tick'] = `${identity} ${ticks}`;
  });
}

await run({
  registry,
  namespaces: [namespace],
  settings: settings({ peering: { lifetime: peers?.lifetime ?? 60 } }),
  identity,
  priority: peers?.priority,
  peeringName: peers?.name,
  peering: lease && peering.leasePeering({ ...lease, identity }),
});
