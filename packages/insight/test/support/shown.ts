/** A console of an operator that is not there: what it shows is told by the tests. */
import type { Control, ControlledObject, KubeClient, PageAnswer, PageRequest, Settings } from '@kopf-ts/core';
import { settings as makeSettings } from '@kopf-ts/core';
import { facts } from '@kopf-ts/core/engine';
import { type ManualClock, manualClock, recordingLogger } from '@kopf-ts/testing';
import { type ConsoleOptions, type Journal, journal, type OperatorConsole, operatorConsole } from '../../src/index.js';
import { objectOf, type UntoldFact } from './told.js';

export interface Shown {
  readonly console: OperatorConsole;
  readonly clock: ManualClock;
  readonly journal: Journal;
  readonly objects: Map<string, ControlledObject>;
  tell(fact: UntoldFact): void;
  /** The operator has such an object. */
  has(name: string, more?: Partial<ControlledObject>): ControlledObject;
  ask(path: string, request?: Partial<PageRequest>): Promise<PageAnswer>;
  look(query?: string): Promise<Look>;
}

/** Somebody who looks at the console. */
export interface Look {
  /** What has come: the last of each event. */
  readonly last: { overview?: Overview; objects?: Listing; object?: Detail | null; hello?: { mayWrite: boolean } };
  /** All pieces, as they have come. */
  readonly pieces: string[];
  readonly isOver: boolean;
  /** Time goes by, and what comes meanwhile is taken. */
  after(seconds: number): Promise<void>;
  leave(): Promise<void>;
}

interface Overview {
  readonly [key: string]: unknown;
  readonly handlers: readonly Readonly<Record<string, unknown>>[];
  readonly streams: readonly Readonly<Record<string, unknown>>[];
  readonly kinds: readonly Readonly<Record<string, unknown>>[];
  readonly reviews: { readonly recent: readonly Readonly<Record<string, unknown>>[]; readonly [key: string]: unknown };
}

interface Listing {
  readonly items: readonly { readonly name: string; readonly state: string; readonly message?: string }[];
  readonly matched: number;
  readonly counts: Readonly<Record<string, number>>;
}

interface Detail {
  readonly [key: string]: unknown;
  readonly timeline: readonly { readonly text: string }[];
  readonly findings: readonly { readonly text: string }[];
  readonly logs: readonly { readonly level: string; readonly message: string }[];
}

const URL = 'http://127.0.0.1:8082';

export function shown(
  options: Partial<ConsoleOptions> & { readonly url?: string; readonly insight?: Partial<Settings['insight']> } = {},
): Shown {
  const { url = URL, insight = {}, ...more } = options;
  const clock = (more.clock as ManualClock | undefined) ?? manualClock();
  const own = journal({ clock });
  const objects = new Map<string, ControlledObject>();
  const control = {
    isPaused: false,
    objects: (query: { readonly name?: string } = {}) =>
      [...objects.values()].filter(({ object }) => query.name === undefined || object.name === query.name),
    retry: () => 1,
  } as unknown as Control;
  const console = operatorConsole({
    journal: own,
    control,
    client: {} as KubeClient,
    logger: recordingLogger(),
    settings: makeSettings({ insight }),
    ...more,
    clock,
  });
  const observers = [own.observer, console.observer];
  const { tell } = facts({ observers, operator: 'op', clock, logger: recordingLogger() });
  const pages = console.pages(url);

  const ask: Shown['ask'] = async (path, { headers, ...rest } = {}) => {
    const [name = '', query = ''] = path.split('?');
    const page = pages[name];
    if (page === undefined) throw new Error(`There is no page ${name}.`);
    const usual = { host: new globalThis.URL(url).host };
    const { signal } = new AbortController();
    return await page.answer({ method: 'GET', path: name, query, signal, ...rest, headers: { ...usual, ...headers } });
  };

  return {
    console,
    clock,
    journal: own,
    objects,
    tell,
    has(name, given) {
      const controlled = { object: objectOf(name), phase: 'idle', isPaused: false, calls: [], daemons: [], ...given };
      objects.set(name, controlled as ControlledObject);
      return controlled as ControlledObject;
    },
    ask,
    async look(query = '') {
      const leaving = new AbortController();
      const { body } = await ask(`/api/live?${query}`, { signal: leaving.signal });
      const look = { last: {} as Look['last'], pieces: [] as string[], isOver: false };
      const reading = (async () => {
        for await (const piece of body as AsyncIterable<string>) {
          look.pieces.push(piece);
          for (const [, name = '', data = ''] of piece.matchAll(/^event: (\w+)\ndata: (.*)$/gm)) {
            Object.assign(look.last, { [name]: JSON.parse(data) as unknown });
          }
        }
        look.isOver = true;
      })();
      await clock.advance(0);
      return Object.assign(look, {
        async after(seconds: number) {
          await clock.advance(seconds);
        },
        async leave() {
          leaving.abort();
          await reading;
        },
      });
    },
  };
}
