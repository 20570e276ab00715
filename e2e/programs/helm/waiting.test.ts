/** Helm that waits: with simulated controllers, there is something to wait for. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { goProgram } from '../support/go-programs.js';
import { embeddedServer, objectsIn } from '../support/servers.js';
import { helmOn } from './helm.js';

const chart = fileURLToPath(new URL('chart', import.meta.url));
const namespace = 'waiting';

describe.each([3, 4] as const)('Helm %i', (major) => {
  it('waits for hooks, rollouts, tests and deletions', async ({ skip }) => {
    const helm = await goProgram(`helm${major}`);
    if (helm.kind === 'unavailable') return skip(helm.reason);
    const server = await embeddedServer({ controllers: 'simulated' });
    const call = await helmOn(helm.it, server, namespace);
    const succeeds = async (line: string): Promise<string> => {
      const said = await call(line.replaceAll('CHART', chart).split(' '));
      expect(said.code, `helm ${line}\n${said.error}`).toBe(0);
      return said.out;
    };
    const running = async () => {
      const { deployments = [], pods = [] } = await objectsIn(server, namespace, ['deployments.apps/v1', 'pods.v1']);
      const images = pods
        .filter(({ metadata }) => metadata?.labels?.['app.kubernetes.io/name'] === 'web')
        .filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
        .map((pod) => (pod as { spec?: { containers?: { image?: string }[] } }).spec?.containers?.[0]?.image);
      const ready = deployments.map((one) => (one as { status?: { readyReplicas?: number } }).status?.readyReplicas);
      return { ready, images };
    };

    await succeeds('install web CHART --create-namespace --wait --wait-for-jobs --timeout 120s');
    expect(await running()).toEqual({ ready: [2], images: ['web:1', 'web:1'] });
    expect(await succeeds('test web')).toMatch(/Phase: +Succeeded/);
    await succeeds('upgrade web CHART --set image.tag=2 --set replicas=3 --wait --timeout 120s');
    expect(await running()).toEqual({ ready: [3], images: ['web:2', 'web:2', 'web:2'] });
    await succeeds('rollback web 1 --wait --timeout 120s');
    expect((await running()).ready).toEqual([2]);
    await succeeds('uninstall web --wait --timeout 120s');
    expect((await running()).ready).toEqual([]);
  });

  it('tells of what does not become ready, and rolls back', async ({ skip }) => {
    const helm = await goProgram(`helm${major}`);
    if (helm.kind === 'unavailable') return skip(helm.reason);
    const server = await embeddedServer({ controllers: 'simulated' });
    const call = await helmOn(helm.it, server, namespace);
    const command = (line: string) => call(line.replaceAll('CHART', chart).split(' '));
    expect(await command('install web CHART --create-namespace --no-hooks --wait --timeout 120s')).toMatchObject({
      code: 0,
    });
    const hang = 'podAnnotations.simulation\\.kopf-ts\\.dev/hang=start';
    const stuck = await command(`upgrade web CHART --no-hooks --set ${hang} --wait --timeout 10s`);
    expect(stuck.code).toBe(1);
    expect(await command('rollback web 1 --no-hooks --wait --timeout 120s')).toMatchObject({ code: 0 });
    const history = await command('history web -o json');
    expect(JSON.parse(history.out)).toMatchObject([
      { status: 'superseded' },
      { status: 'failed' },
      { status: 'deployed' },
    ]);
  });
});
