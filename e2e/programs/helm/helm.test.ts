/** Helm 3 and Helm 4 with a chart of ours, on the embedded server and on the real one. */
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { goProgram } from '../support/go-programs.js';
import type { Installed } from '../support/installed.js';
import { embeddedServer, objectsIn, realServer, type Server } from '../support/servers.js';
import { differencesBetween, type Transcript, transcript } from '../support/transcripts.js';
import { completeEverything, helmOn, type Said } from './helm.js';

const chart = fileURLToPath(new URL('chart', import.meta.url));
const kinds = [
  'deployments.apps/v1',
  'services.v1',
  'ingresses.networking.k8s.io/v1',
  'configmaps.v1',
  'secrets.v1',
  'serviceaccounts.v1',
  'roles.rbac.authorization.k8s.io/v1',
  'rolebindings.rbac.authorization.k8s.io/v1',
  'poddisruptionbudgets.policy/v1',
  'horizontalpodautoscalers.autoscaling/v2',
  'jobs.batch/v1',
  'pods.v1',
];

describe.each([3, 4] as const)('Helm %i', (major) => {
  const namespace = `helm${major}`;
  let helm: Installed<string>;
  let embedded: Transcript | undefined;

  beforeAll(async () => {
    helm = await goProgram(`helm${major}`);
    if (helm.kind === 'unavailable') console.log(`programs: Helm ${major} is SKIPPED: ${helm.reason}.`);
  });

  /** The whole life of a release. */
  async function runOn(server: Server, { skip }: Pick<TestContext, 'skip'>): Promise<Transcript> {
    if (helm.kind === 'unavailable') return skip(helm.reason);
    const run = transcript(server);
    const call = await helmOn(helm.it, server, namespace);
    const command = async (line: string): Promise<Said> => {
      const said = await call(line.replaceAll('CHART', chart).split(' '));
      run.tell(`helm ${line}`, said);
      return said;
    };
    const succeeds = async (line: string): Promise<string> => {
      const said = await command(line);
      expect(said.code, `helm ${line}\n${said.error}`).toBe(0);
      return said.out;
    };
    const look = async (when: string) =>
      run.tell(`the objects ${when}`, withoutReleases(await objectsIn(server, namespace, kinds)));
    const deployment = `/apis/apps/v1/namespaces/${namespace}/deployments/web`;
    const merge = (path: string, body: object) =>
      server.client.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body });

    // Its custom object is of a kind that would be installed only in earnest.
    await command('install web CHART --create-namespace --dry-run=server');
    completeEverything(server, namespace);
    await succeeds('install web CHART --create-namespace');
    await look('after the installation');
    const status = await call(['status', 'web']);
    run.tell('helm status web', { ...status, out: inOrder(status.out) });
    await succeeds('list');
    await succeeds('get manifest web');
    await succeeds('get hooks web');
    await succeeds('get notes web');
    await command('install web CHART');

    await succeeds('upgrade web CHART --set image.tag=2 --set service.port=8080');
    await look('after the upgrade');
    await succeeds('get values web');
    await succeeds('upgrade web CHART --reuse-values --dry-run=server --set greeting=hi');

    // Somebody adds what the chart knows nothing of, and changes what it does know.
    await merge(deployment, {
      spec: { revisionHistoryLimit: 3, template: { metadata: { labels: { extra: 'yes' } } } },
    });
    await succeeds('upgrade web CHART --reuse-values --set greeting=again');
    await look('after an upgrade of what was changed by others');

    // What the server refuses leaves a failed revision.
    const refused = await command('upgrade web CHART --reuse-values --set service.port=70000');
    expect(refused.code).toBe(1);
    expect(refused.error).toContain('must be between 1 and 65535');
    await command('upgrade web CHART --reuse-values --set visits=-1');
    await command('upgrade web CHART --reuse-values --set replicas=many');
    await succeeds('list --max 5');

    await succeeds('rollback web 1');
    await look('after the rollback');
    await succeeds('history web');
    await succeeds('test web');
    await succeeds('upgrade --install other CHART --set host=other.example.com --set visits=0 --no-hooks');
    await succeeds('list -q');
    await succeeds('uninstall other --no-hooks');
    await succeeds('uninstall web --wait --timeout 60s');
    await command('status web');
    await command('uninstall web');
    await look('in the end');
    // Helm leaves the kinds of its charts behind.
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await server.client.request({ method: 'DELETE', path: `${definitions}/visits.helm.example.com` });
    return run;
  }

  it('installs, upgrades, rolls back and uninstalls on the embedded server', async (context) => {
    embedded = await runOn(await embeddedServer(), context);
    const answerOf = (step: string) => embedded?.steps.find((each) => each.step === step)?.answer;
    expect(answerOf('the objects after the upgrade')).toMatchObject({
      deployments: [
        { spec: { template: { spec: { containers: [{ image: 'web:2', ports: [{ containerPort: 8080 }] }] } } } },
      ],
      services: [{ spec: { ports: [{ port: 8080 }] } }],
    });
    expect(answerOf('the objects after the rollback')).toMatchObject({
      deployments: [
        { spec: { template: { spec: { containers: [{ image: 'web:1', ports: [{ containerPort: 80 }] }] } } } },
      ],
      services: [{ spec: { ports: [{ port: 80 }] } }],
    });
    expect(answerOf('the objects in the end')).toMatchObject({
      deployments: [],
      services: [],
      ingresses: [],
      roles: [],
    });
  });

  it('does the same on the real server', async (context) => {
    const real = await runOn(realServer(context), context);
    if (embedded === undefined) throw new Error('There is nothing to compare with.');
    expect(differencesBetween(real, embedded)).toBe('');
  });
});

/** It tells of the objects in any order, each with its age, and with headings where it thinks of them. */
function inOrder(status: string): string[] {
  const lines = status.split('\n').filter((line) => !/^NAME {2,}/.test(line));
  return lines.map((line) => line.replace(/ +\d+s$/, ' <age>').replace(/ {2,}/g, '  ')).sort();
}

/** Releases are packed with their times; when they were modified is in a label. */
function withoutReleases(objects: Awaited<ReturnType<typeof objectsIn>>): unknown {
  const { secrets = [], ...others } = objects;
  const masked = secrets.map((secret) => {
    if (secret['type'] !== 'helm.sh/release.v1') return secret;
    const { data, metadata, ...rest } = secret as { data?: object; metadata?: { labels?: object } };
    const labels = { ...metadata?.labels, modifiedAt: '<time>', createdAt: '<time>' };
    return { ...rest, metadata: { ...metadata, labels }, data: Object.keys(data ?? {}) };
  });
  return { ...others, secrets: masked };
}
