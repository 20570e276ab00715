import { createServer } from 'node:net';
import { localCluster } from '@kopf-ts/apiserver';
import {
  AdmissionError,
  type Body,
  type ConnectionInfo,
  settings as makeSettings,
  type Registry,
  type ReviewFn,
  type WebhookServer,
} from '@kopf-ts/core';
import { recordingLogger } from '@kopf-ts/testing';
import { createRegistry, operator, webhooks } from 'kopf-ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runIn } from '../../src/running/run.js';
import { fakeHost } from '../running/fake-host.js';
import { newPlace, startOperator, stopOperator } from './wired.js';

const REVIEW = {
  request: {
    uid: 'uid',
    kind: { group: 'kopf.dev', version: 'v1', kind: 'KopfExample' },
    resource: { group: 'kopf.dev', version: 'v1', resource: 'kopfexamples' },
    operation: 'UPDATE' as const,
    userInfo: {},
    object: { metadata: { name: 'one', namespace: 'default' } },
  },
};

/** A server that hands everything out, and ends when told to. */
function openServer(): WebhookServer & { review?: ReviewFn; connection?: () => Promise<ConnectionInfo>; end(): void } {
  let end = (): void => {};
  return {
    end: () => end(),
    async *serve({ review, connection, signal }) {
      Object.assign(this, { review, connection });
      yield { url: 'https://nowhere' };
      await new Promise<void>((resolve) => {
        end = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    },
  };
}

const validating = (registry: Registry) => registry.on.validate('kopfexamples', function check() {});

describe('an operator with admission handlers', () => {
  it('fails without a server, after the startup handlers had their say', async () => {
    const place = await newPlace();
    const calls: string[] = [];
    const started = await startOperator(place, (registry) => {
      validating(registry);
      registry.on.startup(function begin() {
        calls.push('startup');
      });
      registry.on.cleanup(function finish() {
        calls.push('cleanup');
      });
    });
    await place.clock.advance(30);
    await expect(started.done).rejects.toThrow(/no admission server\/tunnel is set.*settings\.admission\.server/);
    await expect(started.ready).rejects.toThrow(/settings\.admission\.server/);
    expect(calls).toEqual(['startup', 'cleanup']);
    expect(started.logger.find('Admission webhook server has failed')?.fields).not.toHaveProperty('error');
  });

  it('ends the process with the exit code 1 for that', async () => {
    const { clock, client } = await newPlace();
    const [registry, logger, settings] = [createRegistry(), recordingLogger(), makeSettings()];
    validating(registry);
    const options = { registry, logger, settings, clock, client, identity: 'me', clusterwide: true };
    const code = runIn(fakeHost(), (signal) => operator({ ...options, signal }), { settings, clock, logger });
    await clock.advance(30);
    expect(await code).toBe(1);
    // Once, by the service that has failed.
    expect(logger.messages('error')).toEqual([expect.stringContaining('settings.admission.server')]);
  });

  it('is served by the server that a startup handler sets', async () => {
    const place = await newPlace();
    const server = openServer();
    const started = await startOperator(place, ({ on }) => {
      on.startup(function begin({ settings }) {
        settings.admission.server = server;
      });
      on.validate('kopfexamples', function check({ name }) {
        throw new AdmissionError(`No ${name}!`, { code: 422 });
      });
    });
    await started.ready;
    expect(await server.review?.(REVIEW)).toMatchObject({
      response: { allowed: false, status: { message: 'No one!', code: 422 } },
    });
    expect(started.logger.find("Webhook 'check' failed")?.fields).toMatchObject({ object: { name: 'one' } });
  });

  it('shares memos, indices and the client with the other handlers', async () => {
    const place = await newPlace();
    const server = openServer();
    const seen: unknown[] = [];
    const started = await startOperator(
      place,
      ({ on, index }) => {
        index('kopfexamples', { id: 'names' }, ({ name }) => ({ [String(name)]: 1 }));
        on.create('kopfexamples', function created({ memo }) {
          memo.isCreated = true;
        });
        // biome-ignore lint/suspicious/noExplicitAny: indices come under their own names
        on.validate('kopfexamples', { id: 'check' }, ({ memo, names, client }: any) => {
          seen.push({ ...memo }, [...names.keys()], client === place.client);
        });
      },
      { settings: makeSettings({ admission: { server } }), memo: { own: 1 } },
    );
    await started.ready;
    const object = await place.create('one');
    await server.review?.({ request: { ...REVIEW.request, object } });
    expect(seen).toEqual([{ own: 1, isCreated: true }, ['one'], true]);
  });

  it('is not ready until it is served, and tells so', async () => {
    const place = await newPlace();
    const port = await freePort();
    let up = (): void => {};
    const server: WebhookServer = {
      async *serve({ signal }) {
        await new Promise<void>((resolve) => {
          up = resolve;
        });
        yield { url: 'https://nowhere' };
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    };
    const options = { settings: makeSettings({ admission: { server } }), liveness: `http://127.0.0.1:${port}/healthz` };
    const started = await startOperator(place, validating, options);
    const readiness = async (): Promise<unknown> => (await fetch(`http://127.0.0.1:${port}/readyz`)).json();
    const condition = (met: boolean) => expect.objectContaining({ name: 'admission webhooks are served', met });
    expect(await readiness()).toMatchObject({ ready: false, conditions: expect.arrayContaining([condition(false)]) });
    up();
    await started.ready;
    expect(await readiness()).toMatchObject({ ready: true, conditions: expect.arrayContaining([condition(true)]) });
  });

  it('stops when its server ends', async () => {
    const place = await newPlace();
    const server = openServer();
    const started = await startOperator(place, validating, { settings: makeSettings({ admission: { server } }) });
    await started.ready;
    server.end();
    await place.clock.advance(30);
    await started.done;
    expect(started.logger.find('Admission webhook server has finished unexpectedly')?.level).toBe('warn');
  });

  it('fails when its server fails', async () => {
    const place = await newPlace();
    const server: WebhookServer = {
      // biome-ignore lint/correctness/useYield: it fails before there is anything to yield
      async *serve() {
        throw new Error('The port is taken.');
      },
    };
    const options = { settings: makeSettings({ admission: { server } }) };
    const started = await startOperator(place, validating, options);
    await place.clock.advance(30);
    await expect(started.done).rejects.toThrow('The port is taken.');
  });

  it('does not know the connection of a client that it is given', async () => {
    const place = await newPlace();
    const server = openServer();
    const started = await startOperator(place, validating, { settings: makeSettings({ admission: { server } }) });
    await started.ready;
    await expect(server.connection?.()).rejects.toMatchObject({ code: 'KOPF_NO_CONNECTION' });
  });

  it('tells its server how it reaches the cluster, if it has logged in by itself', async () => {
    const cluster = await localCluster();
    onTestFinished(() => cluster.stop());
    await cluster.define({ group: 'kopf.dev', plural: 'kopfexamples', kind: 'KopfExample' });
    const [registry, server] = [createRegistry(), openServer()];
    registry.on.login(function login() {
      return { server: cluster.url, token: cluster.token };
    });
    validating(registry);
    const settings = makeSettings({ admission: { server } });
    const started = operator({ registry, settings, logger: recordingLogger(), clusterwide: true, standalone: true });
    onTestFinished(() => started.stop());
    await started.ready;
    expect(await server.connection?.()).toMatchObject({ server: cluster.url, token: cluster.token });
  });
});

describe('an operator with a server of its own over TLS', () => {
  const strict = (registry: Registry) => {
    registry.on.startup(function begin({ settings }) {
      settings.admission.server = webhooks.webhookServer({ addr: '127.0.0.1' });
      settings.admission.managed = 'wiring.kopf.dev';
    });
    registry.on.validate('kopfexamples', { operations: ['CREATE', 'UPDATE'] }, function checkSize({ spec }) {
      if (!Number.isInteger(spec.size)) throw new AdmissionError('The size must be a number.', { code: 422 });
    });
    registry.on.mutate('kopfexamples', { operations: ['CREATE'] }, function defaults({ patch, spec }) {
      if (spec.replicas === undefined) patch.spec.replicas = 1;
    });
  };
  // Requests go over real sockets.
  const PATIENTLY = { timeout: 10_000, interval: 10 };
  const path = '/apis/kopf.dev/v1/namespaces/default/kopfexamples';

  it('validates and mutates what is written to the cluster, until it ends', async () => {
    // Its clock says that it is 2020; certificates are made and checked by the real time.
    const place = await newPlace();
    const started = await startOperator(place, strict);
    await started.ready;
    expect(await place.create('good', { spec: { size: 5 } })).toMatchObject({ spec: { size: 5, replicas: 1 } });
    const denied = place.create('bad', { spec: { size: 'big' } });
    await expect(denied).rejects.toMatchObject({ status: 422 });
    await expect(denied).rejects.toThrow(
      /"checksize\.wiring\.kopf\.dev" denied the request: The size must be a number/,
    );
    await stopOperator(place, started);
    expect(await place.create('bad', { spec: { size: 'big' } })).toMatchObject({ spec: { size: 'big' } });
  });

  it('does its bookkeeping on objects that it would not let in', async () => {
    const place = await newPlace();
    await place.create('old', { spec: { size: 'big' } });
    const calls: string[] = [];
    const started = await startOperator(place, (registry) => {
      strict(registry);
      registry.on.create('kopfexamples', function created() {
        calls.push('created');
      });
      registry.on.delete('kopfexamples', function deleted() {
        calls.push('deleted');
      });
    });
    await started.ready;
    const stored = (): Body | undefined => place.cluster.get('kopfexamples/default/old');
    await expect.poll(() => stored()?.metadata?.annotations, PATIENTLY).toBeDefined();
    expect(calls).toEqual(['created']);
    expect(Object.keys(stored()?.metadata?.annotations ?? {})).toEqual(['kopf.zalando.org/last-handled-configuration']);
    expect(stored()?.metadata?.finalizers).toHaveLength(1);
    const patch = place.cluster.client.request({
      method: 'PATCH',
      path: `${path}/old`,
      contentType: 'application/merge-patch+json',
      body: { metadata: { labels: { a: 'b' } } },
    });
    await expect(patch).rejects.toMatchObject({ status: 422 });
    await place.cluster.client.request({ method: 'DELETE', path: `${path}/old` });
    await expect.poll(stored, PATIENTLY).toBeUndefined();
    expect(calls).toEqual(['created', 'deleted']);
    expect(started.logger.messages('error')).toEqual([
      expect.stringMatching("Webhook 'checkSize' failed permanently: The size must be a number."),
    ]);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
