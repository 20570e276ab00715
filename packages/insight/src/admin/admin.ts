/** The admin endpoint of an operator: the journal for whoever wants to know why, and actions on single objects. */
import {
  type AnyObject,
  ApiError,
  type Awaitable,
  type Clock,
  type Control,
  type ControlledObject,
  type HttpEndpoint,
  type HttpPage,
  KopfError,
  type KubeClient,
  type Logger,
  type PageAnswer,
  type PageRequest,
  type Service,
  type Settings,
} from '@kopf-ts/core';
import { untilAborted } from '@kopf-ts/core/engine';
import type { ObjectJournal, OperatorJournal } from '../journal/entries.js';
import type { Journal } from '../journal/journal.js';
import type { LiveState } from '../why/explain.js';
import { type ActionTarget, actions } from './actions.js';
import { guardOf, jsonAnswer } from './guard.js';

/**
 * What the admin endpoint needs of an operator.
 *
 * ```ts
 * const withoutNetwork = (options: kopf.insight.AdminOptions): kopf.insight.Admin => kopf.insight.admin(options);
 * ```
 */
export interface AdminOptions {
  readonly journal: Journal;
  readonly control: Control;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: Settings;
}

/**
 * The admin endpoint: its pages by their paths, and a service that serves them.
 *
 * ```ts
 * const served = (admin: kopf.insight.Admin, httpEndpoint: kopf.HttpEndpoint): kopf.Service =>
 *   admin.service({ url: 'http://127.0.0.1:8083', httpEndpoint });
 * ```
 */
export interface Admin {
  /** Throws if everybody around could ask: without a token, it must listen on this machine only. */
  pages(url: string): Readonly<Record<string, HttpPage>>;
  service(at: { readonly url: string; readonly httpEndpoint: HttpEndpoint }): Service;
}

/**
 * What is answered to `/api/why`: all that the operator knows of an object. Sentences are made of it by `explain()`.
 *
 * ```ts
 * const isKnown = ({ journal }: kopf.insight.AdminAnswer): boolean => journal !== undefined;
 * ```
 */
export interface AdminAnswer {
  readonly operator: OperatorJournal;
  readonly journal?: ObjectJournal | undefined;
  readonly live?: LiveState | undefined;
}

/** Of one listing. */
const MAX_OBJECTS = 1000;
const DEFAULT_PAUSE = 3600;

/**
 * Makes the admin endpoint of an operator.
 *
 * ```ts
 * const pagesOf = (options: kopf.insight.AdminOptions) => kopf.insight.admin(options).pages('http://127.0.0.1:8083');
 * ```
 */
export function admin(options: AdminOptions): Admin {
  const { journal, control, settings } = options;
  const own = actions(options);

  const liveOf = (controlled: ControlledObject | undefined): LiveState | undefined => {
    if (controlled === undefined && !control.isPaused) return undefined;
    const { phase = 'idle', isPaused = false, until, calls = [], daemons = [] } = controlled ?? {};
    return { phase, isPaused, until, calls, daemons, isOperatorPaused: control.isPaused };
  };

  const why = ({ query }: PageRequest): PageAnswer => {
    const object = queryOf(query);
    if (object.name === undefined) return jsonAnswer({ error: 'which object? ?resource=…&namespace=…&name=…' }, 400);
    const answer: AdminAnswer = {
      operator: journal.operator(),
      journal: journal.find(object),
      live: liveOf(control.objects(object)[0]),
    };
    return jsonAnswer(answer);
  };

  const objects = ({ query }: PageRequest): PageAnswer => {
    const found = control.objects(queryOf(query));
    const items = found.slice(0, MAX_OBJECTS).map(({ object, ...rest }) => {
      const { resource, kind, namespace, name, uid } = object;
      const title = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
      return { resource: title, kind, namespace, name, uid, ...rest };
    });
    return jsonAnswer({ items, total: found.length, journalBytes: journal.bytes });
  };

  const act = async ({ body }: PageRequest): Promise<PageAnswer> => {
    const asked = parsedAction(body);
    if (typeof asked === 'string') return jsonAnswer({ error: asked }, 400);
    const { action, seconds = DEFAULT_PAUSE, by, ...query } = asked;
    const [controlled] = control.objects(query);
    if (controlled === undefined) return jsonAnswer({ error: 'the operator does not know such an object' }, 404);
    const { resource, kind, namespace, name = '', uid } = controlled.object;
    const at: ActionTarget = { resource, namespace, name, by };
    switch (action) {
      case 'pause':
        return jsonAnswer({ action, until: (await own.pause({ ...at, seconds })).toISOString() });
      case 'resume':
        return jsonAnswer({ action, isChanged: await own.resume(at) });
      case 'retry': {
        const isChanged = control.retry({ ...query, uid }) > 0;
        const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
        const about = { apiVersion, kind, metadata: { name, namespace, uid } } as AnyObject;
        if (isChanged) await own.record(at, { reason: 'Retried', message: 'Handlers are retried now', about });
        return jsonAnswer({ action, isChanged });
      }
    }
  };

  const pages = (url: string): Readonly<Record<string, HttpPage>> => {
    const guard = guardOf({ url, tokenFile: settings.insight.tokenFile });
    const guarded = (answer: HttpPage['answer'], methods?: readonly string[]): HttpPage => ({
      ...(methods === undefined ? {} : { methods }),
      answer(request) {
        const admission = guard(request);
        return admission.kind === 'refused' ? admission.answer : understood(() => answer(request));
      },
    });
    return {
      '/': guarded(() => jsonAnswer({ operator: journal.operator().operator, paths: PATHS })),
      '/api/operator': guarded(() => jsonAnswer(journal.operator())),
      '/api/why': guarded(why),
      '/api/objects': guarded(objects),
      '/api/actions': guarded(act, ['POST']),
    };
  };

  return {
    pages,
    service: ({ url, httpEndpoint }) => ({
      name: 'admin endpoint',
      async run(signal) {
        const { '/': page, ...beside } = pages(url);
        if (page === undefined) return await untilAborted(signal);
        await httpEndpoint.serve({ name: 'admin', url, page, beside, signal });
      },
    }),
  };
}

/** What was asked for in the wrong way is the caller's mistake. */
export async function understood(answer: () => Awaitable<PageAnswer>): Promise<PageAnswer> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof KopfError)) throw error;
    return jsonAnswer({ error: error.message }, error instanceof ApiError ? error.status : 400);
  }
}

const PATHS = ['/api/operator', '/api/why', '/api/objects', '/api/actions'];

interface Asked {
  readonly resource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

function queryOf(query: string): Asked {
  const parameters = new URLSearchParams(query);
  const get = (name: string): string | undefined => parameters.get(name) || undefined;
  return { resource: get('resource'), namespace: get('namespace'), name: get('name') };
}

interface AskedAction extends Asked {
  readonly action: 'pause' | 'resume' | 'retry';
  readonly seconds?: number | undefined;
  readonly by?: string | undefined;
}

const ACTIONS: readonly unknown[] = ['pause', 'resume', 'retry'];

/** What is wrong with it, in words, if anything is. */
function parsedAction(body: string | undefined): AskedAction | string {
  let asked: Readonly<Record<string, unknown>>;
  try {
    asked = JSON.parse(body ?? '') as Readonly<Record<string, unknown>>;
  } catch {
    return 'it is not JSON';
  }
  if (typeof asked !== 'object' || asked === null || Array.isArray(asked)) return 'it is not a mapping';
  const { action, resource, namespace, name, seconds, by } = asked;
  if (!ACTIONS.includes(action)) return 'the action must be pause, resume or retry';
  for (const text of [resource, name])
    if (typeof text !== 'string' || text === '') return 'resource and name are needed';
  for (const text of [namespace, by]) if (text !== undefined && typeof text !== 'string') return 'these must be texts';
  if (seconds !== undefined && typeof seconds !== 'number') return 'seconds must be a number';
  const short = typeof by === 'string' ? by.slice(0, 100) : undefined;
  return { action, resource, namespace, name, seconds, by: short } as AskedAction;
}
