/** An operator by controller-runtime, built from `build/operator`. */
import { spawn } from 'node:child_process';
import type { AnyObject } from '@kopf-ts/core';
import { beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { eventually } from '../../support/operators/operators.js';
import { observe, type RunningProgram } from '../../support/operators/programs.js';
import { goProgram } from '../support/go-programs.js';
import type { Installed } from '../support/installed.js';
import { embeddedServer, makeNamespace, realServer, type Server } from '../support/servers.js';
import { differencesBetween, type Transcript, transcript } from '../support/transcripts.js';
import { definition, everything, site, sitesPath } from './sites.js';

const namespace = 'sites';

describe('an operator by controller-runtime', () => {
  let operator: Installed<string>;
  let embedded: Transcript | undefined;

  beforeAll(async () => {
    operator = await goProgram('site-operator');
    if (operator.kind === 'unavailable') console.log(`programs: controller-runtime is SKIPPED: ${operator.reason}.`);
  });

  async function runOn(server: Server, { skip }: Pick<TestContext, 'skip'>): Promise<Transcript> {
    if (operator.kind === 'unavailable') return skip(operator.reason);
    const path = operator.it;
    const { client } = server;
    const run = transcript(server);
    const start = (): RunningProgram => {
      const env = { ...process.env, KUBECONFIG: server.kubeconfig };
      return observe(spawn(path, [`--namespace=${namespace}`, '--lease=15s'], { env, stdio: 'pipe' }));
    };
    const home = sitesPath(namespace);
    const [child, lease] = [
      `/apis/apps/v1/namespaces/${namespace}/deployments/one`,
      `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/sites.programs.example.com`,
    ];
    const read = (what: string) => client.request<AnyObject>({ method: 'GET', path: what, retries: 'none' });
    const merge = (what: string, body: object) =>
      client.request<AnyObject>({ method: 'PATCH', path: what, contentType: 'application/merge-patch+json', body });
    /** Of the last things that are written, the one after the other: the note of how many are alike, and the status. */
    const reconciled = (name: string, generation: number, alike = 1) =>
      eventually(async () => {
        const note = { 'programs.example.com/alike': String(alike) };
        const page = await read(`/api/v1/namespaces/${namespace}/configmaps/${name}`);
        expect(page).toMatchObject({ metadata: { annotations: note } });
        const status = { observedGeneration: generation, address: `http://${name}.${namespace}` };
        expect(await read(`${home}/${name}`)).toMatchObject({ status });
      });
    const notes = async () => notesOf(await read(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`));
    const look = async (when: string) => run.tell(`the objects ${when}`, await everything(server, namespace));

    await makeNamespace(server, namespace);
    await client.request({
      method: 'POST',
      path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      body: definition,
    });
    await eventually(() => read(home));

    // Two of them; one leads.
    const first = start();
    await first.says('{"what":"leading"}', 120);
    const second = start();
    await second.says('{"what":"started"}', 120);
    const spec = { image: 'web:1', greeting: 'hello', replicas: 2 };
    await client.request({ method: 'POST', path: home, body: site('one', spec) });
    await reconciled('one', 1);
    await look('of a new site');

    // What somebody else changes is put back; what they add to it stays.
    await merge(child, { spec: { replicas: 7, minReadySeconds: 5 } });
    await eventually(async () =>
      expect(await read(child)).toMatchObject({ spec: { replicas: 2, minReadySeconds: 5 } }),
    );
    await merge(`${home}/one`, { spec: { image: 'web:2', greeting: 'again' } });
    await reconciled('one', 2);
    await look('after a change');
    await client.request({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}/services/one` });
    await eventually(() => read(`/api/v1/namespaces/${namespace}/services/one`));

    // The other one takes over, and knows of all there is.
    const holder = String(((await read(lease)) as { spec?: { holderIdentity?: string } }).spec?.holderIdentity);
    first.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    await second.says('{"what":"leading"}', 120);
    expect(await read(lease)).not.toMatchObject({ spec: { holderIdentity: holder } });
    await client.request({ method: 'POST', path: home, body: site('two', { image: 'web:2', greeting: 'me too' }) });
    await reconciled('two', 1, 2);
    await merge(`${home}/one`, { spec: { greeting: 'and again' } });
    await reconciled('one', 3, 2);
    await look('of two sites');

    // The finalizer holds the deletion back; the children follow their owner.
    await client.request({ method: 'DELETE', path: `${home}/one` });
    await second.says('{"site":"one","what":"farewell"}');
    await eventually(async () => {
      const { deployments, services, sites } = await everything(server, namespace);
      for (const items of [deployments, services, sites]) expect(items).toMatchObject([{ metadata: { name: 'two' } }]);
    });
    await merge(`${home}/two`, { spec: { greeting: 'alone' } });
    await reconciled('two', 2, 1);
    await look('after a deletion');
    await eventually(async () => expect(await notes()).toContain(noteOf('two')));
    run.tell('the events', await notes());
    second.kill('SIGKILL');
    return run;
  }

  it('leads, applies, owns and finalizes on the embedded server', async (context) => {
    embedded = await runOn(await embeddedServer(), context);
    expect(embedded.steps.at(-1)?.answer).toEqual([noteOf('one'), noteOf('two')]);
  });

  it('does the same on the real server', async (context) => {
    const real = await runOn(realServer(context), context);
    if (embedded === undefined) throw new Error('There is nothing to compare with.');
    expect(differencesBetween(real, embedded)).toBe('');
  });
});

/** Those about sites, in any order and once: they are written aside. */
function notesOf(list: AnyObject): string[] {
  const { items } = list as { items: readonly SiteEvent[] };
  const texts = items
    .filter(({ regarding }) => regarding.kind === 'Site')
    .map(({ type, reason, note, regarding, related }) => {
      const about = [regarding, related].map((one) => `${one?.kind} ${one?.name}`);
      return `${type} ${reason}: ${note} (${about.join(', ')})`;
    });
  return [...new Set(texts)].sort();
}

function noteOf(site: string): string {
  return `Normal Served: The service is created (Site ${site}, Service ${site})`;
}

interface SiteEvent {
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly kind: string; readonly name: string };
  readonly related?: { readonly kind: string; readonly name: string };
}
