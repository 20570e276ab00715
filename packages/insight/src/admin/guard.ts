/** Who may ask the admin endpoint, and who may act by it: decided by each request alone. */
import { timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { KopfError, type PageAnswer, type PageRequest } from '@kopf-ts/core';

type Admission =
  | { readonly kind: 'refused'; readonly answer: PageAnswer }
  | { readonly kind: 'admitted'; readonly mayWrite: boolean };

export interface GuardOptions {
  /** As users write it: `http://127.0.0.1:8083`. */
  readonly url: string;
  /** Asked for at each request, as Secrets are changed while the operator runs. */
  readonly tokenFile: string | undefined;
}

/** What is asked for: `isPublic` is a page without any data, which browsers may also open by links, and without a token. */
type Guard = (request: PageRequest, what?: { readonly isPublic: boolean }) => Admission;

/** Throws if everybody around could ask. */
export function guardOf({ url, tokenFile }: GuardOptions): Guard {
  if (!isLoopback(hostOf(url)) && tokenFile === undefined) {
    throw new KopfError(
      `The endpoint "${url}" could be asked by everybody around: set settings.insight.tokenFile (--admin-token-file), ` +
        'or let it listen on http://127.0.0.1 only.',
      { code: 'KOPF_UNGUARDED_ENDPOINT' },
    );
  }
  return ({ method, headers }, { isPublic = false } = { isPublic: false }) => {
    const { host, origin } = headers;
    // A page of somebody else's may give its own name an address of this machine: then, the browser says that name.
    const isNamed = host !== undefined && (isLoopback(hostOf(`http://${host}`)) || tokenFile !== undefined);
    if (!isNamed) return refused(403, 'the Host is not an address of this machine');
    if (isPublic) return { kind: 'admitted', mayWrite: false };
    if (origin !== undefined && origin !== `http://${host}`)
      return refused(403, 'requests from other sites are refused');
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin' && site !== 'none') {
      return refused(403, 'requests from other sites are refused');
    }
    const isWrite = method !== 'GET' && method !== 'HEAD';
    if (isWrite && !/^application\/json\b/.test(headers['content-type'] ?? '')) {
      return refused(415, 'actions are asked for in application/json');
    }
    if (tokenFile === undefined) return { kind: 'admitted', mayWrite: true };
    const scope = scopeOf(headers['authorization'], tokensIn(tokenFile));
    if (scope === undefined) return refused(401, 'a token is needed', { 'www-authenticate': 'Bearer' });
    if (isWrite && scope !== 'write') return refused(403, 'the token is for reading only');
    return { kind: 'admitted', mayWrite: scope === 'write' };
  };
}

function refused(status: number, error: string, headers: Readonly<Record<string, string>> = {}): Admission {
  return { kind: 'refused', answer: jsonAnswer({ error }, status, headers) };
}

export function jsonAnswer(content: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): PageAnswer {
  const usual = { 'content-type': 'application/json; charset=utf-8', 'x-content-type-options': 'nosniff' };
  return { status, headers: { ...usual, ...headers }, body: `${JSON.stringify(content)}\n` };
}

/** Without the port and the brackets; `URL` refuses what people write most: an absent host. */
function hostOf(url: string): string {
  const host = /^[a-z]+:\/\/(\[[^\]]*\]|[^:@/?#]*)(?::\d+)?(?:\/|$)/i.exec(url)?.[1] ?? '';
  return host.replace(/^\[|\]$/g, '').toLowerCase();
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

interface Token {
  readonly text: string;
  readonly scope: 'read' | 'write';
}

/** One in each line, with its scope after it; without any, it is for writing. What cannot be read admits nobody. */
function tokensIn(file: string): readonly Token[] {
  let lines: readonly string[];
  try {
    lines = readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
  return lines.flatMap((line): Token[] => {
    const [text = '', scope = 'write'] = line.trim().split(/\s+/);
    return text === '' ? [] : [{ text, scope: scope === 'write' ? 'write' : 'read' }];
  });
}

function scopeOf(authorization: string | undefined, tokens: readonly Token[]): Token['scope'] | undefined {
  const given = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
  if (given === undefined) return undefined;
  return tokens.find(({ text }) => isSame(text, given))?.scope;
}

/** It takes as long for a wrong one as for a right one. */
function isSame(text: string, given: string): boolean {
  const [one, other] = [Buffer.from(text), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}
