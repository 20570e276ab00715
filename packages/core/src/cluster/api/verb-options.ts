/** Options of verbs: what is misspelt is told, instead of being ignored. */
import { KopfError } from '../../errors.js';
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

/** 'All' and 'false' are texts: to take them for one or the other would do what is not wanted. */
const YES_OR_NO = ['dryRun', 'force', 'allNamespaces', 'all', 'follow', 'previous', 'timestamps', 'tty'];

/** Throws if there is anything in them that the verb does not know. */
export function checkOptions(verb: keyof typeof OPTIONS, options: object): void {
  const known: readonly string[] = OPTIONS[verb];
  const isMapping = typeof options === 'object' && options !== null && !Array.isArray(options);
  const unknown = isMapping ? Object.keys(options).find((name) => !known.includes(name)) : undefined;
  if (isMapping && unknown === undefined) {
    for (const [name, value] of Object.entries(options)) {
      if (value === undefined || typeof value === 'boolean' || !YES_OR_NO.includes(name)) continue;
      throw new KopfError(`The option '${name}' of ${verb}() is true or false, and not ${JSON.stringify(value)}.`, {
        code: 'KOPF_BAD_OPTION',
      });
    }
    return;
  }
  const what = isMapping
    ? `${verb}() has no option '${unknown}'.${didYouMean(unknown ?? '', known, "'")} It has: ${known.join(', ')}.`
    : `The options of ${verb}() are an object, such as { namespace: 'default' }.`;
  throw new KopfError(what, { code: 'KOPF_BAD_OPTION' });
}
