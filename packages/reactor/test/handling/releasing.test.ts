import type { KubeClient } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { operated } from '../support/operated.js';

/** The news of deletions come late: the answers to our own patches are here before them. */
function slowNews(client: KubeClient, untilAllowed: Promise<void>): KubeClient {
  return {
    request: (request) => client.request(request),
    async *stream<T>(request: Parameters<KubeClient['stream']>[0]) {
      for await (const event of client.stream<T>(request)) {
        if ((event as { type?: string }).type === 'DELETED') await untilAllowed;
        yield event;
      }
    },
  };
}

describe('An object that is being deleted', () => {
  it('is released once, and its handlers are called once, whatever others do to it meanwhile', async () => {
    let allow = () => {};
    const untilAllowed = new Promise<void>((resolve) => {
      allow = resolve;
    });
    await using operator = await operated({ through: (client) => slowNews(client, untilAllowed) });
    const calls: string[] = [];
    operator.registry.on.delete('kopfexamples', { id: 'd1' }, async ({ name }) => {
      calls.push('d1');
      // The version changes, so that the finalizer cannot be removed from the one that is known.
      if (calls.length === 1) await operator.edit(name, { metadata: { labels: { changed: 'yes' } } });
    });
    await operator.start();
    await operator.create('name1');
    await operator.remove('name1');
    await operator.advance(10);
    expect(calls).toEqual(['d1']);
    const releases = operator.patches.filter(({ body }) => JSON.stringify(body).includes('"remove"'));
    // What has come from the stream meanwhile is known: the finalizer is removed from the newest state.
    expect(releases).toHaveLength(1);

    allow();
    await operator.settle();
    expect(calls).toEqual(['d1']);
    expect(operator.logger.find('Deleted, really deleted')).toBeDefined();
  });
});

describe('An object that is to be held', () => {
  it('gets the finalizer in the end, in spite of all conflicts', async () => {
    let conflicts = 3;
    await using operator = await operated({
      through: (client) => ({
        stream: (request) => client.stream(request),
        async request(request) {
          if (request.contentType === 'application/json-patch+json' && conflicts > 0) {
            conflicts -= 1;
            const body = { metadata: { labels: { conflict: String(conflicts) } } };
            await client.request({ ...request, contentType: 'application/merge-patch+json', body });
          }
          return await client.request(request);
        },
      }),
    });
    operator.registry.on.delete('kopfexamples', { id: 'd1' }, () => {});
    await operator.start();
    await operator.create('name1');
    await operator.advance(10);
    const { metadata } = await operator.get('name1');
    expect(metadata?.finalizers).toEqual(['kopf.zalando.org/KopfFinalizerMarker']);
    expect(operator.patches).toHaveLength(3 + 1 + 3 + 1);
    expect(operator.logger.messages('error')).toEqual([]);
  });
});
