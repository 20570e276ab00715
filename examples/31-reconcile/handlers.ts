import { ConfigMap } from '@kopf-ts/kinds';
import * as kopf from 'kopf-ts';

const Example = kopf.resource<{ replicas?: number }, { replicas?: number }>({
  group: 'kopf.dev',
  version: 'v1',
  plural: 'kopfexamples',
  namespaced: true,
});

// It does not ask what has happened: it looks at what should be and at what is, and does what is missing.
kopf.on.reconcile(
  Example,
  { owns: [ConfigMap], cleanup: ({ name, logger }) => logger.info(`Goodbye, ${name}.`) },
  async function reconcile({ name, spec, body, api, children, patch, reasons, logger }) {
    logger.info(`Looking at ${name}, since it is ${[...reasons].join(' and ')}.`);
    const wanted = Array.from({ length: spec.replicas ?? 2 }, (_, n) => `${name}-${n}`);
    const existing = new Map(children(ConfigMap).map((child) => [child.metadata.name, child]));
    for (const missing of wanted.filter((one) => !existing.has(one))) {
      await api(ConfigMap).create({ metadata: { name: missing }, data: { of: name } }, { owner: body });
    }
    for (const [spare] of [...existing].filter(([one]) => !wanted.includes(String(one)))) {
      await api(ConfigMap).delete(String(spare), { ifGone: 'ignore' });
    }
    for (const [own, { data }] of existing) {
      if (data?.['of'] !== name && wanted.includes(String(own)))
        await api(ConfigMap).patch(String(own), { data: { of: name } });
    }
    // What was written above is there already.
    patch.status.replicas = children(ConfigMap).length;
  },
);
