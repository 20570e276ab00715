/** Who we are among the peers. */
import { hostname as plainHostName, userInfo } from 'node:os';
import { chooseHostName, type HostNames, resolveHostNames } from './hostnames.js';

/**
 * What an identity is made of.
 *
 * ```ts
 * const options: kopf.peering.IdentityOptions = { manual: true, user: 'alice', hostname: 'laptop' };
 * ```
 */
export interface IdentityOptions {
  /**
   * For a person (`user@host`), who is to be the same one each time; by default, for an operator
   * (`user@host/20201231235959/abc`), each run of which is another one.
   */
  readonly manual?: boolean | undefined;
  /** Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly user?: string | undefined;
  readonly hostname?: string | undefined;
  readonly now?: Date | undefined;
  /** From 0 to 1, as `Math.random()`. */
  readonly random?: (() => number) | undefined;
  /** Asks for all names of the host by the plain one. Default: the resolver of the system. */
  readonly resolve?: ((hostname: string) => Promise<HostNames>) | undefined;
}

/** Kopf's alphabet, one letter short; so it is there, too. */
const ALPHABET = 'abcdefhijklmnopqrstuvwxyz0123456789';
const SUFFIX_LENGTH = 3;
/** The name is for people only: it is not worth waiting for a resolver that does not answer. */
const RESOLVING_LIMIT_MS = 2000;

/**
 * The identity of this process: that of its pod if the variable `POD_ID` tells so (it is taken as it is, even empty);
 * else, of its user and host, and also of the moment for operators.
 *
 * ```ts
 * logger.info(`I am ${await kopf.peering.detectIdentity()}.`); // I am operator@host/20201231235959/abc.
 * ```
 */
export async function detectIdentity(options: IdentityOptions = {}): Promise<string> {
  const { manual = false, env = process.env, random = Math.random } = options;
  if (env.POD_ID !== undefined) return env.POD_ID;
  const origin = `${options.user ?? detectUser(env)}@${options.hostname ?? (await detectHost(options.resolve))}`;
  if (manual) return origin;
  const moment = (options.now ?? new Date()).toISOString().replace(/[-:T]|\..*/g, '');
  const suffix = Array.from({ length: SUFFIX_LENGTH }, () => ALPHABET[Math.floor(random() * ALPHABET.length)]);
  return `${origin}/${moment}/${suffix.join('')}`;
}

function detectUser(env: Readonly<Record<string, string | undefined>>): string {
  const told = env.LOGNAME || env.USER || env.LNAME || env.USERNAME;
  if (told) return told;
  try {
    return userInfo().username;
  } catch {
    // In containers, the process often runs as a number that no user has.
    return String(process.getuid?.() ?? 'unknown');
  }
}

async function detectHost(resolve = resolveHostNames): Promise<string> {
  const hostname = plainHostName();
  const unknown: HostNames = { name: hostname, aliases: [], addresses: [] };
  let alarm: NodeJS.Timeout | undefined;
  const tooLate = new Promise<HostNames>((giveUp) => {
    alarm = setTimeout(() => giveUp(unknown), RESOLVING_LIMIT_MS);
    alarm.unref();
  });
  const names = await Promise.race([resolve(hostname).catch(() => unknown), tooLate]);
  clearTimeout(alarm);
  return chooseHostName(names, hostname);
}
