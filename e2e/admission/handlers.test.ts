import { AdmissionError } from '@kopf-ts/core';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { describeOnClusters } from '../support/operators/clusters.js';
import type { TestKind } from '../support/operators/kinds.js';
import { startAdmission } from './support/operators.js';
import { type Usage, usageOf } from './support/requests.js';

describeOnClusters('handlers of reviews', (cluster) => {
  let things: TestKind;
  let namespace: string;
  let usage: Usage;
  beforeAll(async () => {
    things = await cluster().newKind();
  });
  beforeEach(async () => {
    namespace = await cluster().newNamespace();
    usage = usageOf(cluster().connection, things, namespace);
  });
  const stored = (name: string) => things.get(namespace, name);

  it('know who changes what, and how', async () => {
    const calls: Record<string, unknown>[] = [];
    await startAdmission(
      cluster(),
      ({ on }) => {
        on.validate(things.selector, function look(kwargs) {
          const { operation, old, new: updated, diff, userinfo, headers, sslpeer, name, namespace: where } = kwargs;
          calls.push({ operation, old, new: updated, diff, userinfo, headers, sslpeer, name, where });
        });
      },
      { namespaces: [namespace] },
    );
    await usage.create('one', { spec: { size: 1 } });
    const [creation] = calls.splice(0);
    expect(creation).toMatchObject({ operation: 'CREATE', name: 'one', where: namespace, sslpeer: {} });
    expect(creation?.['old']).toBeUndefined();
    expect(creation?.['new']).toMatchObject({ spec: { size: 1 } });
    expect(creation?.['diff']).toEqual([['add', [], undefined, creation?.['new']]]);
    expect(creation?.['headers']).toMatchObject({ 'content-type': 'application/json' });
    expect(creation?.['userinfo']).toMatchObject({ groups: expect.arrayContaining(['system:masters']) });

    await usage.patch('one', { spec: { size: 2, colour: 'red' } });
    const [update] = calls.splice(0);
    expect(update).toMatchObject({
      operation: 'UPDATE',
      old: { spec: { size: 1 } },
      new: { spec: { size: 2, colour: 'red' } },
    });
    const changes = update?.['diff'] as readonly [string, readonly string[], unknown, unknown][];
    expect(changes.filter(([, [stanza]]) => stanza === 'spec')).toEqual([
      ['add', ['spec', 'colour'], undefined, 'red'],
      ['change', ['spec', 'size'], 1, 2],
    ]);

    await usage.delete('one');
    const [deletion] = calls.splice(0);
    expect(deletion).toMatchObject({ operation: 'DELETE', name: 'one', old: { spec: { size: 2, colour: 'red' } } });
    expect(deletion?.['new']).toBeUndefined();
    expect(deletion?.['diff']).toEqual([['remove', [], deletion?.['old'], undefined]]);
    expect(calls).toEqual([]);
  });

  it('know the user, whoever that is', async () => {
    const users: (string | undefined)[] = [];
    await startAdmission(
      cluster(),
      ({ on }) => {
        on.validate(things.selector, { operations: ['UPDATE'] }, function look({ userinfo }) {
          users.push(userinfo.username);
          if (!userinfo.groups?.includes('system:masters')) throw new AdmissionError('Not yours.', { code: 403 });
        });
      },
      { namespaces: [namespace] },
    );
    await usage.create('one');
    expect(await usage.patch('one', { spec: { size: 1 } })).toMatchObject({ status: 200 });
    const { group, plural } = things;
    const stranger = usageOf(await cluster().newUser({ namespace, group, plural }), things, namespace);
    expect(await stranger.patch('one', { spec: { size: 2 } })).toMatchObject({
      status: 403,
      body: { message: expect.stringMatching(/denied the request: Not yours\.$/) },
    });
    expect(users).toHaveLength(2);
    expect(users[1]).toMatch(/user-[0-9a-f]{8}$/);
    expect(users[0]).not.toBe(users[1]);
  });

  it('are asked about our own marks if somebody else writes them, and not if we do', async () => {
    const operator = await startAdmission(
      cluster(),
      ({ on }) => {
        on.delete(things.selector, function clean() {});
        on.validate(things.selector, { operations: ['UPDATE'] }, function strict() {
          throw new AdmissionError('Nothing is to be changed.', { code: 403 });
        });
      },
      { namespaces: [namespace] },
    );
    await usage.create('one');
    // The operator puts its finalizer on, past the strict handler.
    await expect.poll(async () => (await stored('one'))?.metadata?.finalizers, { timeout: 20_000 }).toHaveLength(1);
    const { group, plural } = things;
    const stranger = usageOf(await cluster().newUser({ namespace, group, plural }), things, namespace);
    const record = { started: '2020-01-01T00:00:00+00:00', retries: 1, success: true };
    for (const metadata of [
      { finalizers: null },
      { annotations: { 'kopf.zalando.org/clean': JSON.stringify(record) } },
    ]) {
      expect(await stranger.patch('one', { metadata })).toMatchObject({
        status: 403,
        body: { message: expect.stringMatching(/denied the request: Nothing is to be changed\.$/) },
      });
    }
    expect((await stored('one'))?.metadata?.finalizers).toHaveLength(1);
    expect(operator.logger.messages('warn').filter((line) => line.includes('own user'))).toEqual([]);
    await usage.delete('one');
    await expect.poll(() => stored('one'), { timeout: 20_000 }).toBeUndefined();
  });

  it('can keep objects from being deleted', async () => {
    await startAdmission(
      cluster(),
      ({ on }) => {
        on.validate(things.selector, { operations: ['DELETE'] }, function keep({ spec, body }) {
          if (spec['isDear']) throw new AdmissionError(`${body.metadata?.name} is dear to us.`, { code: 403 });
        });
        on.mutate(things.selector, { operations: ['CREATE', 'DELETE'] }, function change() {});
      },
      { namespaces: [namespace] },
    );
    await usage.create('one', { spec: { isDear: true } });
    expect(await usage.delete('one')).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('one is dear to us.') },
    });
    expect(await stored('one')).toBeDefined();
    await usage.patch('one', { spec: { isDear: false } });
    expect(await usage.delete('one')).toMatchObject({ status: 200 });
    expect(await stored('one')).toBeUndefined();
  });

  it('are all asked, and each of them can refuse', async () => {
    const calls: string[] = [];
    const operator = await startAdmission(
      cluster(),
      ({ on }) => {
        for (const id of ['a', 'b', 'c']) {
          on.mutate(things.selector, { id: `mutate-${id}`, operations: ['CREATE'] }, ({ patch, spec }) => {
            calls.push(`mutate-${id}`);
            patch.spec['trace'] = `${spec['trace'] ?? ''}${id}`;
          });
          on.validate(things.selector, { id: `validate/${id}`, operations: ['CREATE'] }, ({ spec }) => {
            calls.push(`validate/${id}`);
            if (spec['refusedBy'] === id) throw new AdmissionError(`Refused by ${id}.`);
          });
        }
      },
      { namespaces: [namespace] },
    );
    expect(await usage.create('one')).toMatchObject({ status: 201, body: { spec: { trace: 'abc' } } });
    const sorted = calls.splice(0);
    expect(sorted.slice(0, 3)).toEqual(['mutate-a', 'mutate-b', 'mutate-c']);
    expect(sorted.slice(3).sort()).toEqual(['validate/a', 'validate/b', 'validate/c']);
    for (const id of ['a', 'b', 'c']) {
      const { status, body } = await usage.create(`refused-${id}`, { spec: { refusedBy: id } });
      expect(status).toBe(500);
      const by = `admission webhook "validate.${id}.${operator.managed}" denied the request: Refused by ${id}.`;
      expect(body['message']).toBe(by);
    }
  });

  it('that fail deny what they are asked about, and the person is told where to look for the error', async () => {
    const operator = await startAdmission(
      cluster(),
      ({ on }) => {
        on.validate(things.selector, function broken({ spec }) {
          return spec['undefined'].is.not.a.thing;
        });
      },
      { namespaces: [namespace] },
    );
    const { status, body } = await usage.create('one');
    expect(status).toBe(500);
    const [, uid = ''] =
      /denied the request: Webhook 'broken' has failed unexpectedly\. .* the review (\S+)\.$/.exec(
        String(body['message']),
      ) ?? [];
    expect(uid).not.toBe('');
    expect(JSON.stringify(body)).not.toMatch(/ at |\.ts|node:|Cannot read/);
    const line = operator.logger.messages('error').find((text) => text.includes(uid));
    expect(line).toContain("Cannot read properties of undefined (reading 'is')");
    expect(await stored('one')).toBeUndefined();
    expect(operator.logger.messages('error').join()).toContain("'broken'");
  });

  it('that hang are answered for before the API server gives up, and are told so', async () => {
    const told: unknown[] = [];
    let finish = (): void => {};
    const operator = await startAdmission(
      cluster(),
      ({ on }) => {
        on.validate(things.selector, { timeoutSeconds: 2 }, async function stuck({ signal, name }) {
          signal.addEventListener('abort', () => told.push(name));
          await new Promise<void>((resolve) => {
            finish = resolve;
          });
        });
      },
      { namespaces: [namespace] },
    );
    const began = performance.now();
    const { status, body } = await usage.create('one');
    expect((performance.now() - began) / 1000).toBeGreaterThan(1);
    // The API server itself would say that the deadline is exceeded, and with another code.
    expect(status).toBe(504);
    expect(body['message']).toContain(`admission webhook "stuck.${operator.managed}" denied the request: `);
    expect(body['message']).toMatch(/'stuck'/);
    expect(await stored('one')).toBeUndefined();
    expect(told).toEqual(['one']);
    finish();
    await expect
      .poll(() => operator.logger.messages('warn').filter((message) => message.includes("'stuck'")))
      .not.toEqual([]);
  });

  it('have the memo and the indices of the operator', async () => {
    const calls: unknown[] = [];
    await startAdmission(
      cluster(),
      (registry) => {
        const { on } = registry;
        const sizes = registry.index(things.selector, { id: 'sizes' }, ({ name, spec }) => ({ [name]: spec['size'] }));
        on.create(things.selector, function remember({ memo }) {
          memo['created'] = true;
        });
        on.validate(things.selector, function look({ memo, indices, operation, name }) {
          calls.push([operation, memo['created'], [...(indices.get(sizes).get(name ?? '') ?? [])]]);
          memo['reviewed'] = (memo['reviewed'] ?? 0) + 1;
        });
        on.update(things.selector, function recall({ memo }) {
          calls.push(['updated', memo['reviewed']]);
        });
      },
      { namespaces: [namespace] },
    );
    await usage.create('one', { spec: { size: 1 } });
    expect(calls.splice(0)).toEqual([['CREATE', undefined, []]]);
    await expect.poll(async () => (await stored('one'))?.metadata?.annotations).toBeDefined();
    await usage.patch('one', { spec: { size: 2 } });
    await expect
      .poll(() => calls, { timeout: 20_000 })
      .toEqual([
        ['UPDATE', true, [1]],
        ['updated', 1],
      ]);
  });
});
