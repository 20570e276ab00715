import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface TemporaryFolder extends Disposable {
  readonly path: string;
  /** Writes the file, with its folders, and gives its full path. Anything but texts is written as JSON. */
  write(name: string, content: unknown): string;
}

export function temporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), 'kopf-ts-client-'));
  return {
    path,
    write(name, content) {
      const file = join(path, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
      return file;
    },
    [Symbol.dispose]() {
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** A kubeconfig with one context. */
export function kubeconfig(user: object = {}, cluster: object = {}, context: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'ctx',
    contexts: [{ name: 'ctx', context: { cluster: 'cls', user: 'usr', ...context } }],
    clusters: [{ name: 'cls', cluster: { server: 'https://host', ...cluster } }],
    users: [{ name: 'usr', user }],
  };
}

/** A token as the API server makes them, without a true signature. */
export function jwt(claims: object): string {
  const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  return `${encoded({ alg: 'RS256' })}.${encoded(claims)}.signature`;
}
