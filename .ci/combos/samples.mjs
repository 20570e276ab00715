/** What users write: programs of their own, and whatever they copy from our pages. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/tools.mjs';

/** The smallest operator with everything in one package, on the embedded server, to its end. */
export const MINIMAL = `
import * as kopf from 'kopf-ts';
import { localCluster } from 'kopf-ts/testing';

const Example = kopf.resource<{ field?: string }, { greeting?: string }>({ group: 'kopf.dev', plural: 'kopfexamples' });

kopf.on.create(Example, async function greet({ name, spec, patch, logger }) {
  logger.info(\`Greeting \${name}\`);
  patch.status.greeting = \`Hello, \${spec.field ?? 'world'}!\`;
});

const cluster = await localCluster();
await cluster.define({ group: 'kopf.dev', plural: 'kopfexamples', kind: 'KopfExample', subresources: ['status'] });
const operator = kopf.operator({ client: cluster.client, clusterwide: true });
await operator.ready;
await cluster.create({ apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata: { name: 'one', namespace: 'default' }, spec: { field: 'value' } });
for (let n = 0; n < 1000 && cluster.get('kopfexamples/default/one')?.['status'] === undefined; n++) {
  await new Promise((resolve) => setTimeout(resolve, 10));
}
console.log(JSON.stringify(cluster.get('kopfexamples/default/one')?.['status']));
await operator.stop();
await cluster.stop();
`;

/** With the types of built-in kinds, which are installed beside. */
export const KINDS = `
import * as kopf from 'kopf-ts';
import { localCluster } from 'kopf-ts/testing';
import { ConfigMap, Deployment, type Namespace } from '@kopf-ts/kinds';
import type { Container } from '@kopf-ts/kinds/v1';

const container: Container = { name: 'main', image: 'busybox' };
const title = ({ metadata }: Namespace): string => metadata.name ?? '';
kopf.on.create(Deployment, ({ namespace, spec }) => [namespace.length, spec.template.spec.containers, container, title]);
// @ts-expect-error the data are texts
const wrong: ConfigMap = { metadata: {}, data: { size: 5 } };
void wrong;

const cluster = await localCluster();
const api = kopf.api(cluster.client, { namespace: 'default' });
await api(ConfigMap).apply({ metadata: { name: 'one' }, data: { size: '5' } });
const { metadata, data } = await api(ConfigMap).get('one');
console.log(metadata.name, data?.['size'], Object.keys(Deployment).join());
await cluster.stop();
`;

/** The handlers of a user, in several files, and a test of them by what Node has. */
export const TESTED = {
  'tested/greeting.ts': `
import * as kopf from 'kopf-ts';
let greeted = 0;
kopf.on.create('kopfexamples', function greet({ name }) {
  greeted += 1;
  return \`Hello, \${name}, number \${greeted}!\`;
});
`,
  'tested/handlers.ts': `
import './greeting.js';
`,
  'tested/handlers.test.ts': `
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { clusterHooks, operatorRunner } from 'kopf-ts/testing';

const cluster = clusterHooks(
  { before: beforeEach, after: afterEach },
  { define: [{ group: 'kopf.dev', plural: 'kopfexamples', kind: 'KopfExample' }] },
);
const handlers = new URL('../../tested/handlers.ts', import.meta.url);

for (const name of ['one', 'two']) {
  test(\`a greeting for \${name}\`, async () => {
    const runner = await operatorRunner({ cluster: cluster.current, handlers });
    await runner.ready;
    await cluster.current.create({ apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata: { name, namespace: 'default' } });
    const { result } = await runner.outcomes.next('greet');
    assert.equal(result, \`Hello, \${name}, number 1!\`);
    await runner.stop();
    runner.logs.expect({ level: 'info', text: "Handler 'greet' succeeded." }, 'Operator has ended.');
    runner.logs.expectNone({ level: 'error' });
    assert.equal(runner.exitCode, 0);
  });
}
`,
};

/** With core alone, there is nothing to run handlers with; but they can be declared, matched, and written for. */
export const CORE_ALONE = `
import { createRegistry, diff, type Clock, type Logger, Patch, resource, settings } from '@kopf-ts/core';
import { executeHandler } from '@kopf-ts/core/engine';

const registry = createRegistry();
registry.on.update(resource<{ size: number }>({ plural: 'volumes' }), function resize({ spec, patch }) {
  patch.metadata.labels['size'] = String(spec.size);
});
const seams: { clock?: Clock; logger?: Logger } = {};
const [change] = diff({ size: 1 }, { size: 2 });
console.log([...registry.handlers.changing].map(({ id }) => id).join(), change?.join(' '), Object.keys(seams).length);
console.log(typeof executeHandler, new Patch({ a: 1 }).merge, settings().execution.defaultBackoff);
`;

/**
 * The samples of the pages in a folder: blocks of TypeScript that begin with the name of their file.
 *
 * @returns {Record<string, string>} texts by their files
 */
export function samplesOf(folder) {
  const samples = {};
  for (const page of readdirSync(join(root, folder)).filter((name) => name.endsWith('.md'))) {
    const text = readFileSync(join(root, folder, page), 'utf8');
    for (const [, file, code] of text.matchAll(/^```ts\n\/\/ ([\w./-]+\.ts)\n([\s\S]*?)^```$/gm)) {
      if (Object.hasOwn(samples, file)) throw new Error(`${folder}/${page} has ${file}, and so has another page.`);
      samples[file] = code;
    }
  }
  if (Object.keys(samples).length === 0) throw new Error(`There are no samples in ${folder}.`);
  return samples;
}

/** The sources of an example, without its tests; \`undefined\` if there is no such example. */
export function exampleSources(name) {
  const folder = join(root, 'examples', name);
  if (!existsSync(folder)) return undefined;
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
}
