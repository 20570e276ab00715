/**
 * What is new, for those who look: server-sent events, as many as a person can read. However much happens, there is at
 * most one message in a second, with what is different from the one before it, and of long lists only the beginning.
 */
import type { Clock, Seconds } from '@kopf-ts/core';
import { STATES } from './object-states.js';
import type { Chosen, Row, Snapshot, Snapshots } from './snapshots.js';

/** What somebody looks at: all objects that fit, and all about one of them. */
export interface View {
  readonly resource: string | undefined;
  readonly state: string | undefined;
  readonly text: string | undefined;
  readonly limit: number;
  readonly chosen: Chosen | undefined;
}

export interface Live {
  /** How many look at the moment. */
  readonly viewers: number;
  /** The messages for somebody, until one of the signals fires. */
  messages(view: View, hello: unknown, signal: AbortSignal): AsyncIterable<string>;
}

/** Between two messages. */
const PACE: Seconds = 1;
/** Making a snapshot takes this part of the time at most: it holds up everything else. */
const SHARE = 1 / 25;
const LONGEST_PACE: Seconds = 30;
/** If nothing happens: rates go down, and times in sentences grow old. */
const REFRESH: Seconds = 10;

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;
const MAX_TEXT = 200;

export function viewOf(query: string): View {
  const parameters = new URLSearchParams(query);
  const get = (name: string): string | undefined => parameters.get(name)?.slice(0, MAX_TEXT) || undefined;
  const limit = Number(get('limit') ?? DEFAULT_LIMIT);
  const state = get('state');
  const [resource, name] = [get('atResource'), parameters.get('atName')?.slice(0, 300)];
  return {
    resource: get('resource'),
    state: (STATES as readonly (string | undefined)[]).includes(state) ? state : undefined,
    text: get('text')?.toLowerCase(),
    limit: limit >= 1 && limit <= MAX_LIMIT ? Math.floor(limit) : DEFAULT_LIMIT,
    chosen: resource && name ? { resource, namespace: get('atNamespace'), name } : undefined,
  };
}

export function live(source: Snapshots, clock: Clock): Live {
  let viewers = 0;
  let made: { readonly snapshot: Snapshot; readonly overview: string; readonly count: number; at: Seconds } | undefined;
  let pace = PACE;

  /** The same one for all who look in the same moment. */
  const current = () => {
    const now = clock.now();
    const isFresh = made !== undefined && now - made.at < pace;
    if (made !== undefined && (isFresh || (made.count === source.count && now - made.at < REFRESH))) return made;
    const { count } = source;
    const snapshot = source.snapshot();
    made = { snapshot, overview: JSON.stringify(snapshot.overview), count, at: now };
    pace = Math.min(LONGEST_PACE, Math.max(PACE, (clock.now() - now) / SHARE));
    return made;
  };

  async function* messages(view: View, hello: unknown, signal: AbortSignal): AsyncGenerator<string> {
    viewers += 1;
    const sent = new Map<string, string>();
    const detail = { signature: '', text: '', at: Number.NEGATIVE_INFINITY };
    const different = (name: string, text: string): string => {
      if (sent.get(name) === text) return '';
      sent.set(name, text);
      return `event: ${name}\ndata: ${text}\n\n`;
    };
    const detailText = (): string => {
      if (view.chosen === undefined) return 'null';
      const found = source.detail(view.chosen);
      const isOld = clock.now() - detail.at >= REFRESH;
      if (found === null) return 'null';
      if (found.signature !== detail.signature || isOld) {
        Object.assign(detail, { signature: found.signature, text: JSON.stringify(found.content), at: clock.now() });
      }
      return detail.text;
    };
    try {
      let piece = different('hello', JSON.stringify(hello));
      for (;;) {
        const { snapshot, overview, count } = current();
        piece += different('overview', overview);
        piece += different('objects', JSON.stringify(listOf(snapshot.rows, view)));
        piece += different('object', detailText());
        // A comment, if there is nothing to say: so that both sides see that the other one is there.
        yield piece === '' ? ': still here\n\n' : piece;
        piece = '';
        if (signal.aborted) return;
        // Not waited for: whatever comes of it is news.
        void source.measure(signal);
        await clock.sleep(pace, { wakeup: signal });
        if (count === source.count && !signal.aborted) await change(REFRESH - PACE, signal);
        if (signal.aborted) return;
      }
    } finally {
      viewers -= 1;
    }
  }

  const change = async (limit: Seconds, signal: AbortSignal): Promise<void> => {
    const wakeup = new AbortController();
    const wake = (): void => wakeup.abort();
    const forget = source.onChange(wake);
    signal.addEventListener('abort', wake, { once: true });
    try {
      await clock.sleep(limit, { wakeup: wakeup.signal });
    } finally {
      forget();
      signal.removeEventListener('abort', wake);
    }
  };

  return {
    get viewers() {
      return viewers;
    },
    messages,
  };
}

function listOf(rows: readonly Row[], { resource, state, text, limit }: View): unknown {
  const items: Row[] = [];
  const counts = Object.fromEntries(STATES.map((one) => [one, 0]));
  let matched = 0;
  for (const row of rows) {
    if (resource !== undefined && row.resource !== resource) continue;
    if (text !== undefined && !textOf(row).includes(text)) continue;
    counts[row.state] = (counts[row.state] ?? 0) + 1;
    if (state !== undefined && row.state !== state) continue;
    matched += 1;
    if (items.length < limit) items.push(row);
  }
  return { items, matched, counts };
}

function textOf({ resource, kind, namespace, name, message }: Row): string {
  return `${namespace ?? ''}/${name ?? ''} ${resource} ${kind ?? ''} ${message ?? ''}`.toLowerCase();
}
