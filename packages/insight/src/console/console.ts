/** The console: one page about an operator, in the browser; what it shows is pushed to it as it happens. */
import { createHash } from 'node:crypto';
import type { HttpEndpoint, HttpPage, Observer, PageAnswer, PageRequest, Service } from '@kopf-ts/core';
import { type LagMeter, parseSelector, untilAborted } from '@kopf-ts/core/engine';
import { type AdminOptions, admin, understood } from '../admin/admin.js';
import { guardOf, jsonAnswer } from '../admin/guard.js';
import type { DeclaredHandler } from './handler-rates.js';
import { live, viewOf } from './live.js';
import type { ObjectLogs } from './object-logs.js';
import { snapshots } from './snapshots.js';

/**
 * What the console needs of an operator.
 *
 * ```ts
 * const withoutLogs = (options: kopf.insight.AdminOptions): kopf.insight.ConsoleOptions => options;
 * ```
 */
export interface ConsoleOptions extends AdminOptions {
  /** Where the lines of objects are kept. Without it, no logs are shown. */
  readonly logs?: ObjectLogs | undefined;
  /** To tell how far the streams are behind. Without it, that is not told. */
  readonly lag?: LagMeter | undefined;
  /** All that are declared, so that those which were never called are shown as well. */
  readonly handlers?: (() => Iterable<DeclaredHandler>) | undefined;
  /** How many objects of one kind are worked on at once. */
  readonly workerLimit?: (() => number | undefined) | undefined;
  /** Of the framework. */
  readonly version?: string | undefined;
}

/**
 * The console of one operator.
 *
 * ```ts
 * const served = (console: kopf.insight.OperatorConsole, httpEndpoint: kopf.HttpEndpoint): kopf.Service =>
 *   console.service({ url: 'http://127.0.0.1:8082', httpEndpoint });
 * ```
 */
export interface OperatorConsole {
  /** To be among the observers of the operator, together with that of the journal. */
  readonly observer: Observer;
  /** Throws if everybody around could ask: without a token, it must listen on this machine only. */
  pages(url: string): Readonly<Record<string, HttpPage>>;
  /** Serves the page, and all that the admin endpoint has. */
  service(at: { readonly url: string; readonly httpEndpoint: HttpEndpoint }): Service;
}

/** A person, some colleagues, some forgotten tabs; more of them are somebody's mistake. */
const MOST_VIEWERS = 16;

/**
 * Makes the console of an operator. Usually, `run({ console: 'http://127.0.0.1:8082' })` is all that is needed.
 *
 * ```ts
 * const pagesOf = (options: kopf.insight.ConsoleOptions) =>
 *   kopf.insight.operatorConsole(options).pages('http://127.0.0.1:8082');
 * ```
 */
export function operatorConsole(options: ConsoleOptions): OperatorConsole {
  const { clock, settings } = options;
  const source = snapshots(options);
  const messages = live(source, clock);
  const beside = admin(options);
  const closing = new AbortController();

  const pages = (url: string): Readonly<Record<string, HttpPage>> => {
    const guard = guardOf({ url, tokenFile: settings.insight.tokenFile });
    const page: HttpPage = {
      async answer(request) {
        // There is nothing in it but the page itself: what it shows is asked for, with a token.
        const admission = guard(request, { isPublic: true });
        return admission.kind === 'refused' ? admission.answer : await pageAnswer();
      },
    };
    const events: HttpPage = {
      answer(request) {
        const admission = guard(request);
        if (admission.kind === 'refused') return admission.answer;
        if (messages.viewers >= MOST_VIEWERS) return jsonAnswer({ error: 'too many look at the same time' }, 503);
        return understood(() => eventsAnswer(request, admission.mayWrite));
      },
    };
    return { ...beside.pages(url), '/': page, '/api/live': events };
  };

  const eventsAnswer = ({ query, signal }: PageRequest, mayWrite: boolean): PageAnswer => {
    const view = viewOf(query);
    // What cannot be a kind is refused at once, and not in the midst of the messages.
    if (view.chosen !== undefined) parseSelector(view.chosen.resource);
    return {
      headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-content-type-options': 'nosniff' },
      body: messages.messages(view, { mayWrite }, AbortSignal.any([signal, closing.signal])),
    };
  };

  return {
    observer: source.observer,
    pages,
    service: ({ url, httpEndpoint }) => ({
      name: 'console',
      async run(signal) {
        const { '/': page, ...others } = pages(url);
        if (page === undefined) return await untilAborted(signal);
        const end = (): void => closing.abort();
        signal.addEventListener('abort', end, { once: true });
        await httpEndpoint.serve({ name: 'console', url, page, beside: others, signal });
      },
    }),
  };
}

let prepared: Promise<PageAnswer> | undefined;

/** Loaded for the first one who wants it. */
function pageAnswer(): Promise<PageAnswer> {
  prepared ??= import('./page.js').then(({ HTML, SCRIPT, STYLE }) => ({
    headers: {
      'content-type': 'text/html; charset=utf-8',
      // Nothing but what is in the page, nothing from elsewhere, and nobody around it.
      'content-security-policy': [
        "default-src 'none'",
        `script-src '${hashOf(SCRIPT)}'`,
        `style-src '${hashOf(STYLE)}'`,
        "connect-src 'self'",
        'img-src data:',
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ].join('; '),
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    },
    body: HTML.replace('<!--style-->', () => `<style>${STYLE}</style>`).replace(
      '<!--script-->',
      () => `<script>${SCRIPT}</script>`,
    ),
  }));
  return prepared;
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
