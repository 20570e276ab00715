import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { consolePlace, kubeconfigPath, placeKubeconfig, portOf } from '../../src/dev/places.js';

describe('the port of a folder', () => {
  it('is always the same, between the ports that are for others', () => {
    const folders = Array.from({ length: 500 }, (_, index) => `/jane/project-${index}`);
    for (const folder of folders) {
      expect(portOf(folder)).toBe(portOf(folder));
      expect(portOf(folder)).toBeGreaterThanOrEqual(20_000);
      expect(portOf(folder)).toBeLessThan(30_000);
    }
    // Hardly ever the same for two of them.
    expect(new Set(folders.map(portOf)).size).toBeGreaterThan(450);
  });
});

describe('the console of kopf dev', () => {
  /** In use by something else. */
  async function neighbour(): Promise<{ readonly port: number; close(): Promise<unknown> }> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return { port, close: () => new Promise((resolve) => server.close(resolve)) };
  }

  it('is at its usual port; or at another one, if that is in use', async () => {
    const { port, close } = await neighbour();
    const other = await consolePlace('/jane/project', port);
    expect(other.url).toMatch(/^http:\/\/127\.0\.0\.1:1\d{4}$/);
    await close();
    const usual = await consolePlace('/jane/project', port);
    expect(usual.url).toBe(`http://127.0.0.1:${port}`);
    for (const place of [other, usual]) place.release();
  });

  it('is not where another one is about to be, until that one has ended', async () => {
    const { port, close } = await neighbour();
    await close();
    const places = await Promise.all(Array.from({ length: 5 }, () => consolePlace('/jane/project', port)));
    const urls = places.map(({ url }) => url);
    expect(urls).toContain(`http://127.0.0.1:${port}`);
    expect(new Set(urls).size).toBe(5);
    for (const place of places) place.release();
    const again = await consolePlace('/jane/project', port);
    expect(again.url).toBe(`http://127.0.0.1:${port}`);
    again.release();
  });
});

describe('the kubeconfig of a folder', () => {
  it.each([
    ['/jane/shop', {}, 'XDG', '/cache/kopf-ts/dev/shop-23456.yaml'],
    ['/jane/my shop (new)', {}, 'XDG', '/cache/kopf-ts/dev/my-shop-new--23456.yaml'],
    ['/', {}, 'XDG', '/cache/kopf-ts/dev/root-23456.yaml'],
    ['/jane/shop', { HOME: '/jane' }, '', '/jane/.cache/kopf-ts/dev/shop-23456.yaml'],
  ])('of %s is in the cache of its user', (folder, env, has, path) => {
    const cache = has === 'XDG' ? { XDG_CACHE_HOME: '/cache' } : { XDG_CACHE_HOME: '' };
    expect(kubeconfigPath(folder, 23_456, { ...env, ...cache })).toBe(path);
  });

  it('is for its owner only, replaces what is there, and goes in the end', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kopf-ts-places-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'new', 'one.yaml');
    await placeKubeconfig(path, 'old');
    const remove = await placeKubeconfig(path, 'new');
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await remove();
    expect(() => statSync(path)).toThrow('ENOENT');
  });
});
