import { releaseWebhooks } from '@kopf-ts/webhooks';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { describeOnClusters } from '../support/operators/clusters.js';
import type { TestKind } from '../support/operators/kinds.js';
import { eventually } from '../support/operators/operators.js';
import { program, type RunningProgram } from '../support/operators/programs.js';
import type { OperatorProgram } from './programs/operator.js';
import { type Configuration, configuration } from './support/configurations.js';
import { newManaged } from './support/operators.js';
import { ask, type Usage, usageOf } from './support/requests.js';

const startProgram = program(new URL('programs/operator.ts', import.meta.url));

describeOnClusters('operators with admission, in processes', (cluster) => {
  let things: TestKind;
  let namespace: string;
  let managed: string;
  let usage: Usage;
  let validating: Configuration;
  beforeAll(async () => {
    things = await cluster().newKind();
  });
  beforeEach(async () => {
    namespace = await cluster().newNamespace();
    managed = newManaged();
    usage = usageOf(cluster().connection, things, namespace);
    validating = configuration(cluster().client, 'validating', managed);
  });

  const start = (special: Partial<OperatorProgram> = {}): RunningProgram => {
    const { connection } = cluster();
    const options: OperatorProgram = { connection, selector: things.selector, namespace, managed, ...special };
    return startProgram(options);
  };
  /** Objects are checked: it is answered, and with the right answers. */
  const isChecked = (withinSeconds?: number) =>
    eventually(async () => {
      expect(await usage.create('wrong', { spec: { size: -1 } })).toMatchObject({ status: 422 });
      expect(await usage.create('right', { spec: { size: 1 } }, '?dryRun=All')).toMatchObject({ status: 201 });
    }, withinSeconds);
  const killed = async (running: RunningProgram): Promise<void> => {
    running.kill('SIGKILL');
    expect(await running.ended).toBe('SIGKILL');
  };

  it('when killed, leave webhooks that block everything, until the next start heals them', async () => {
    const first = start();
    await isChecked();
    await killed(first);
    const left = await validating.webhooks();
    expect(left).toMatchObject({ check: { failurePolicy: 'Fail' } });
    expect(await usage.create('blocked', { spec: { size: 1 } })).toMatchObject({
      status: 500,
      body: { message: expect.stringContaining(`failed calling webhook "check.${managed}"`) },
    });

    const second = start();
    await isChecked();
    expect(await validating.webhooks()).not.toEqual(left);
    second.kill('SIGTERM');
    expect(await second.ended, second.log).toBe(0);
    expect(await validating.webhooks()).toEqual({});
    expect(await usage.create('free', { spec: { size: -1 } })).toMatchObject({ status: 201 });
  });

  it('when killed, leave webhooks that can be removed by one function', async () => {
    const { client, backend } = cluster();
    const running = start();
    await isChecked();
    await killed(running);
    expect(await usage.create('blocked')).toMatchObject({ status: 500 });

    const expected = (action: string) => [
      { reason: 'validating', name: managed, webhooks: [`check.${managed}`], action },
      { reason: 'mutating', name: managed, webhooks: [], action },
    ];
    expect(await releaseWebhooks({ client, name: managed, dryRun: true })).toEqual(expected('found'));
    expect(await usage.create('blocked')).toMatchObject({ status: 500 });
    // By their mark, those of all operators go: other tests use the real cluster, too.
    const name = backend === 'real' ? managed : undefined;
    expect(await releaseWebhooks({ client, name })).toEqual(expect.arrayContaining(expected('deleted')));
    await eventually(async () => {
      expect(await usage.create('one', { spec: { size: -1 } })).toMatchObject({ status: 201 });
    });
    expect(await releaseWebhooks({ client, name })).toEqual([]);
  });

  it('when killed, block nothing if their failures are to be ignored', async () => {
    const running = start({ check: { ignoreFailures: true } });
    await isChecked();
    await killed(running);
    expect(await usage.create('one', { spec: { size: -1 } })).toMatchObject({ status: 201 });
    await validating.delete();
  });

  it('come up even if it is the webhooks left by a killed one that block their own start', async () => {
    const secret = { namespace, name: 'certificates' };
    const special: Partial<OperatorProgram> = { checksSecrets: true, server: { secret } };
    const first = start(special);
    await isChecked();
    await killed(first);
    const { connection } = cluster();
    const secrets = `/api/v1/namespaces/${namespace}/secrets`;
    expect(await ask(connection, { method: 'DELETE', path: `${secrets}/${secret.name}` })).toMatchObject({
      status: 200,
    });
    const body = { metadata: { name: 'another' } };
    expect(await ask(connection, { method: 'POST', path: secrets, body })).toMatchObject({ status: 500 });

    const second = start(special);
    await isChecked(55);
    expect(second.log).toContain('All but the persistent ones are removed until it is ready');
    expect(Object.keys(await validating.webhooks())).toEqual(['check', 'check-secrets']);
    expect(await ask(connection, { method: 'POST', path: secrets, body })).toMatchObject({ status: 201 });
    second.kill('SIGTERM');
    expect(await second.ended, second.log).toBe(0);
  }, 120_000);
});
