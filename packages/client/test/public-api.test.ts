import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as client from '../src/index.js';

it('exports the client, the credentials, the logins, and the parts of a connection', () => {
  expect(Object.keys(client).sort()).toEqual([
    'KubeConnectionError',
    'KubeTimeoutError',
    'authorizationOf',
    'kubeClient',
    'login',
    'loginWithKubeconfig',
    'loginWithServiceAccount',
    'reloadingCredentials',
    'staticCredentials',
    'tlsOptions',
  ]);
});

it('loads neither YAML nor the library of plugins with itself', () => {
  const folder = new URL('../src/', import.meta.url);
  const statics = readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((file) => {
    if (!file.endsWith('.ts')) return [];
    const text = readFileSync(new URL(file, folder), 'utf8');
    return [...text.matchAll(/^(?:import|export)\b[^;]*?from '([^'.][^']*)'/gms)].map(([, specifier]) => specifier);
  });
  expect([...new Set(statics)].filter((specifier) => !specifier?.startsWith('node:')).sort()).toEqual([
    '@kopf-ts/core',
    '@kopf-ts/core/engine',
    // Its types only: it is loaded when there is a proxy.
    'undici',
  ]);
});
