/**
 * Two runs never give the same bytes: uids, times and versions differ. This makes them comparable, and no more than
 * that: uids and times of now are masked, versions are numbered in their order, random names are checked and masked,
 * and the names that the run has invented are taken back.
 */
import { withoutMereBookmarks } from './bookmarks.js';
import { mapTexts, valueAt } from './paths.js';
import type { Exchange, Trace } from './runner.js';

export function normalise(trace: Trace): Exchange[] {
  const order = versionsIn(trace.answers);
  const uids = new Map<string, string>();
  const maskGenerated = masksOf(trace.prefixes);
  const maskText = (text: string) => {
    let masked = withoutSignatures(text);
    for (const [found, name] of trace.names) masked = masked.replaceAll(found, name);
    masked = maskGenerated(masked);
    masked = masked.replaceAll(trace.id, '<id>');
    masked = masked.replace(uid, (found) => {
      const known = uids.get(found) ?? `<uid ${uids.size + 1}>`;
      uids.set(found, known);
      return known;
    });
    return maskTime(maskVersionsInMessage(masked, order));
  };
  return trace.exchanges.map(({ step, answer }) => ({
    step,
    answer: withoutMereBookmarks(
      mapTexts(renumber(sortedKeys(trace.causesComeInAnyOrder ? ordered(answer) : answer), order), maskText),
    ),
  }));
}

/** Tokens are told apart by what they claim; keys, signatures and times are of each server. */
function withoutSignatures(text: string): string {
  return text.replace(/eyJ[\w-]+\.(eyJ[\w-]+)\.[\w-]+/g, (_, payload: string) => {
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Record<string, number>;
    const { exp = 0, iat = 0, nbf = 0, ...others } = claims;
    return `<token ${JSON.stringify(sortedKeys({ ...others, lifetime: exp - iat, delay: nbf - iat }))}>`;
  });
}

const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;

/** Only times of about now: those that a sequence has sent are to come back as they are. */
function maskTime(text: string): string {
  return text.replace(time, (found, fraction: string | undefined) => {
    const isOfNow = Math.abs(Date.parse(found) - Date.now()) < 86_400_000;
    if (!isOfNow) return found;
    return fraction === undefined ? '<time>' : `<time with ${fraction.length - 1} digits>`;
  });
}

/** Keys in one order, so that uids are numbered alike on both sides. */
export function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    entries.map(([key, item]) => {
      if (key === 'managedFields') return [key, sortedManagers(item)];
      const sorted = sortedKeys(item);
      return [key, inAnyOrder.has(key) && Array.isArray(sorted) ? sorted.sort(byText) : sorted];
    }),
  );
}

/** Servers order them by their times, and so it is a matter of chance which of them were written in the same second. */
function sortedManagers(entries: unknown): unknown {
  if (!Array.isArray(entries)) return entries;
  const orderOf = (entry: unknown): string => {
    const { manager, operation, apiVersion, subresource } = entry as Record<string, unknown>;
    return JSON.stringify([operation, manager, apiVersion, subresource]);
  };
  return entries.map(sortedKeys).sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

/** What somebody may do is told in the order in which the real server happens to find the roles. */
const inAnyOrder: ReadonlySet<string> = new Set(['resourceRules', 'nonResourceRules']);
const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

/** The versions of the objects that the run has seen, in their order. */
type Order = readonly number[];

function versionsIn(answers: readonly unknown[]): Order {
  const versions = new Set<number>();
  visit(answers, (holder, isCollection) => {
    const version = holder['resourceVersion'];
    if (!isCollection && typeof version === 'string' && /^\d+$/.test(version)) versions.add(Number(version));
  });
  return [...versions].sort((a, b) => a - b);
}

/**
 * A version of an object becomes its number. A version of a collection is the state after the last change in the whole
 * cluster, and so it gets the number of the last object's version before it.
 */
function numbered(version: number, order: Order): string {
  const before = order.filter((known) => known <= version).length;
  return `<version ${before}>`;
}

function renumber(value: unknown, order: Order): unknown {
  if (Array.isArray(value)) return value.map((item) => renumber(item, order));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (key === 'cells' && Array.isArray(item)) return [key, item.map(maskAge)];
      if (typeof item !== 'string') return [key, renumber(item, order)];
      if (key === 'resourceVersion' && /^\d+$/.test(item) && item !== '0') return [key, numbered(Number(item), order)];
      if (key === 'continue' && item !== '') return [key, decodedContinue(item, order)];
      return [key, item];
    }),
  );
}

/** In tables, of what has just been made. */
function maskAge(cell: unknown): unknown {
  return typeof cell === 'string' && /^\d{1,2}s$/.test(cell) ? '<age>' : cell;
}

/** Tokens for the next pages have a version within. */
function decodedContinue(token: string, order: Order): unknown {
  try {
    const decoded = JSON.parse(Buffer.from(token, 'base64url').toString('utf8')) as Record<string, unknown>;
    const { rv } = decoded;
    return { ...decoded, ...(typeof rv === 'number' && rv > 0 ? { rv: numbered(rv, order) } : {}) };
  } catch {
    return token;
  }
}

/** Where servers mention versions in their messages. */
const mentions = [
  /(?<=\\?"resourceVersion\\?":\\?")(\d+)(?=\\?")/g,
  /(?<=ResourceVersion in precondition: )(\d+)/g,
  /(?<=ResourceVersion in object meta: )(\d+)/g,
  /(?<=the ResourceVersion in the precondition \()(\d+)(?=\))/g,
  /(?<=the ResourceVersion in record \()(\d+)(?=\))/g,
  /(?<=Too large resource version: \d+, current: )(\d+)/g,
];

/** How much is still known depends on when the caches of the server were filled. */
const oldestKnown = /(?<=too old resource version: \d+ \()(\d+)(?=\))/gi;

function maskVersionsInMessage(message: string, order: Order): string {
  const text = message.replace(oldestKnown, '<version>');
  return mentions.reduce((masked, mention) => masked.replace(mention, (found) => numbered(Number(found), order)), text);
}

/** Names that the server has made up: a prefix, cut if it is long, and five characters of those that make no words. */
function masksOf(prefixes: readonly string[]): (text: string) => string {
  const random = '[bcdfghjklmnpqrstvwxz2456789]{5}';
  const patterns = prefixes.map((prefix) => {
    const cut = prefix.slice(0, 58).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    return new RegExp(`(?<=${cut})${random}(?![a-z0-9])`, 'g');
  });
  return (text) => patterns.reduce((masked, pattern) => masked.replace(pattern, '<random>'), text);
}

/** With the causes of refusals in one order, also in the message that lists them. */
function ordered(answer: unknown): unknown {
  const causes = valueAt(answer, 'body.details.causes') as readonly { field?: string; message?: string }[] | undefined;
  const message = valueAt(answer, 'body.message');
  if (!Array.isArray(causes) || typeof message !== 'string') return answer;
  const listed = (list: typeof causes) => list.map((cause) => `${cause.field}: ${cause.message}`).join(', ');
  const inOrder = [...causes].sort((a, b) => (listed([a]) < listed([b]) ? -1 : 1));
  const { body } = answer as { body: { details: object } };
  return {
    ...(answer as object),
    body: {
      ...body,
      message: message.replace(listed(causes), () => listed(inOrder)),
      details: { ...body.details, causes: inOrder },
    },
  };
}

type Holder = Readonly<Record<string, unknown>>;

/** Visits all objects; those that are metadata of lists and bookmarks are told apart. */
function visit(value: unknown, visitor: (holder: Holder, isCollection: boolean) => void, isCollection = false): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, visitor, isCollection);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const holder = value as Holder;
  visitor(holder, isCollection);
  const isList = 'items' in holder || holder['kind'] === 'Table';
  for (const [key, item] of Object.entries(holder)) {
    const isBookmark = key === 'object' && holder['type'] === 'BOOKMARK';
    visit(item, visitor, (isList && key === 'metadata') || isBookmark || (isCollection && key === 'metadata'));
  }
}
