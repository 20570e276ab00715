/** So many times, a website is looked after. */
const LOOKS = 3;

/**
 * The operator of the demo: it keeps a page in a ConfigMap for each Website, and counts how often it has looked after it.
 * This is all there is to an operator; the rest of the demo only makes things happen to it.
 *
 * @param {typeof import('kopf-ts')} kopf
 */
export function websiteHandlers(kopf) {
  const registry = kopf.createRegistry();

  registry.on.create('websites', async function publish({ spec, name, namespace, client, logger }) {
    const page = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `${name}-page` }, data: pageOf(spec) };
    kopf.adopt(page); // the owner is the website being handled: the page goes when the website goes
    await client.request({ method: 'POST', path: `/api/v1/namespaces/${namespace}/configmaps`, body: page });
    logger.info(`I have made the page "${spec.title}" as the ConfigMap ${name}-page.`);
    return { page: page.metadata.name }; // goes to status.publish
  });

  registry.on.update(
    'websites',
    { field: 'spec' },
    async function republish({ spec, diff, name, namespace, client, logger }) {
      for (const [operation, field, old, now] of diff) {
        logger.info(`I see that spec.${field.join('.')} was ${told(operation)}: from ${shown(old)} to ${shown(now)}.`);
      }
      const path = `/api/v1/namespaces/${namespace}/configmaps/${name}-page`;
      const contentType = 'application/merge-patch+json';
      await client.request({ method: 'PATCH', path, contentType, body: { data: pageOf(spec) } });
      logger.info(`I have changed the ConfigMap ${name}-page, too.`);
    },
  );

  // Not for ever: it would push everything else out of sight.
  const isNew = ({ status }) => (status.looks ?? 0) < LOOKS;
  registry.timer('websites', { interval: 2, initialDelay: 1, when: isNew }, function look({ status, patch, logger }) {
    patch.status.looks = (status.looks ?? 0) + 1;
    logger.info(`I look after it every 2 seconds; this is number ${patch.status.looks} of ${LOOKS}.`);
  });

  registry.on.delete('websites', function farewell({ spec, logger }) {
    logger.info(`Nobody needs "${spec.title}" any more. I let it go, and its page goes with it.`);
  });

  return registry;
}

function pageOf({ title, text }) {
  return { 'index.html': `<h1>${title}</h1><p>${text ?? ''}</p>` };
}

function told(operation) {
  return operation === 'add' ? 'added' : operation === 'remove' ? 'removed' : 'changed';
}

function shown(value) {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
