/** The options that servers have in common: what they mean, and how they are checked. */
import type { SecureContext, SecureContextOptions } from 'node:tls';
import type { Seconds } from '@kopf-ts/core';
import type { TlsSource } from '../certificates/tls-source.js';
import {
  badOption,
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

/** Where to listen, and what to bear. */
export interface ListeningOptions {
  /** The address of the interface to listen on. Default: all interfaces. */
  readonly addr?: string | undefined;
  /** Default: any free port; which one is known only when the server has started. */
  readonly port?: number | undefined;
  /** How many bytes a request may have. Default: 16 MiB; a review may carry an object twice. */
  readonly bodyLimit?: number | undefined;
  /** How long a request may take to arrive as a whole. Default: 30, as the API server never waits for longer. */
  readonly requestTimeout?: Seconds | undefined;
}

/** Where the certificates come from: given files, or a source, or a context; else they are made. */
export interface CertificateOptions {
  /** PEM of the authority that callers should trust. Default: what the certificates say of themselves. */
  readonly cadata?: string | Uint8Array | undefined;
  /** The same, from a file. */
  readonly cafile?: string | undefined;
  /** The file to write the authority to, for those who call the server by hand. Written again when it changes. */
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

export type VerifyMode = 'none' | 'optional' | 'required';

/** Whether callers have to show certificates of their own, and by whom these must be signed. */
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
  requestTimeout: POSITIVE,
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

/** Without TLS, these would change nothing; and whoever gives them surely believes that they do. */
const SECURE_ONLY = [
  'context',
  'certfile',
  'pkeyfile',
  'password',
  'extraSans',
  'verifyMode',
  'verifyCafile',
  'verifyCapath',
  'verifyCadata',
  'validity',
  'authorityValidity',
  'secret',
  'certificates',
] as const satisfies readonly (keyof WebhookServerOptions)[];

/** Throws if the options contradict each other, or cannot be meant as they are. */
export function checkServerOptions(owner: string, options: WebhookServerOptions): void {
  checkOptions(owner, options, CHECKS);
  if (options.insecure) {
    const pointless = SECURE_ONLY.filter((name) => options[name] !== undefined);
    if (pointless.length > 0) {
      throw badOption(`${owner} cannot be insecure and have ${pointless.join(', ')}: that is only for TLS.`);
    }
  }
  checkTlsOptions(owner, options);
}

export function checkTlsOptions(owner: string, options: CertificateOptions & VerificationOptions): void {
  const { certfile, pkeyfile, context, certificates, secret } = options;
  if ((certfile === undefined) !== (pkeyfile === undefined)) {
    throw badOption(`${owner} needs both certfile and pkeyfile, or none of them to make certificates of its own.`);
  }
  const sources = Object.entries({ certfile, context, certificates, secret }).filter(([, it]) => it !== undefined);
  if (sources.length > 1) {
    const names = sources.map(([name]) => name).join(' and ');
    throw badOption(`${owner} can take its certificates from one place only; these are several: ${names}.`);
  }
  checkVerification(owner, options);
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
