/** The journal of an operator in a test, printed with failed assertions. */
import type { Clock } from '@kopf-ts/core';
import { explain, journal } from '@kopf-ts/insight';
import type { RunnerMemory } from '@kopf-ts/testing';

export function journalMemory(clock: Clock): RunnerMemory {
  const kept = journal({ clock });
  return {
    observer: kept.observer,
    why(object) {
      const found = kept.find(object);
      if (found === undefined) return undefined;
      const { title, findings, timeline } = explain({
        object: { ...object, resource: found.resource },
        journal: found,
        operator: kept.operator(),
      });
      const moments = timeline.map(({ text }) => `    ${text}`);
      return [`Why, ${title}:`, ...findings.map(({ text }) => `  - ${text}`), '  What has happened:', ...moments].join(
        '\n',
      );
    },
  };
}
