/** Where the proxy leads to, and how it gets in there. */
import { getOwn, isMapping, KopfError } from '@kopf-ts/core';

export interface Target {
  readonly url: string;
  /** In PEM. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** For clients that send no credentials of their own. */
  readonly token?: string;
  /** Do not check the certificate of the server. */
  readonly insecure?: boolean;
}

/** Understands URLs, kubeconfigs (with everything inline), and ready targets. */
export async function readTarget(target: string | Target): Promise<Target> {
  if (typeof target !== 'string') return target;
  if (/^https?:\/\/\S+$/.test(target.trim())) return { url: target.trim() };
  const { parse } = await import('yaml');
  const config: unknown = parse(target);
  const context = named(config, 'contexts', 'context', getText(config, 'current-context'));
  const cluster = named(config, 'clusters', 'cluster', getText(context, 'cluster'));
  const user = named(config, 'users', 'user', getText(context, 'user'));
  const url = getText(cluster, 'server');
  if (url === undefined) {
    throw new KopfError('The kubeconfig for the fault proxy has no server in its current context.', {
      code: 'KOPF_BAD_KUBECONFIG',
    });
  }
  const ca = decoded(getText(cluster, 'certificate-authority-data'));
  const cert = decoded(getText(user, 'client-certificate-data'));
  const key = decoded(getText(user, 'client-key-data'));
  const token = getText(user, 'token');
  return {
    url,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(token === undefined ? {} : { token }),
    ...(isMapping(cluster) && getOwn(cluster, 'insecure-skip-tls-verify') === true ? { insecure: true } : {}),
  };
}

function named(config: unknown, list: string, key: string, name: string | undefined): unknown {
  const rows: unknown = isMapping(config) ? getOwn(config, list) : undefined;
  const row: unknown = Array.isArray(rows)
    ? rows.find((one) => isMapping(one) && getOwn(one, 'name') === name)
    : undefined;
  return isMapping(row) ? getOwn(row, key) : undefined;
}

function getText(source: unknown, key: string): string | undefined {
  const value = isMapping(source) ? getOwn(source, key) : undefined;
  return typeof value === 'string' ? value : undefined;
}

const decoded = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : Buffer.from(text, 'base64').toString('utf8');
