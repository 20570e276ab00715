import { Agent } from 'node:http';
import { describe, expect, it } from 'vitest';
import { webhookServer } from '../../../src/index.js';
import { ANSWER, ask, certificatesOnDemand, dial, localMaterial, served } from '../support.js';

const plain = () => webhookServer({ insecure: true, addr: '127.0.0.1' });

/** A review that takes as long as it is told to. */
function slowReview() {
  let release = (): void => {};
  let arrive = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const review = async () => {
    arrive();
    await released;
    return ANSWER;
  };
  return { review, arrived, release };
}

describe('a server that ends', () => {
  it('waits for the requests under way, and asks to close their connections', async () => {
    const { review, arrived, release } = slowReview();
    const server = await served(plain(), { review });
    const answer = ask(`${server.url}/fn`, { headers: { connection: 'keep-alive' } });
    await arrived;
    const end = server.end();
    release();
    expect(await answer).toMatchObject({ status: 200, headers: { connection: 'close' } });
    await end;
  });

  it('does not wait for long', async () => {
    const { review, arrived } = slowReview();
    const server = await served(plain(), { review });
    const answer = ask(`${server.url}/fn`).catch((error: unknown) => error);
    await arrived;
    let hasEnded = false;
    const end = server.end().then(() => {
      hasEnded = true;
    });
    await server.clock.advance(4.9);
    expect(hasEnded).toBe(false);
    await server.clock.advance(0.1);
    await end;
    expect(await answer).toMatchObject({ code: 'ECONNRESET' });
  });

  it('answers by the connections that are open, each for once, while they are not known to be useless', async () => {
    const server = await served(plain());
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const used = await ask(`${server.url}/fn`, { agent });
    expect(used.headers.connection).toBe('keep-alive');
    const end = server.end();
    await server.clock.advance(0.9);
    await expect(ask(`${server.url}/fn`)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(await ask(`${server.url}/fn`, { agent })).toMatchObject({ status: 200, headers: { connection: 'close' } });
    await end;
  });

  it('does not wait for long for those who say nothing, nor for those who never shake hands', async () => {
    const certificates = certificatesOnDemand(await localMaterial());
    const server = await served(webhookServer({ addr: '127.0.0.1', certificates }));
    const silent = await dial(server.url);
    const end = server.end();
    await server.clock.advance(1);
    await end;
    expect(await silent.received).toBe('');
  });

  it('closes at once, even if nobody waits for the end', async () => {
    const server = await served(plain());
    server.abort();
    await expect(ask(`${server.url}/fn`)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(await server.next()).toBeUndefined();
  });
});
