import { ConfigMap } from '@kopf-ts/kinds';
import * as kopf from 'kopf-ts';

const Example = kopf.resource<{ pages?: number }, { pages?: number; words?: number }>({
  group: 'kopf.dev',
  version: 'v1',
  plural: 'kopfexamples',
  namespaced: true,
});

// The pages are owned by the book: so they are deleted together with it.
kopf.on.create(Example, async function print({ name, spec, body, api, logger }) {
  for (let page = 1; page <= (spec.pages ?? 2); page++) {
    await api(ConfigMap).create({ metadata: { name: `${name}-${page}` }, data: { text: '' } }, { owner: body });
  }
  logger.info(`${name} is printed.`);
});

// Called for the book, when pages of it are written or torn out: also if that was while there was no operator.
kopf.on.child(Example, ConfigMap, { fields: ['data.text'] }, function count({ children, changes, patch, logger }) {
  for (const { type, child } of changes) logger.info(`Page ${child.metadata.name} is ${type}.`);
  const words = children().flatMap(({ data }) => data?.['text']?.split(/\s+/).filter(Boolean) ?? []);
  patch.status.pages = children().length;
  patch.status.words = words.length;
});

// All other handlers of the book can look at its pages, too.
kopf.on.update(Example, { field: 'spec.pages' }, function check({ new: pages, children, logger }) {
  logger.info(`There should be ${pages} pages, and there are ${children(ConfigMap).length}.`);
});
