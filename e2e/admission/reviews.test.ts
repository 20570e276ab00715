import { AdmissionError } from '@kopf-ts/core';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { describeOnClusters } from '../scenarios/clusters.js';
import type { TestKind } from '../scenarios/kinds.js';
import { startAdmission } from './support/operators.js';
import { type Usage, usageOf } from './support/requests.js';

describeOnClusters('objects under review', (cluster) => {
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

  it('are allowed or denied, with the message and the code that the handler gives', async () => {
    const operator = await startAdmission(
      cluster(),
      ({ on }) => {
        on.validate(things.selector, function checkSize({ spec }) {
          if (spec['size'] > 10) throw new AdmissionError(`Too big: ${spec['size']}.`, { code: 422 });
          if (spec['size'] < 0) throw new AdmissionError('Too small.');
        });
      },
      { namespaces: [namespace] },
    );
    const denied = await usage.create('big', { spec: { size: 11 } });
    expect(denied.status).toBe(422);
    expect(denied.body).toMatchObject({
      kind: 'Status',
      status: 'Failure',
      code: 422,
      message: `admission webhook "checksize.${operator.managed}" denied the request: Too big: 11.`,
    });
    expect(await stored('big')).toBeUndefined();
    expect(await usage.create('small', { spec: { size: -1 } })).toMatchObject({ status: 500, body: { code: 500 } });

    expect(await usage.create('one', { spec: { size: 5 } })).toMatchObject({ status: 201 });
    expect(await usage.patch('one', { spec: { size: 50 } })).toMatchObject({ status: 422 });
    expect(await usage.patch('one', { spec: { size: 7 } })).toMatchObject({ status: 200 });
    expect((await stored('one'))?.['spec']).toEqual({ size: 7 });
  });

  it('bring the warnings to those who change them, be they allowed or not', async () => {
    await startAdmission(
      cluster(),
      ({ on }) => {
        on.validate(things.selector, function warn({ spec, warnings }) {
          warnings.push(`The size is ${spec['size']}.`, 'Sizes are "deprecated".');
          if (spec['size'] > 10) throw new AdmissionError('Too big.', { code: 400 });
        });
        on.mutate(things.selector, function warnToo({ warnings }) {
          warnings.push('Seen.');
        });
      },
      { namespaces: [namespace] },
    );
    const allowed = await usage.create('one', { spec: { size: 5 } });
    expect(allowed.status).toBe(201);
    expect(allowed.warnings).toEqual(['Seen.', 'The size is 5.', 'Sizes are \\"deprecated\\".']);
    const denied = await usage.create('two', { spec: { size: 50 } });
    expect(denied.status).toBe(400);
    expect(denied.warnings).toEqual(['Seen.', 'The size is 50.', 'Sizes are \\"deprecated\\".']);
  });

  it('are stored as they are mutated, by fields and by functions', async () => {
    await startAdmission(
      cluster(),
      ({ on }) => {
        on.mutate(things.selector, { operations: ['CREATE'] }, function setDefaults({ spec, patch }) {
          patch.spec['size'] = spec['size'] ?? 1;
          patch.spec['obsolete'] = null;
          patch.metadata.labels['team/name'] = 'storage';
        });
        on.mutate(things.selector, { operations: ['CREATE'] }, function addPart({ patch }) {
          patch.fns.push((body) => {
            body['spec'].parts = [...(body['spec'].parts ?? []), 'engine'];
            body['spec']['~strange/key'] = { deep: [1, { x: null }] };
          });
        });
        on.mutate(things.selector, { operations: ['CREATE'] }, function changeNothing({ patch, spec }) {
          patch.spec['size'] = spec['size'];
        });
        on.validate(things.selector, function checkMutated({ spec, labels }) {
          if (spec['size'] !== 1 || labels['team/name'] !== 'storage') throw new AdmissionError('Not mutated.');
        });
      },
      { namespaces: [namespace] },
    );
    const answer = await usage.create('one', { spec: { obsolete: 1, kept: true, parts: ['wheel'] } });
    expect(answer).toMatchObject({ status: 201 });
    const object = await stored('one');
    expect(object?.metadata?.labels).toEqual({ 'team/name': 'storage' });
    expect(object?.['spec']).toEqual({
      size: 1,
      kept: true,
      parts: ['wheel', 'engine'],
      '~strange/key': { deep: [1, { x: null }] },
    });
  });

  it('are reviewed in dry runs, too, and handlers know it', async () => {
    const seen: unknown[] = [];
    const operator = await startAdmission(
      cluster(),
      ({ on }) => {
        on.validate(things.selector, { sideEffects: true }, function check({ spec, dryrun, name }) {
          seen.push([name, dryrun]);
          if (spec['size'] > 10) throw new AdmissionError('Too big.', { code: 409 });
        });
        on.mutate(things.selector, { sideEffects: true }, function change({ patch, dryrun }) {
          patch.spec['isForReal'] = !dryrun;
        });
      },
      { namespaces: [namespace] },
    );
    const webhooks = await operator.validating.webhooks();
    expect(webhooks['check']?.['sideEffects']).toBe('NoneOnDryRun');
    const dry = await usage.create('one', { spec: { size: 1 } }, '?dryRun=All');
    expect(dry).toMatchObject({ status: 201, body: { spec: { size: 1, isForReal: false } } });
    expect(await stored('one')).toBeUndefined();
    expect(await usage.create('one', { spec: { size: 11 } }, '?dryRun=All')).toMatchObject({ status: 409 });
    expect(await usage.create('one', { spec: { size: 1 } })).toMatchObject({ status: 201 });
    expect((await stored('one'))?.['spec']).toEqual({ size: 1, isForReal: true });
    expect(seen).toEqual([
      ['one', true],
      ['one', true],
      ['one', false],
    ]);
  });

  it('are reviewed by parts: each handler is asked of its own subresource', async () => {
    const seen: string[] = [];
    await startAdmission(
      cluster(),
      ({ on }) => {
        on.validate(things.selector, function main({ operation, subresource }) {
          seen.push(`main: ${operation} ${subresource}`);
        });
        on.validate(things.selector, { subresource: 'status' }, function status({ operation, subresource, body }) {
          seen.push(`status: ${operation} ${subresource}`);
          if (body['status']?.phase === 'impossible') throw new AdmissionError('No such phase.', { code: 403 });
        });
        on.validate(things.selector, { subresource: '*' }, function any({ operation, subresource }) {
          seen.push(`any: ${operation} ${subresource}`);
        });
        on.mutate(things.selector, { subresource: 'status' }, function fill({ patch }) {
          patch.status['isFilled'] = true;
        });
      },
      { namespaces: [namespace] },
    );
    await usage.create('one');
    expect(seen.splice(0).sort()).toEqual(['any: CREATE undefined', 'main: CREATE undefined']);
    expect(await usage.patch('one/status', { status: { phase: 'ready' } })).toMatchObject({ status: 200 });
    expect(seen.splice(0).sort()).toEqual(['any: UPDATE status', 'status: UPDATE status']);
    expect((await stored('one'))?.['status']).toEqual({ phase: 'ready', isFilled: true });
    expect(await usage.patch('one/status', { status: { phase: 'impossible' } })).toMatchObject({ status: 403 });
    expect((await stored('one'))?.['status']).toMatchObject({ phase: 'ready' });
  });

  it('are not even sent to be reviewed when they do not fit the operations and the labels', async () => {
    const seen: string[] = [];
    const operator = await startAdmission(
      cluster(),
      ({ on }) => {
        on.validate(things.selector, { operations: ['CREATE'] }, function created({ name }) {
          seen.push(`created ${name}`);
        });
        on.validate(things.selector, { labels: { checked: 'yes' } }, function labelled({ name }) {
          seen.push(`labelled ${name}`);
        });
        on.validate(things.selector, { field: 'spec.size', value: 1 }, function sized({ name }) {
          seen.push(`sized ${name}`);
        });
      },
      { namespaces: [namespace] },
    );
    const webhooks = await operator.validating.webhooks();
    expect(webhooks['created']?.['rules']).toEqual([expect.objectContaining({ operations: ['CREATE'] })]);
    expect(webhooks['labelled']?.['objectSelector']).toEqual({
      matchExpressions: [{ key: 'checked', operator: 'In', values: ['yes'] }],
    });

    await usage.create('one', { spec: { size: 2 } });
    expect(seen.splice(0)).toEqual(['created one']);
    // Fields are not known to the API server, so it asks; and that is where it ends.
    expect(operator.reviews.map(({ webhook }) => webhook).sort()).toEqual(['created', 'sized/spec.size']);
    await usage.patch('one', { spec: { size: 1 } });
    expect(seen.splice(0)).toEqual(['sized one']);
    await usage.patch('one', { spec: { size: 2 }, metadata: { labels: { checked: 'yes' } } });
    expect(seen.splice(0)).toEqual(['labelled one']);
    expect(operator.reviews.filter(({ webhook }) => webhook === 'created')).toHaveLength(1);
  });

  it('are told to handlers with all that is known: who changes what, and how', async () => {
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

  it('are told to handlers together with the user who changes them, whoever that is', async () => {
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

  it('can be kept from being deleted', async () => {
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

  it('are reviewed by all handlers, and each of them can refuse', async () => {
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

  it('are denied by handlers that fail, with the error but without its stack', async () => {
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
    expect(body['message']).toMatch(/denied the request: .*Cannot read properties of undefined \(reading 'is'\)/);
    expect(JSON.stringify(body)).not.toMatch(/ at |\.ts|node:/);
    expect(await stored('one')).toBeUndefined();
    expect(operator.logger.messages('error').join()).toContain("'broken'");
  });

  it('are denied before the API server gives up when a handler hangs, and the handler is told', async () => {
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

  it('are reviewed with the memo and with the indices of the operator', async () => {
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
