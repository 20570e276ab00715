/** Checks the options of verbs: misspelt ones are reported rather than ignored. */
import { KopfError } from '../../errors.js';
import { isMapping } from '../../values/json.js';
import { didYouMean } from '../../values/suggestions.js';

const PLACE = ['namespace', 'signal'];
const WRITE = [...PLACE, 'dryRun', 'fieldManager'];
const LIST = [...PLACE, 'labels', 'fields', 'allNamespaces', 'pageSize'];
const DELETE = [...PLACE, 'propagation', 'gracePeriodSeconds', 'preconditions', 'ifGone', 'dryRun'];

const OPTIONS = {
  get: PLACE,
  find: PLACE,
  list: LIST,
  each: LIST,
  watch: LIST,
  create: [...WRITE, 'owner'],
  apply: [...WRITE, 'force', 'owner'],
  patch: [...WRITE, 'type'],
  replace: WRITE,
  delete: DELETE,
  deleteCollection: [...PLACE, 'labels', 'fields', 'propagation', 'gracePeriodSeconds', 'dryRun', 'all'],
  evict: [...PLACE, 'gracePeriodSeconds', 'dryRun'],
  log: [
    ...PLACE,
    ...['container', 'follow', 'tailLines', 'sinceSeconds', 'sinceTime', 'limitBytes', 'previous', 'timestamps'],
  ],
  exec: [...PLACE, 'container', 'stdin', 'tty', 'onStdout', 'onStderr'],
  token: [...PLACE, 'audiences', 'expirationSeconds'],
  'scale.get': PLACE,
  'scale.set': WRITE,
} as const;

export type Verb = keyof typeof OPTIONS;

interface Rule {
  readonly words: string;
  fits(value: unknown): boolean;
}

/** 'All' and 'false' are texts: guessing their meaning could do what is not wanted. */
const yesOrNo: Rule = { words: 'true or false', fits: (value) => typeof value === 'boolean' };
const text: Rule = { words: 'a text', fits: (value) => typeof value === 'string' && value !== '' };
const fn: Rule = { words: 'a function', fits: (value) => typeof value === 'function' };

const oneOf = (...known: readonly string[]): Rule => ({
  words: known.map((one) => `'${one}'`).join(' or '),
  fits: (value) => known.includes(value as string),
});

const wholeFrom = (least: number): Rule => ({
  words: `a whole number from ${least} on`,
  fits: (value) => Number.isInteger(value) && (value as number) >= least,
});

const RULES: Readonly<Record<string, Rule | undefined>> = {
  ...Object.fromEntries(
    ['dryRun', 'force', 'allNamespaces', 'all', 'follow', 'previous', 'timestamps', 'tty'].map((name) => [
      name,
      yesOrNo,
    ]),
  ),
  signal: {
    words: 'an AbortSignal',
    fits: (value) => typeof (value as AbortSignal | null)?.throwIfAborted === 'function',
  },
  fieldManager: text,
  container: text,
  propagation: oneOf('Background', 'Foreground', 'Orphan'),
  ifGone: oneOf('fail', 'ignore'),
  gracePeriodSeconds: wholeFrom(0),
  expirationSeconds: wholeFrom(1),
  tailLines: wholeFrom(0),
  sinceSeconds: wholeFrom(1),
  limitBytes: wholeFrom(1),
  sinceTime: { words: 'a Date', fits: (value) => value instanceof Date && !Number.isNaN(value.getTime()) },
  preconditions: {
    words: 'an object with a uid, a resourceVersion, or both',
    fits: (value) => isMapping(value) && Object.keys(value).every((key) => key === 'uid' || key === 'resourceVersion'),
  },
  audiences: {
    words: 'a list of texts',
    fits: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
  },
  stdin: {
    words: 'a text, bytes, or an async iterable of these',
    fits: (value) =>
      typeof value === 'string' ||
      value instanceof Uint8Array ||
      typeof (value as AsyncIterable<unknown> | null)?.[Symbol.asyncIterator] === 'function',
  },
  onStdout: fn,
  onStderr: fn,
};

/** Throws if there is anything in them that the verb does not know, or what cannot be. */
export function checkOptions(verb: Verb, options: object): void {
  if (!isMapping(options)) throw refusal(`The options of ${verb}() are an object, such as { namespace: 'default' }.`);
  const known: readonly string[] = OPTIONS[verb];
  for (const [name, value] of Object.entries(options)) {
    if (!known.includes(name)) {
      const hint = didYouMean(name, known, "'");
      throw refusal(`${verb}() has no option '${name}'.${hint} It has: ${known.join(', ')}.`);
    }
    const rule = RULES[name];
    if (value === undefined || rule === undefined || rule.fits(value)) continue;
    throw refusal(`The option '${name}' of ${verb}() is ${rule.words}, and not ${shown(value)}.`);
  }
}

function shown(value: unknown): string {
  if (value instanceof Date || typeof value === 'function' || typeof value === 'symbol') return String(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

function refusal(message: string): KopfError {
  return new KopfError(message, { code: 'KOPF_BAD_OPTION' });
}
