/** Kubeconfigs of a cluster, as texts and as files. The user's own kubeconfig is neither read nor written. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface KubeconfigContent {
  readonly server: string;
  /** In PEM; absent for plain HTTP. */
  readonly ca: string | undefined;
  readonly token: string | undefined;
  /** Both in PEM. */
  readonly client?: { readonly cert: string; readonly key: string };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The text of a kubeconfig with a single context. Strings are quoted as in JSON, which YAML understands. */
export function renderKubeconfig({ server, ca, token, client }: KubeconfigContent): string {
  const lines = [
    'apiVersion: v1',
    'kind: Config',
    'current-context: kopf-ts',
    'contexts:',
    '  - name: kopf-ts',
    '    context:',
    '      cluster: kopf-ts',
    '      user: kopf-ts',
    'clusters:',
    '  - name: kopf-ts',
    '    cluster:',
    `      server: ${JSON.stringify(server)}`,
    ...(ca === undefined ? [] : [`      certificate-authority-data: ${base64(ca)}`]),
    'users:',
    '  - name: kopf-ts',
    ...(token === undefined && client === undefined ? ['    user: {}'] : ['    user:']),
    ...(token === undefined ? [] : [`      token: ${JSON.stringify(token)}`]),
    ...(client === undefined
      ? []
      : [`      client-certificate-data: ${base64(client.cert)}`, `      client-key-data: ${base64(client.key)}`]),
  ];
  return `${lines.join('\n')}\n`;
}

/** Files in a temporary folder of ours, which nobody else on the machine can read. */
export class KubeconfigFolder {
  readonly #files = new Map<string, Promise<string>>();
  #folder: Promise<string> | undefined;

  /** The file for that key, written once; the path. */
  file(key: string, content: () => string): Promise<string> {
    const known = this.#files.get(key);
    if (known !== undefined) return known;
    const written = this.#write(`kubeconfig-${this.#files.size + 1}.yaml`, content());
    this.#files.set(key, written);
    return written;
  }

  async #write(name: string, content: string): Promise<string> {
    this.#folder ??= mkdtemp(join(tmpdir(), 'kopf-ts-'));
    const path = join(await this.#folder, name);
    await writeFile(path, content, { mode: 0o600, flag: 'wx' });
    // The mode of new files is subject to the process's mask, which can only take rights away; but make sure.
    await chmod(path, 0o600);
    return path;
  }

  /** Removes the files and the folder; new ones can be made afterwards. */
  async remove(): Promise<void> {
    const folder = this.#folder;
    this.#folder = undefined;
    this.#files.clear();
    if (folder !== undefined) await rm(await folder, { recursive: true, force: true });
  }
}
