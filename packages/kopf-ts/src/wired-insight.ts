/** The journal, the admin endpoint and the console as parts of an operator. Until an address is set, they cost nothing. */
import {
  type Clock,
  type Control,
  EVERYTHING,
  type HttpEndpoint,
  type KubeClient,
  type Logger,
  type Registry,
  type Service,
  type Settings,
} from '@kopf-ts/core';
import { type LagMeter, type ObservedFacts, untilAborted } from '@kopf-ts/core/engine';
import {
  type DeclaredHandler,
  type Journal,
  admin as makeAdmin,
  journal as makeJournal,
  type ObjectLogs,
  type OperatorConsole,
  operatorConsole,
} from '@kopf-ts/insight';
import { ownVersion } from './own-version.js';

interface InsightParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: Settings;
  // biome-ignore lint/suspicious/noExplicitAny: an operator runs handlers of any environment alike
  readonly registry: Registry<any>;
  readonly client: KubeClient;
  readonly facts: ObservedFacts;
  readonly httpEndpoint: HttpEndpoint;
  readonly control: Control;
  /** Where the logger above keeps its lines. */
  readonly logs: ObjectLogs;
  readonly lag: LagMeter;
}

export interface WiredInsight {
  /** Starts the journal if an address is set. Throws if the address is impossible. */
  begin(): void;
  readonly services: readonly Service[];
}

export function wiredInsight(parts: InsightParts): WiredInsight {
  const { clock, settings, registry, facts, httpEndpoint, logs } = parts;
  let journal: Journal | undefined;
  let console: OperatorConsole | undefined;

  const kept = (): Journal => {
    const { journalSize: maxBytes, sensitiveFields: sensitive } = settings.insight;
    if (journal === undefined) {
      journal = makeJournal({ clock, maxBytes, sensitive });
      facts.add(journal.observer);
    }
    return journal;
  };
  const shown = (): OperatorConsole => {
    if (console === undefined) {
      console = operatorConsole({
        ...parts,
        journal: kept(),
        handlers: () => declaredHandlers(registry),
        workerLimit: () => settings.queueing.workerLimit,
        version: ownVersion(),
      });
      facts.add(console.observer);
      logs.keep();
    }
    return console;
  };

  return {
    begin() {
      const { admin: adminUrl, console: consoleUrl } = settings.insight;
      // Wrong addresses are reported at once, not after the operator has started.
      if (adminUrl !== undefined) {
        httpEndpoint.check({ name: 'admin', url: adminUrl });
        makeAdmin({ ...parts, journal: kept() }).pages(adminUrl);
      }
      if (consoleUrl !== undefined) {
        httpEndpoint.check({ name: 'console', url: consoleUrl });
        shown().pages(consoleUrl);
      }
    },
    services: [
      {
        name: 'admin endpoint',
        async run(signal) {
          const { admin: url, console: consoleUrl } = settings.insight;
          // The console answers these requests, too.
          if (url === undefined || url === consoleUrl) return await untilAborted(signal);
          await makeAdmin({ ...parts, journal: kept() })
            .service({ url, httpEndpoint })
            .run(signal);
        },
      },
      {
        name: 'console',
        async run(signal) {
          const { console: url } = settings.insight;
          if (url === undefined) return await untilAborted(signal);
          await shown().service({ url, httpEndpoint }).run(signal);
        },
      },
    ],
  };
}

// biome-ignore lint/suspicious/noExplicitAny: handlers of any environment are told of alike
function declaredHandlers({ handlers }: Pick<Registry<any>, 'handlers'>): readonly DeclaredHandler[] {
  return Object.values(handlers).flatMap((family) =>
    [...family].map((handler) => ({
      id: handler.id,
      kind: handler.kind,
      resource: 'selector' in handler ? titleOf(handler.selector) : handler.activity,
    })),
  );
}

type Selector = Readonly<Partial<Record<(typeof NAMES)[number], string | typeof EVERYTHING>>> & {
  readonly group?: string;
};
const NAMES = ['kind', 'plural', 'singular', 'shortcut', 'category', 'anyName'] as const;

function titleOf(selector: Selector): string {
  const name = NAMES.map((one) => selector[one]).find((one) => one !== undefined);
  if (name === EVERYTHING) return 'everything';
  const title = name === undefined ? 'chosen by a function' : String(name);
  return selector.group ? `${title}.${selector.group}` : title;
}
