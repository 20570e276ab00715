/** The journal and the admin endpoint as parts of an operator: nothing of them is there until an address is set. */
import type { Clock, Control, HttpEndpoint, KubeClient, Logger, Service, Settings } from '@kopf-ts/core';
import { type ObservedFacts, untilAborted } from '@kopf-ts/core/engine';
import { type Journal, admin as makeAdmin, journal as makeJournal } from '@kopf-ts/insight';

interface InsightParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: Settings;
  readonly client: KubeClient;
  readonly facts: ObservedFacts;
  readonly httpEndpoint: HttpEndpoint;
  readonly control: Control;
}

export interface WiredInsight {
  /** Takes notes from now on, if it is set where to ask for them. Throws if there can never be such an address. */
  begin(): void;
  readonly service: Service;
}

export function wiredInsight(parts: InsightParts): WiredInsight {
  const { clock, settings, facts, httpEndpoint } = parts;
  let journal: Journal | undefined;
  return {
    begin() {
      const { admin: url, journalSize: maxBytes, sensitiveFields: sensitive } = settings.insight;
      if (url === undefined) return;
      httpEndpoint.check({ name: 'admin', url });
      if (journal !== undefined) return;
      journal = makeJournal({ clock, maxBytes, sensitive });
      // Said at once, and not when the operator has started.
      makeAdmin({ ...parts, journal }).pages(url);
      facts.add(journal.observer);
    },
    service: {
      name: 'admin endpoint',
      async run(signal) {
        const { admin: url } = settings.insight;
        if (url === undefined || journal === undefined) return await untilAborted(signal);
        await makeAdmin({ ...parts, journal })
          .service({ url, httpEndpoint })
          .run(signal);
      },
    },
  };
}
