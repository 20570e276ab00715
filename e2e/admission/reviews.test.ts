import { AdmissionError } from '@kopf-ts/core';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { describeOnClusters } from '../support/operators/clusters.js';
import type { TestKind } from '../support/operators/kinds.js';
import { startAdmission } from './support/operators.js';
import { ask, type Usage, usageOf } from './support/requests.js';

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

  it('are not told to handlers of other operations, even if somebody else asks than the API server', async () => {
    const seen: string[] = [];
    const operator = await startAdmission(
      cluster(),
      ({ on }) => {
        on.validate(things.selector, { id: 'created', operations: ['CREATE'] }, ({ operation }) => {
          seen.push(operation);
          throw new AdmissionError('Never.');
        });
      },
      { namespaces: [namespace] },
    );
    expect(await usage.create('one')).toMatchObject({ status: 500 });
    const [{ request } = {}] = operator.reviews;
    const webhooks = await operator.validating.webhooks();
    const { url = '', caBundle = '' } = (webhooks['created']?.['clientConfig'] ?? {}) as Record<string, string>;
    const server = { server: new URL(url).origin, ca: Buffer.from(caBundle, 'base64') };
    const review = (path: string, operation: string) => {
      const body = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { ...request, operation } };
      return ask(server, { method: 'POST', path, body });
    };
    expect(await review('/created', 'CREATE')).toMatchObject({ status: 200, body: { response: { allowed: false } } });
    expect(await review('/created', 'UPDATE')).toMatchObject({ status: 200, body: { response: { allowed: true } } });
    expect(await review('/', 'CREATE')).toMatchObject({ status: 200, body: { response: { allowed: false } } });
    expect(await review('/unknown', 'CREATE')).toMatchObject({
      status: 404,
      body: { message: expect.stringContaining('unknown') },
    });
    expect(seen).toEqual(['CREATE', 'CREATE', 'CREATE']);
  });
});
