import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { buildKubeEvent, postEvent } from '../../src/cluster/events.js';
import { apiError } from '../../src/errors.js';
import { settings } from '../../src/settings.js';
import { kex } from './fixtures.js';
import { scriptedClient } from './scripted-client.js';

const AT = new Date('2020-12-31T23:59:59.123Z');

function event(about = kex('a', '1'), message = 'something happened') {
  return { about, type: 'Normal', reason: 'Reason', message };
}

describe('a Kubernetes event', () => {
  it('is exactly as Kopf makes it', () => {
    const built = buildKubeEvent(event(), { settings: settings(), at: AT });
    expect(JSON.stringify(built)).toBe(
      JSON.stringify({
        metadata: { namespace: 'ns', generateName: 'kopf-event-' },
        action: 'Action?',
        type: 'Normal',
        reason: 'Reason',
        message: 'something happened',
        reportingComponent: 'kopf',
        reportingInstance: 'dev',
        source: { component: 'kopf' },
        involvedObject: { apiVersion: 'kopf.dev/v1', kind: 'KopfExample', name: 'a', uid: 'uid-a', namespace: 'ns' },
        firstTimestamp: '2020-12-31T23:59:59.123000+00:00',
        lastTimestamp: '2020-12-31T23:59:59.123000+00:00',
        eventTime: '2020-12-31T23:59:59.123000+00:00',
      }),
    );
  });

  it('says who reports, by the settings', () => {
    const posting = { reportingComponent: 'me', reportingInstance: 'pod-1', eventNamePrefix: 'mine-' };
    expect(buildKubeEvent(event(), { settings: settings({ posting }), at: AT })).toMatchObject({
      metadata: { generateName: 'mine-' },
      reportingComponent: 'me',
      reportingInstance: 'pod-1',
      source: { component: 'me' },
    });
  });

  it.each([
    [undefined, 'default'],
    ['', 'default'],
    ['home', 'home'],
  ])('about a cluster-scoped object, with the default namespace %j, is in %j', (defaultNamespace, expected) => {
    const about = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } };
    expect(buildKubeEvent(event(about), { settings: settings(), at: AT, defaultNamespace })).toMatchObject({
      metadata: { namespace: expected },
      involvedObject: { apiVersion: 'v1', kind: 'Node', name: 'n', namespace: expected },
    });
  });

  it('about an event is not made', () => {
    const about = { apiVersion: 'v1', kind: 'Event', metadata: { name: 'x', namespace: 'ns' } };
    expect(buildKubeEvent(event(about), { settings: settings(), at: AT })).toBe(undefined);
  });

  it.each([1, 1023, 1024])('keeps a message of %s characters', (length) => {
    const message = 'x'.repeat(length);
    expect(buildKubeEvent(event(undefined, message), { settings: settings(), at: AT })?.message).toBe(message);
  });

  it('cuts the middle out of a longer message', () => {
    const message = `${'a'.repeat(600)}${'z'.repeat(600)}`;
    const built = buildKubeEvent(event(undefined, message), { settings: settings(), at: AT });
    expect(built?.message).toBe(`${'a'.repeat(511)}...${'z'.repeat(510)}`);
  });

  it.each([1023, 1025, 4095, 4097, 1_000_000])('has the same ends left of a message of %s emojis', (length) => {
    const built = buildKubeEvent(event(undefined, '😀'.repeat(length)), { settings: settings(), at: AT });
    expect(built?.message).toBe(`${'😀'.repeat(127)}...${'😀'.repeat(127)}`);
  });

  it('never cuts a character in two, and counts bytes, as the cluster does', () => {
    const cut = (message: string) =>
      buildKubeEvent(event(undefined, message), { settings: settings(), at: AT })?.message as string;
    expect(cut('😀'.repeat(256))).toBe('😀'.repeat(256));
    expect(cut('😀'.repeat(257))).toBe(`${'😀'.repeat(127)}...${'😀'.repeat(127)}`);
    expect(cut(`${'я'.repeat(600)}конец`)).toBe(`${'я'.repeat(255)}...${'я'.repeat(250)}конец`);
  });
});

describe('an event that happened several times', () => {
  const first = new Date('2020-12-31T23:50:00Z');
  const last = new Date('2020-12-31T23:55:00Z');

  it('says how many times, since when and until when', () => {
    const built = buildKubeEvent(event(), { settings: settings(), at: AT, repeats: { count: 5, first, last } });
    expect(built).toMatchObject({
      count: 5,
      firstTimestamp: '2020-12-31T23:50:00.000000+00:00',
      lastTimestamp: '2020-12-31T23:55:00.000000+00:00',
      eventTime: '2020-12-31T23:50:00.000000+00:00',
    });
  });

  it('is as any other if it was once only', () => {
    const once = buildKubeEvent(event(), { settings: settings(), at: AT, repeats: { count: 1, first: AT, last: AT } });
    expect(JSON.stringify(once)).toBe(JSON.stringify(buildKubeEvent(event(), { settings: settings(), at: AT })));
  });
});

describe('posting of an event', () => {
  const clock = manualClock({ start: AT });

  it('sends it to the namespace of the object, with the current time', async () => {
    const client = scriptedClient();
    client.answer({});
    await postEvent(client, event(), { settings: settings(), clock, logger: recordingLogger() });
    expect(client.requests).toMatchObject([
      {
        method: 'POST',
        path: '/api/v1/namespaces/ns/events',
        contentType: 'application/json',
        body: { eventTime: '2020-12-31T23:59:59.123000+00:00', reason: 'Reason' },
      },
    ]);
  });

  it('is not repeated by the client if told so', async () => {
    const client = scriptedClient();
    client.answer({});
    await postEvent(client, event(), { settings: settings(), clock, logger: recordingLogger(), retries: 'none' });
    expect(client.requests[0]?.retries).toBe('none');
  });

  it('sends nothing about events', async () => {
    const client = scriptedClient();
    const about = { apiVersion: 'v1', kind: 'Event', metadata: { name: 'x', namespace: 'ns' } };
    await postEvent(client, event(about), { settings: settings(), clock, logger: recordingLogger() });
    expect(client.requests).toEqual([]);
  });

  it.each([
    ['an error of the API', apiError({ status: 403, payload: 'no way' }), 'no way'],
    ['a broken connection', new TypeError('cut'), 'cut'],
  ])('only warns of %s', async (_title, error, text) => {
    const client = scriptedClient();
    const logger = recordingLogger();
    client.answer(error);
    const failure = await postEvent(client, event(), { settings: settings(), clock, logger });
    expect(failure).toBe(error);
    expect(logger.messages('warn')).toEqual([`Failed to post an event: ${text}`]);
  });

  it('ends with the signal', async () => {
    const client = scriptedClient();
    const logger = recordingLogger();
    const controller = new AbortController();
    const posting = postEvent(client, event(), { settings: settings(), clock, logger, signal: controller.signal });
    controller.abort(new Error('stop'));
    await expect(posting).rejects.toThrow('stop');
    expect(logger.lines).toEqual([]);
  });
});
