/** Mistakes in options are reported when a server is made, not found out later by nobody reaching it. */
import { KopfError } from '@kopf-ts/core';

/** What the value must be; and whether it is that. */
export interface OptionCheck {
  readonly must: string;
  readonly accepts: (value: unknown) => boolean;
  /** The value is not shown to anybody. */
  readonly isSecret?: true;
}

/** One check for each option there is: the compiler sees to it that none is forgotten. */
export type OptionChecks<T> = { readonly [Name in keyof Required<T>]: OptionCheck };

/** Throws if there are options that nobody knows, or values that cannot be meant. Absent ones are always fine. */
export function checkOptions<T extends object>(owner: string, options: T, checks: OptionChecks<T>): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw badOption(`${owner} takes an object with options, such as { port: 9443 }, and not ${shown(options)}.`);
  }
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, name) ? (checks as Readonly<Record<string, OptionCheck>>)[name] : undefined;
    if (check === undefined) {
      const known = Object.keys(checks).join(', ');
      throw badOption(`There is no option "${name}" of ${owner}. Known here: ${known || 'none'}.`);
    }
    if (value === undefined || check.accepts(value)) continue;
    const actual = check.isSecret ? '' : `, and is ${shown(value)}`;
    throw badOption(`The option "${name}" of ${owner} must be ${check.must}${actual}.`);
  }
}

export function badOption(message: string): KopfError {
  return new KopfError(message, { code: 'KOPF_BAD_OPTION' });
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 64 ? `${value.slice(0, 64)}…` : value);
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? 'an array' : `of the type ${typeof value}`;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

export const TEXT: OptionCheck = { must: 'a text that is not empty', accepts: isText };
export const SECRET_TEXT: OptionCheck = { ...TEXT, isSecret: true };
/** With the content in place of the name, private keys would get into the logs, as names of files that are not found. */
export const FILE: OptionCheck = {
  must: 'the name of a file, and not what is in it',
  accepts: (value) => isText(value) && !/[\r\n\0]/.test(value),
  isSecret: true,
};
export const FLAG: OptionCheck = { must: 'true or false', accepts: (value) => typeof value === 'boolean' };
export const FUNCTION_OF = (must: string, method: string): OptionCheck => ({
  must,
  accepts: (value) =>
    typeof value === 'object' && value !== null && typeof (value as Record<string, unknown>)[method] === 'function',
});
export const OBJECT = (must: string): OptionCheck => ({
  must,
  accepts: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
});
export const TEXTS: OptionCheck = {
  must: 'an array of texts',
  accepts: (value) => Array.isArray(value) && value.every(isText),
};
export const DATA: OptionCheck = {
  must: 'a text or a buffer that is not empty',
  accepts: (value) => isText(value) || (value instanceof Uint8Array && value.length > 0),
  isSecret: true,
};
export const POSITIVE: OptionCheck = {
  must: 'a positive number of seconds',
  accepts: (value) => typeof value === 'number' && value > 0 && Number.isFinite(value),
};
export const SIZE: OptionCheck = {
  must: 'a positive whole number of bytes',
  accepts: (value) => Number.isSafeInteger(value) && (value as number) > 0,
};
export const COUNT: OptionCheck = {
  must: 'a positive whole number',
  accepts: SIZE.accepts,
};
export const PORT: OptionCheck = {
  must: 'a whole number from 0 to 65535 (0 is for any free port)',
  accepts: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65535,
};
/** Also the end of the address that is announced; so it cannot have what addresses cannot have there. */
export const PATH: OptionCheck = {
  must: 'empty, or a path of a URL that begins with a slash',
  accepts: (value) => value === '' || (typeof value === 'string' && /^\/[^\s?#]*$/.test(value) && isDecodable(value)),
};
export const ONE_OF = (...values: readonly string[]): OptionCheck => ({
  must: `one of ${values.map((value) => `"${value}"`).join(', ')}`,
  accepts: (value) => values.includes(value as string),
});

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
