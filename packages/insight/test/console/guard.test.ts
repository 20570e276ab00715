import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { shown } from '../support/shown.js';
import { objectOf } from '../support/told.js';

function tokenFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'kopf-ts-console-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'tokens');
  writeFileSync(file, 'writer\nreader read\n');
  return file;
}

describe('The page of the console', () => {
  it('has all in it, runs nothing but its own script, and asks nobody but the operator', async () => {
    const { body, headers } = await shown().ask('/');
    const html = String(body);
    expect(headers?.['content-type']).toBe('text/html; charset=utf-8');
    const policy = headers?.['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).not.toMatch(/(?:src|href)="(?!data:|#)/);
    expect(html).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/);
  });

  it('takes at most 30 KB on its way', async () => {
    const { body } = await shown().ask('/');
    expect(gzipSync(String(body)).length).toBeLessThanOrEqual(30_000);
  });
});

describe('The guard of the console', () => {
  it('gives the empty page to everybody who names this machine, and what it shows to nobody from elsewhere', async () => {
    const { ask } = shown();
    // By a link of somebody else's site.
    expect((await ask('/', { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBeUndefined();
    expect((await ask('/', { headers: { host: 'evil.example' } })).status).toBe(403);
    expect((await ask('/api/live', { headers: { host: 'evil.example' } })).status).toBe(403);
    expect((await ask('/api/live', { headers: { origin: 'http://evil.example' } })).status).toBe(403);
    expect((await ask('/api/live', { headers: { 'sec-fetch-site': 'same-site' } })).status).toBe(403);
  });

  it('refuses what cannot be a kind at once, as a mistake of whoever asks', async () => {
    const { status, body } = await shown().ask('/api/live?atResource=a/b/c/d&atName=one');
    expect([status, String(body)]).toEqual([400, expect.stringContaining('Too many parts')]);
  });

  it('wants a token wherever there are tokens, except for the page itself', async () => {
    const place = shown({ url: 'http://0.0.0.0:8082', insight: { tokenFile: tokenFile() } });
    expect((await place.ask('/')).status).toBeUndefined();
    expect((await place.ask('/api/live')).status).toBe(401);
    expect((await place.ask('/api/live', { headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
    const mayWrite = async (token: string) => {
      const leaving = new AbortController();
      const headers = { authorization: `Bearer ${token}` };
      const { body } = await place.ask('/api/live', { headers, signal: leaving.signal });
      for await (const piece of body as AsyncIterable<string>) {
        leaving.abort();
        return /"mayWrite":(\w+)/.exec(piece)?.[1];
      }
      return undefined;
    };
    expect(await mayWrite('reader')).toBe('false');
    expect(await mayWrite('writer')).toBe('true');
  });

  it('lets only those act whose tokens are for writing', async () => {
    const place = shown({ url: 'http://0.0.0.0:8082', insight: { tokenFile: tokenFile() } });
    place.has('one', { object: objectOf('one') });
    const body = JSON.stringify({ action: 'retry', resource: 'kopfexamples', namespace: 'default', name: 'one' });
    const act = async (headers: Record<string, string>) =>
      (
        await place.ask('/api/actions', {
          method: 'POST',
          body,
          headers: { 'content-type': 'application/json', ...headers },
        })
      ).status;
    expect(await act({})).toBe(401);
    expect(await act({ authorization: 'Bearer reader' })).toBe(403);
    expect(await act({ authorization: 'Bearer writer', origin: 'http://evil.example' })).toBe(403);
    expect(await act({ authorization: 'Bearer writer', 'content-type': 'text/plain' })).toBe(415);
    expect(await act({ authorization: 'Bearer writer', origin: 'http://0.0.0.0:8082' })).toBe(200);
  });

  it('does not let the console listen for everybody without tokens', () => {
    expect(() => shown({ url: 'http://0.0.0.0:8082' })).toThrow('could be asked by everybody around');
    expect(() => shown({ url: 'http://:8082' })).toThrow('could be asked by everybody around');
  });
});
