/** The options that servers have in common: what they mean, and how they are checked. */
import type { SecureContext, SecureContextOptions } from 'node:tls';
import type { Seconds } from '@kopf-ts/core';
import type { TlsSource } from '../certificates/tls-source.js';
import {
  badOption,
  COUNT,
  checkOptions,
  DATA,
  FILE,
  FLAG,
  FUNCTION_OF,
  OBJECT,
  ONE_OF,
  type OptionChecks,
  PATH,
  PORT,
  POSITIVE,
  SECRET_TEXT,
  SIZE,
  TEXT,
  TEXTS,
} from './option-checks.js';

/**
 * Where to listen, and what to bear.
 *
 * ```ts
 * const options: kopf.webhooks.ListeningOptions = { addr: '127.0.0.1', port: 9443, bodyLimit: 4 * 1024 * 1024 };
 * ```
 */
export interface ListeningOptions {
  /** The address of the interface to listen on. Default: all interfaces. */
  readonly addr?: string | undefined;
  /** Default: any free port; which one is known only when the server has started. */
  readonly port?: number | undefined;
  /** How many bytes a request may have. Default: 7 MiB, as objects have up to 3 MiB, and a review may have two of them. */
  readonly bodyLimit?: number | undefined;
  /**
   * How many bytes of memory all requests under way may take together, over all connections: as they come, and as they
   * are understood, which is several times as much. What does not fit is refused with the status 503, and API servers
   * try it again after a second. Default: a quarter of the heap that Node is permitted (`--max-old-space-size`).
   */
  readonly bodyBudget?: number | undefined;
  /** How long a request may take to arrive as a whole. Default: 30, as the API server never waits for longer. */
  readonly requestTimeout?: Seconds | undefined;
  /**
   * How many connections there may be at once; those beyond are closed at once. API servers need one for each review that
   * they wait for. Default: 1000.
   */
  readonly maxConnections?: number | undefined;
}

/**
 * Where the certificates come from: given files, or a source, or a context; else they are made.
 *
 * ```ts
 * const options: kopf.webhooks.CertificateOptions = { certfile: '/tls/tls.crt', pkeyfile: '/tls/tls.key' };
 * ```
 */
export interface CertificateOptions {
  /** PEM of the authority that callers should trust. Default: what the certificates say of themselves. */
  readonly cadata?: string | Uint8Array | undefined;
  /** The same, from a file. */
  readonly cafile?: string | undefined;
  /** The file to write the authority to, for calling the server by hand. Written again when it changes. */
  readonly cadump?: string | undefined;
  /** A TLS context with certificates in it, or what it is to be made of. */
  readonly context?: SecureContext | SecureContextOptions | undefined;
  readonly certfile?: string | undefined;
  readonly pkeyfile?: string | undefined;
  /** Of the private key. */
  readonly password?: string | undefined;
  /** More names and addresses for the certificate that is made. */
  readonly extraSans?: readonly string[] | undefined;
  /** How often to look for new certificates in the files. Default: 60. */
  readonly fileCheckInterval?: Seconds | undefined;
  /** How long a certificate that is made lives; it is replaced after two thirds of that. */
  readonly validity?: Seconds | undefined;
  /** The same for the authority that is made. */
  readonly authorityValidity?: Seconds | undefined;
  /** The secret to share the made authority through, for several replicas behind one address. */
  readonly secret?: { readonly namespace: string; readonly name: string } | undefined;
  /** Any other source of certificates. */
  readonly certificates?: TlsSource | undefined;
}

/**
 * Whether callers must show a certificate.
 *
 * ```ts
 * const verifyMode: kopf.webhooks.VerifyMode = 'optional';
 * ```
 */
export type VerifyMode = 'none' | 'optional' | 'required';

/**
 * Whether callers have to show certificates of their own, and by whom these must be signed. By default, callers are not
 * authenticated: anybody who can reach the server can send reviews.
 *
 * ```ts
 * const options: kopf.webhooks.VerificationOptions = { verifyMode: 'required', verifyCafile: '/tls/callers.crt' };
 * ```
 */
export interface VerificationOptions {
  /**
   * `'optional'` lets those without a certificate in, but nobody with a wrong one. Default: `'none'`; or `'optional'`
   * if it is said who signs.
   */
  readonly verifyMode?: VerifyMode | undefined;
  readonly verifyCafile?: string | undefined;
  /** A directory with certificates of authorities. */
  readonly verifyCapath?: string | undefined;
  readonly verifyCadata?: string | Uint8Array | undefined;
}

/**
 * Where the server listens, how it is reached, and with which certificates.
 *
 * ```ts
 * const options: kopf.webhooks.WebhookServerOptions = { port: 9443, host: 'operator.example.com', path: '/hooks' };
 * ```
 */
export interface WebhookServerOptions extends ListeningOptions, CertificateOptions, VerificationOptions {
  /** Where admission requests are accepted: `<path>/<handler id>`. Default: directly under the root. */
  readonly path?: string | undefined;
  /** The name or address under which the API server can reach us. Default: that of `addr`. */
  readonly host?: string | undefined;
  /** What is announced instead of our own address: if there is something in front of us. With its path. */
  readonly url?: string | undefined;
  /** Without TLS. The API server never calls such a server itself: it is for those behind tunnels and proxies. */
  readonly insecure?: boolean | undefined;
}

export const LISTENING_CHECKS: OptionChecks<ListeningOptions> = {
  addr: TEXT,
  port: PORT,
  bodyLimit: SIZE,
  bodyBudget: SIZE,
  requestTimeout: POSITIVE,
  maxConnections: COUNT,
};

export const TLS_CHECKS: OptionChecks<CertificateOptions & VerificationOptions> = {
  cadata: DATA,
  cafile: FILE,
  cadump: FILE,
  context: OBJECT('a TLS context, or options for one'),
  certfile: FILE,
  pkeyfile: FILE,
  password: SECRET_TEXT,
  extraSans: TEXTS,
  verifyMode: ONE_OF('none', 'optional', 'required'),
  verifyCafile: FILE,
  verifyCapath: FILE,
  verifyCadata: DATA,
  fileCheckInterval: POSITIVE,
  validity: POSITIVE,
  authorityValidity: POSITIVE,
  secret: {
    must: 'the address of a secret, such as { namespace: "default", name: "certificates" }',
    accepts: (value) =>
      typeof value === 'object' &&
      value !== null &&
      TEXT.accepts((value as Record<string, unknown>)['namespace']) &&
      TEXT.accepts((value as Record<string, unknown>)['name']),
  },
  certificates: FUNCTION_OF('a source of certificates: an object with the method materials()', 'materials'),
};

const CHECKS: OptionChecks<WebhookServerOptions> = {
  ...LISTENING_CHECKS,
  path: PATH,
  host: TEXT,
  url: {
    must: 'an absolute URL without a query, such as "https://webhooks.example.com/path"',
    accepts: (value) => typeof value === 'string' && isPlainUrl(value),
  },
  insecure: FLAG,
  ...TLS_CHECKS,
};

type CertificateOption = keyof CertificateOptions;

/** Where certificates come from; and the options that mean something then. All others would be ignored in silence. */
const MEANINGFUL: Readonly<Record<'plain' | 'files' | 'context' | 'source' | 'made', readonly CertificateOption[]>> = {
  plain: ['cadata', 'cafile', 'cadump', 'fileCheckInterval'],
  files: ['certfile', 'pkeyfile', 'password', 'cadata', 'cafile', 'cadump', 'fileCheckInterval'],
  context: ['context', 'cadata', 'cafile', 'cadump', 'fileCheckInterval'],
  source: ['certificates', 'cadump'],
  made: ['password', 'extraSans', 'validity', 'authorityValidity', 'secret', 'cadump'],
};

const SITUATIONS: Readonly<Record<keyof typeof MEANINGFUL, string>> = {
  plain: 'when it is insecure',
  files: 'when its certificates are given as files',
  context: 'when its TLS context is given',
  source: 'when its certificates come from a source',
  made: 'when it makes its certificates by itself',
};

const HINTS: Readonly<Partial<Record<CertificateOption, string>>> = {
  cafile: ' To verify callers, there is verifyCafile.',
  cadata: ' To verify callers, there is verifyCadata.',
};

/** Throws if the options contradict each other, or cannot be meant as they are. */
export function checkServerOptions(owner: string, options: WebhookServerOptions): void {
  checkOptions(owner, options, CHECKS);
  checkListening(owner, options);
  checkTlsOptions(owner, options);
}

export function checkListening(owner: string, { bodyLimit, bodyBudget }: ListeningOptions): void {
  if (bodyLimit === undefined || bodyBudget === undefined || bodyLimit <= bodyBudget) return;
  throw badOption(
    `${owner} has a bodyLimit of ${bodyLimit} bytes, and a bodyBudget of ${bodyBudget} for all requests together: the ` +
      'largest of them could never be accepted.',
  );
}

type TlsOptions = CertificateOptions & VerificationOptions & Pick<WebhookServerOptions, 'insecure'>;

export function checkTlsOptions(owner: string, options: TlsOptions): void {
  const { certfile, pkeyfile, context, certificates, secret, insecure = false } = options;
  const sources = Object.entries({ certfile, context, certificates, secret }).filter(([, it]) => it !== undefined);
  if (sources.length > 1) {
    const names = sources.map(([name]) => name).join(' and ');
    throw badOption(`${owner} can take its certificates from one place only; these are several: ${names}.`);
  }
  if (insecure) {
    const plain = new Set<string>(MEANINGFUL.plain);
    const pointless = Object.keys(TLS_CHECKS).filter(
      (name) => !plain.has(name) && options[name as keyof TlsOptions] !== undefined,
    );
    if (pointless.length > 0) {
      throw badOption(`${owner} cannot be insecure and have ${pointless.join(', ')}: that is only for TLS.`);
    }
  } else if ((certfile === undefined) !== (pkeyfile === undefined)) {
    throw badOption(`${owner} needs both certfile and pkeyfile, or none of them to make certificates of its own.`);
  }
  checkVerification(owner, options);
  checkCertificates(owner, options);
}

function checkCertificates(owner: string, options: TlsOptions): void {
  const situation = situationOf(options);
  const meaningful = new Set<string>(MEANINGFUL[situation]);
  const pointless = Object.values(MEANINGFUL)
    .flat()
    .filter((name) => !meaningful.has(name) && options[name] !== undefined);
  const [first] = pointless;
  if (first !== undefined) {
    throw badOption(
      `${owner} has no use for ${[...new Set(pointless)].join(', ')} ${SITUATIONS[situation]}.${HINTS[first] ?? ''}`,
    );
  }
  const isAnnounced = situation === 'files' || situation === 'source' || situation === 'made';
  if (isAnnounced || options.cadata !== undefined || options.cafile !== undefined) return;
  if (options.cadump !== undefined) {
    throw badOption(`${owner} has nothing to write to cadump: its authority is not known. Give cafile or cadata.`);
  }
  if (options.fileCheckInterval !== undefined) {
    throw badOption(`${owner} has no use for fileCheckInterval: there are no files to look at.`);
  }
}

function situationOf(options: TlsOptions): keyof typeof MEANINGFUL {
  if (options.insecure) return 'plain';
  if (options.certfile !== undefined || options.pkeyfile !== undefined) return 'files';
  if (options.context !== undefined) return 'context';
  return options.certificates === undefined ? 'made' : 'source';
}

function checkVerification(owner: string, options: CertificateOptions & VerificationOptions): void {
  const { context, verifyMode = 'none', verifyCafile, verifyCapath, verifyCadata } = options;
  const isReady = context !== undefined && 'context' in context;
  const isGiven = [verifyCafile, verifyCapath, verifyCadata].some((it) => it !== undefined);
  // It would be ignored, and everybody be let in whom any of the public authorities vouches for.
  if (isReady && isGiven) {
    throw badOption(
      `${owner} cannot put authorities into a ready TLS context: make it with them as "ca", and say verifyMode; or give ` +
        'the options of the context instead.',
    );
  }
  // The same here: without its own authorities, a context trusts all the public ones.
  const hasAuthorities = isGiven || isReady || (context !== undefined && context.ca !== undefined);
  if (verifyMode !== 'none' && !hasAuthorities) {
    throw badOption(
      `${owner} cannot verify its callers without knowing who signs their certificates: give verifyCafile, ` +
        'verifyCapath or verifyCadata. (The option cafile is about the certificate of the server itself.)',
    );
  }
}

/** As Kubernetes permits: neither a user, nor a query, nor a fragment. */
function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '' && !/[?#]/.test(text);
}
