/** What is told of the metrics elsewhere: the table in the docs, the dashboard, the rules. */
import { readFileSync } from 'node:fs';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { metricRegistry, operatorMetrics } from '../src/index.js';

const textOf = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');
const families = operatorMetrics({
  clock: manualClock(),
  logger: recordingLogger(),
  registry: metricRegistry(),
  indices: [] as never,
}).families();

/** Names of metrics as queries have them, with the labels by which they are chosen or grouped. */
function usedIn(query: string): readonly string[] {
  return [...query.matchAll(/\b(?:kopf|process|nodejs)_\w+/g)].map(([name]) => name);
}

const suffixes = { counter: [''], gauge: [''], histogram: ['_bucket', '_sum', '_count'] } as const;
const known = new Set(families.flatMap(({ name, type }) => suffixes[type].map((suffix) => `${name}${suffix}`)));

describe('The docs', () => {
  it('have all metrics in their table, and no others', () => {
    const rows = textOf('../../../docs/operate/metrics.md')
      .split('\n')
      .filter((line) => /^\| `\w+` +\| (counter|gauge|histogram)/.test(line))
      .map((line) =>
        line
          .split('|')
          .map((cell) => cell.trim())
          .slice(1, -1),
      );
    const expected = families.map(({ name, type, labels, help }) => [
      `\`${name}\``,
      type,
      labels.map((label) => `\`${label}\``).join(', '),
      help,
    ]);
    expect(rows).toEqual(expected);
  });
});

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
}

describe('The dashboard and the rules', () => {
  it('know metrics only that there are', () => {
    const { panels } = JSON.parse(textOf('../grafana/dashboard.json')) as Dashboard;
    const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(queries.length).toBeGreaterThan(40);
    const rules = textOf('../prometheus/alerts.yaml');
    const used = [...queries, rules].flatMap(usedIn).filter((name) => !name.startsWith('kopf_ts'));
    expect(used.filter((name) => !known.has(name))).toEqual([]);
  });
});

it('names follow the conventions of Prometheus', () => {
  for (const { name, type, help } of families) {
    expect(name, name).toMatch(/^(kopf|process|nodejs)(_[a-z]+)+$/);
    expect(name.endsWith('_total'), name).toBe(type === 'counter');
    if (type === 'histogram') expect(name, name).toMatch(/_seconds$/);
    expect(help, name).toMatch(/^[A-Z].*\.$/);
  }
});
