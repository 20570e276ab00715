import { ReadableStream, type ReadableStreamDefaultController } from 'node:stream/web';
import { type AnyObject, type KubeClient, settings } from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { configurationResource } from '../../src/configurations/configuration-object.js';
import { observation } from '../../src/configurations/observation.js';
import { NAME } from './keeping.js';

const body = (uid: string, resourceVersion: string, name = NAME): AnyObject => ({
  metadata: { name, uid, resourceVersion },
});

async function observed(...initial: readonly AnyObject[]) {
  const clock = manualClock();
  let events: ReadableStreamDefaultController<object> | undefined;
  const stream = new ReadableStream<object>({
    start(controller) {
      events = controller;
    },
  });
  const controller = new AbortController();
  const news: unknown[] = [];
  const client: KubeClient = {
    request: () => Promise.reject(new Error('Nothing is requested here.')),
    async *stream<T>() {
      for await (const event of stream) yield event as T;
    },
  };
  const object = observation({
    at: { client, resource: configurationResource('validating'), name: NAME },
    settings: settings(),
    clock,
    logger: recordingLogger(),
    onNews: () => news.push(object.state),
  });
  const ended = object.watch(controller.signal);
  onTestFinished(async () => {
    controller.abort();
    await ended;
  });
  const tell = async (type: string, given: AnyObject): Promise<void> => {
    events?.enqueue({ type, object: given });
    await clock.settle();
  };
  for (const each of initial) await tell('ADDED', each);
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  await tell('BOOKMARK', { metadata: { resourceVersion: '100', annotations } });
  return { object, news, tell };
}

describe('what is known of a configuration', () => {
  it('comes from the stream', async () => {
    const { object, news, tell } = await observed(body('u1', '10'));
    expect(object.state).toEqual(body('u1', '10'));
    await tell('MODIFIED', body('u1', '101'));
    expect(object.state).toEqual(body('u1', '101'));
    await tell('DELETED', body('u1', '102'));
    expect(object.state).toBe('absent');
    expect(news).toHaveLength(3);
    expect(object.isWatched).toBe(true);
  });

  it('is that there is none, if there is none', async () => {
    const { object, news } = await observed();
    expect(object.state).toBe('absent');
    expect(news).toEqual(['absent']);
  });

  it('is not what is known of others', async () => {
    const { object, tell } = await observed(body('u1', '10'), body('u2', '11', 'other.dev'));
    await tell('DELETED', body('u2', '101', 'other.dev'));
    expect(object.state).toEqual(body('u1', '10'));
  });

  it('comes from the answers to our own requests, ahead of the stream', async () => {
    const { object, news, tell } = await observed(body('u1', '10'));
    object.learn(body('u1', '105'));
    await tell('MODIFIED', body('u1', '101'));
    expect(object.state).toEqual(body('u1', '105'));
    await tell('MODIFIED', body('u1', '106'));
    expect(object.state).toEqual(body('u1', '106'));
    object.learn(body('u1', '105'));
    expect(object.state).toEqual(body('u1', '106'));
    expect(news).toHaveLength(2);
  });

  it('is not mistaken for what is known of its predecessor', async () => {
    const { object, news, tell } = await observed(body('u1', '10'));
    object.learn('absent');
    object.learn(body('u2', '102'));
    await tell('DELETED', body('u1', '101'));
    expect(object.state).toEqual(body('u2', '102'));
    expect(news).toHaveLength(1);
  });
});
