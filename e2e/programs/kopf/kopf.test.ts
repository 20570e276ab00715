/** An operator by Kopf itself, with a handler of each sort. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { AnyObject } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/operators/operators.js';
import { observe, type RunningProgram } from '../../support/operators/programs.js';
import { pythonPackages } from '../../support/python.js';
import { kopfVersion } from '../../support/python-kopf.js';
import { embeddedServer, makeNamespace, objectsIn, realServer, type Server } from '../support/servers.js';
import { differencesBetween, type Transcript, transcript } from '../support/transcripts.js';

const namespace = 'shops';
/** Python may take its time, in seconds. */
const untilStarted = 120;
const program = fileURLToPath(new URL('kopf_operator.py', import.meta.url));

// Handlers change other objects by the usual client.
const python = await pythonPackages('Kopf', { kopf: kopfVersion, kubernetes: '37.0.2' });
if (python.kind === 'unavailable') console.log(`programs: Kopf is SKIPPED: ${python.reason}.`);

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'shops.kopf.example.com' },
  spec: {
    group: 'kopf.example.com',
    scope: 'Namespaced',
    names: { plural: 'shops', singular: 'shop', kind: 'Shop' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: anything, status: anything } } },
      },
    ],
  },
};

describe.skipIf(python.kind === 'unavailable')(`Kopf ${kopfVersion}`, () => {
  let embedded: Transcript | undefined;

  it('handles creations, updates, deletions and what was there, with timers and daemons, on the embedded server', async () => {
    embedded = await runOn(await embeddedServer());
    expect(embedded.steps.map(({ step }) => step)).toContain('what was told of the shop one');
  });

  it('does the same on the real server', async (context) => {
    const real = await runOn(realServer(context));
    if (embedded === undefined) throw new Error('There is nothing to compare with.');
    expect(differencesBetween(real, embedded)).toBe('');
  });
});

async function runOn(server: Server): Promise<Transcript> {
  const { client } = server;
  const run = transcript(server);
  const home = `/apis/kopf.example.com/v1/namespaces/${namespace}/shops`;
  const shop = (name: string, spec: object, annotations = {}) => ({
    apiVersion: 'kopf.example.com/v1',
    kind: 'Shop',
    metadata: { name, annotations },
    spec,
  });
  const read = (path: string) => client.request<AnyObject>({ method: 'GET', path, retries: 'none' });
  const create = (path: string, body: object) => client.request({ method: 'POST', path, body });
  const merge = (path: string, body: object) =>
    client.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body });
  const remove = (path: string) => client.request({ method: 'DELETE', path });
  const isGone = (path: string) => eventually(() => expect(read(path)).rejects.toThrow());
  const look = async (when: string) =>
    run.tell(`the objects ${when}`, await objectsIn(server, namespace, ['shops.kopf.example.com/v1', 'configmaps.v1']));
  const told: string[] = [];

  await makeNamespace(server, namespace);
  await create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  await eventually(() => read(home));

  const first = start(server);
  await create(home, shop('one', { sign: 'Open' }));
  await first.says('{"name": "one", "retry": 0, "what": "create"}', untilStarted);
  await eventually(async () => expect(await read(`${home}/one`)).toMatchObject({ status: { page: 'one-page' } }));
  await create(home, shop('two', { sign: 'Soon', stubborn: true }));
  await first.says('{"name": "two", "retry": 1, "what": "create"}');
  await eventually(async () => expect(await read(`${home}/two`)).toMatchObject({ status: { page: 'two-page' } }));
  await handled(`${home}/two`);
  await look('of new shops');

  await merge(`${home}/one`, { spec: { sign: 'Sale' } });
  await first.says('{"diff": [["change", [], "Open", "Sale"]], "name": "one"');
  await merge(`${home}/one`, { metadata: { labels: { town: 'here' } } });
  await first.says('{"name": "one", "new": {"town": "here"}, "what": "labels"}');
  await eventually(async () => {
    const { metadata } = await read(`${home}/one`);
    expect(metadata?.annotations?.['kopf.zalando.org/last-handled-configuration']).toContain('"town":"here"');
  });
  await look('after changes');

  await merge(`${home}/one`, { metadata: { annotations: { guard: 'yes' } } });
  await first.says('{"name": "one", "what": "daemon begins"}');
  await merge(`${home}/two`, { metadata: { annotations: { count: 'yes' } } });
  await eventually(async () => expect(await read(`${home}/two`)).toMatchObject({ status: { count: 3 } }));
  await merge(`${home}/one`, { metadata: { annotations: { guard: null } } });
  await first.says('{"name": "one", "what": "daemon ends"}');
  first.kill('SIGINT');
  expect(await first.ended).toBe(0);
  told.push(...first.said);

  // What was there before, and what has changed meanwhile.
  await merge(`${home}/one`, { spec: { sign: 'Closing' } });
  const second = start(server);
  await second.says('{"diff": [["change", [], "Sale", "Closing"]], "name": "one"', untilStarted);
  await second.says('{"name": "two", "what": "resume"}');
  await remove(`${home}/one`);
  await second.says('{"indexed": ["Closing", "Soon"], "name": "one", "what": "delete"}');
  await isGone(`${home}/one`);
  await isGone(`/api/v1/namespaces/${namespace}/configmaps/one-page`);
  await remove(`${home}/two`);
  await isGone(`${home}/two`);
  await isGone(`/api/v1/namespaces/${namespace}/configmaps/two-page`);
  await look('in the end');
  second.kill('SIGINT');
  expect(await second.ended).toBe(0);
  told.push(...second.said);

  for (const name of ['one', 'two']) run.tell(`what was told of the shop ${name}`, ofShop(told, name));
  const events = await read(`/api/v1/namespaces/${namespace}/events`);
  run.tell('the events', notesOf(events));
  return run;

  async function handled(path: string): Promise<void> {
    await eventually(async () => {
      const { metadata } = await read(path);
      expect(metadata?.annotations).toHaveProperty(['kopf.zalando.org/last-handled-configuration']);
    });
  }
}

function start({ kubeconfig }: Server): RunningProgram {
  if (python.kind === 'unavailable') throw new Error(python.reason);
  const args = ['-m', 'kopf', 'run', program, `--namespace=${namespace}`, '--standalone'];
  return observe(spawn('python3', args, { env: { ...python.env, KUBECONFIG: kubeconfig }, stdio: 'pipe' }));
}

/** How often a timer has fired is a matter of chance. */
function ofShop(told: readonly string[], name: string): string[] {
  const lines = told.filter((line) => line.includes(`"name": "${name}"`));
  return lines.filter((line, index) => !line.includes('"timer"') || lines.indexOf(line) === index);
}

/** In any order: they are written aside. */
function notesOf(list: AnyObject): string[] {
  const { items } = list as { items: readonly Record<string, string>[] };
  return [...new Set(items.map(({ type, reason, message }) => `${type} ${reason}: ${message}`))].sort();
}
