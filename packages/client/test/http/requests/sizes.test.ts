import { settings } from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { kubeClient } from '../../../src/index.js';
import { JsonLines } from '../../../src/streams/json-lines.js';
import { loopbackServer, until } from '../../helpers/servers.js';

/** A server that never ends what it says; counts what it could get rid of. */
async function endlessServer(beginning: string, piece: string) {
  let sentBytes = 0;
  let requests = 0;
  const server = await loopbackServer((_request, response) => {
    requests += 1;
    response.write(beginning);
    const more = (): void => {
      let isRoom = true;
      while (isRoom && !response.destroyed && sentBytes < 64e6) {
        sentBytes += piece.length;
        isRoom = response.write(piece);
      }
    };
    response.on('drain', more);
    more();
  });
  return {
    server,
    get sentBytes() {
      return sentBytes;
    },
    get requests() {
      return requests;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function clientOf(server: string, limits: { maxAnswerSize?: number | undefined; maxLineSize?: number | undefined }) {
  const { maxLineSize, maxAnswerSize } = { ...settings().networking, ...settings().watching, ...limits };
  const logger = recordingLogger();
  const config = settings({ networking: { maxAnswerSize, errorBackoffs: [1, 1] }, watching: { maxLineSize } });
  return {
    logger,
    ...{ client: kubeClient({ connection: { server }, clock: manualClock(), logger, settings: config }) },
  };
}

const get = { method: 'GET', path: '/api/v1/pods' } as const;

describe('an answer without an end', () => {
  it.each([100_000, 1_000_000])('is not read beyond %i bytes, and not asked for again', async (maxAnswerSize) => {
    await using endless = await endlessServer('{"items":[0', ',1234567'.repeat(1000));
    const { client, logger } = clientOf(endless.server.url, { maxAnswerSize });
    await expect(client.request(get)).rejects.toMatchObject({
      code: 'KOPF_TOO_LARGE',
      message: `The answer from ${endless.server.url} has more than ${maxAnswerSize} bytes; reading stopped. If this size is expected, raise settings.networking.maxAnswerSize.`,
    });
    await until(() => endless.server.connections.open === 0, 'the connection to be closed');
    expect(endless.sentBytes).toBeLessThan(60e6);
    expect(endless.requests).toBe(1);
    expect(logger.messages('error')).toEqual([]);
    await client.close();
  });

  it.each([
    [20, true],
    [19, false],
    [undefined, true],
  ])('is only that which has more bytes than the limit: 20 of %s', async (maxAnswerSize, isFine) => {
    const text = '{"a":"äöü 12345678"}'.slice(0, -5).concat('"}');
    expect(Buffer.byteLength(text)).toBe(20);
    await using server = await loopbackServer((_request, response) => response.end(text));
    const { client } = clientOf(server.url, { maxAnswerSize });
    const answer = client.request(get);
    await (isFine
      ? expect(answer).resolves.toEqual(JSON.parse(text))
      : expect(answer).rejects.toThrow('more than 19 bytes'));
    await client.close();
  });
});

describe('a line without an end', () => {
  it.each([100_000, 1_000_000])('breaks the stream after %i bytes', async (maxLineSize) => {
    await using endless = await endlessServer('{"first":true}\n{"second":"', 'x'.repeat(8000));
    const { client } = clientOf(endless.server.url, { maxLineSize });
    const stream = client.stream(get)[Symbol.asyncIterator]();
    await expect(stream.next()).resolves.toMatchObject({ value: { first: true } });
    await expect(stream.next()).rejects.toMatchObject({
      code: 'KOPF_TOO_LARGE',
      message: expect.stringContaining(`A line of the stream has more than ${maxLineSize} bytes`),
    });
    await expect(stream.next()).resolves.toMatchObject({ done: true });
    await until(() => endless.server.connections.open === 0, 'the connection to be closed');
    expect(endless.sentBytes).toBeLessThan(60e6);
    await client.close();
  });

  it.each([1, 3, 10, 100])('is told by the bytes of that line alone, in chunks of %i', (size) => {
    const lines = new JsonLines(12);
    const bytes = Buffer.from('"123456789"\n"1234567890"\n"x"\n"12345678901"\n');
    const taken: unknown[] = [];
    const feedAll = (): void => {
      for (let at = 0; at < bytes.length; at += size) {
        lines.feed(bytes.subarray(at, at + size));
        for (let line = lines.take(); line !== undefined; line = lines.take()) taken.push(line.value);
      }
    };
    expect(feedAll).toThrow('more than 12 bytes');
    expect(taken).toEqual(['123456789', '1234567890', 'x']);
  });
});
