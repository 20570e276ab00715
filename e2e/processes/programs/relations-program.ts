/** An operator that makes as many config maps as its objects say, and tells a service of every call for its children. */
import { type ConnectionInfo, createRegistry, run } from 'kopf-ts';

export interface RelationsProgramOptions {
  readonly connection: ConnectionInfo;
  readonly selector: string;
  readonly namespace: string;
  /** Where the service is. */
  readonly service: string;
}

const { connection, selector, namespace, service } = JSON.parse(process.argv[2] ?? '{}') as RelationsProgramOptions;
const registry = createRegistry();
registry.on.login(function login() {
  return connection;
});
registry.on.startup(() => void process.stdout.write('started\n'));
registry.on.reconcile(
  selector,
  {
    owns: ['configmaps'],
    backoff: { min: 0.1, max: 1 },
    cleanup: async ({ children, api }) => {
      for (const { metadata } of children('configmaps')) {
        await api('configmaps').delete(String(metadata?.name), { ifGone: 'ignore' });
      }
    },
  },
  async function reconcile({ name, spec, body, children, api, patch }) {
    const there = new Map(children('configmaps').map((child) => [String(child.metadata?.name), child]));
    const wanted = Array.from({ length: Number(spec.size) }, (_, n) => `${name}-${n}`);
    for (const missing of wanted.filter((one) => !there.has(one))) {
      await api('configmaps').create({ metadata: { name: missing }, data: { of: name } }, { owner: body });
    }
    for (const [one, { data }] of there) {
      if (!wanted.includes(one)) await api('configmaps').delete(one, { ifGone: 'ignore' });
      else if (data?.of !== name) await api('configmaps').patch(one, { data: { of: name } });
    }
    patch.status.size = children('configmaps').length;
  },
);
registry.on.child(selector, 'configmaps', { backoff: 0.1 }, async function told({ name, children }) {
  const seen = children().map(({ metadata, data }) => `${metadata?.name}=${data?.of}`);
  await fetch(`${service}/${name}/${seen.sort().join(',')}`, { method: 'POST' });
});
await run({ registry, namespaces: [namespace], standalone: true });
