import type { TracedWork, Tracing } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { scripted } from '../helpers/scripted.js';

const get = { method: 'GET', path: '/api/v1/pods' } as const;
const watch = { method: 'GET', path: '/api/v1/pods?watch=true' } as const;

function traced(steps: Parameters<typeof scripted>[0], headers: Record<string, string> = {}) {
  const works: TracedWork[] = [];
  const ended: string[] = [];
  const tracing: Tracing = {
    around(work, fn) {
      works.push(work);
      const result = fn();
      const end = (how: string) => () => void ended.push(how);
      void Promise.resolve(result).then(end('succeeded'), end('failed'));
      return result;
    },
    headers: () => headers,
  };
  return { ...scripted(steps, { errorBackoffs: [1] }, { tracing }), works, ended };
}

describe('a trace', () => {
  it('goes around a request with all its tries', async () => {
    const { request, works, ended, sent } = traced([{ status: 500 }, {}]);
    await request(get);
    expect(works).toEqual([{ kind: 'request', ...get }]);
    expect(ended).toEqual(['succeeded']);
    expect(sent).toHaveLength(2);
  });

  it('goes around the opening of a stream', async () => {
    const { client, works, ended } = traced([{ body: '1\n' }]);
    const stream = client.stream(watch)[Symbol.asyncIterator]();
    await expect(stream.next()).resolves.toEqual({ done: false, value: 1 });
    expect(works).toEqual([{ kind: 'request', ...watch }]);
    expect(ended).toEqual(['succeeded']);
  });

  it('does not show the secrets of addresses', async () => {
    const { request, works } = traced([{}]);
    await request({ method: 'GET', path: 'https://me:secret@other.example/x' });
    expect(JSON.stringify(works)).not.toContain('secret');
  });

  it('is made known to the server', async () => {
    const { request, sent } = traced([{}], { traceparent: '00-0af7-b7ad-01' });
    await request(get);
    expect(sent[0]?.headers).toMatchObject({ traceparent: '00-0af7-b7ad-01', authorization: 'Bearer tkn' });
  });

  it('is not made known to strangers', async () => {
    const { request, sent } = traced([{}], { traceparent: '00-0af7-b7ad-01' });
    await request({ method: 'GET', path: 'https://other.example/x' });
    expect(Object.keys(sent[0]?.headers ?? {})).not.toContain('traceparent');
  });

  it.each([
    ['replaces ours', { Authorization: 'Bearer other', ACCEPT: 'text/html' }],
    ['would break the connection', { 'Content-Length': '5', host: 'other' }],
    ['would change what the contents are', { 'content-type': 'x/y', Accept: 'x/y', 'content-encoding': 'gzip' }],
    ['is no header', { 'a b': '1', a: 'x\r\ny: z' }],
  ])('adds no header that %s', async (_title, headers) => {
    const { request, sent } = traced([{}], headers);
    await request(get);
    expect(sent[0]?.headers).toEqual({
      accept: 'application/json',
      authorization: 'Bearer tkn',
      'user-agent': expect.any(String),
    });
  });

  it('that fails does no harm', async () => {
    const broken: Tracing = {
      around() {
        throw new Error('no span');
      },
      headers() {
        throw new Error('no headers');
      },
    };
    const { request, sent, logger } = scripted([{ body: { fine: true } }], {}, { tracing: broken });
    await expect(request(get)).resolves.toEqual({ fine: true });
    expect(sent).toHaveLength(1);
    expect(logger.messages('error')).toHaveLength(1);
  });
});
