/** The metrics of operators, as a real Prometheus sees them; and whether they are true. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Registry, TemporaryError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { freePorts } from '../controlplane/ports.js';
import { requestsOf } from '../deployment/audit.js';
import { describeOnClusters } from '../support/operators/clusters.js';
import type { TestKind } from '../support/operators/kinds.js';
import { eventually, startOperator } from '../support/operators/operators.js';
import { realCluster } from '../support/real-cluster.js';
import { findPrometheus, promtool, type RunningPrometheus, startPrometheus } from './prometheus.js';

const found = await findPrometheus();
const isMissing = found.kind === 'unavailable';
if (isMissing) console.log(`metrics: the tests with Prometheus are SKIPPED: ${found.reason}`);

const published = new URL('../../packages/metrics/', import.meta.url);
const rules = fileURLToPath(new URL('prometheus/alerts.yaml', published));
const dashboard = new URL('grafana/dashboard.json', published);

function tools(): { readonly prometheus: string; readonly promtool: string } {
  if (found.kind === 'unavailable') throw new Error(found.reason);
  return found;
}

const freeAddress = async (): Promise<string> => `http://127.0.0.1:${(await freePorts(1))[0]}`;

/** Something of everything, with an outside count of the calls by handlers and outcomes. */
function declareAll({ on, timer, daemon, index }: Registry, kind: TestKind, calls: Map<string, number>): void {
  const note = (what: string): void => void calls.set(what, (calls.get(what) ?? 0) + 1);
  on.create(kind.selector, { id: 'made' }, ({ retry, patch, indices }) => {
    if (retry === 0) {
      note('made retried');
      throw new TemporaryError('not yet', { delay: 0.1 });
    }
    note('made succeeded');
    patch.status['made'] = [...(indices.get('byName') ?? [])].length;
  });
  on.update(kind.selector, { id: 'edited', errors: 'permanent' }, ({ spec }) => {
    note(spec['bad'] === true ? 'edited failed' : 'edited succeeded');
    if (spec['bad'] === true) throw new Error('bad');
  });
  on.event(kind.selector, { id: 'seen' }, () => note('seen succeeded'));
  index(kind.selector, { id: 'byName' }, ({ name }) => ({ [name]: 1 }));
  timer(kind.selector, { id: 'ticking', interval: 0.5 }, () => note('ticking succeeded'));
  daemon(kind.selector, { id: 'watching' }, async ({ stopped }) => {
    await new Promise((resolve) => stopped.addEventListener('abort', resolve));
  });
}

/** Some objects live through all of it. */
async function tellStory(kind: TestKind, namespace: string, calls: Map<string, number>): Promise<void> {
  const names = ['one', 'two', 'three'];
  for (const name of names) await kind.create(namespace, name, { spec: { size: 1 } });
  await eventually(() => expect(calls.get('made succeeded')).toBe(3));
  for (const name of names) await kind.patch(namespace, name, { spec: { size: 2, bad: name === 'two' } });
  await eventually(() => expect([calls.get('edited succeeded'), calls.get('edited failed')]).toEqual([2, 1]));
}

/** What is asked for by these is only there if something goes wrong, or if there is something else around. */
const RARE =
  /admission|peering|breaker|stray|object_errors|relists|restarts|stream_failures|request_retries|waiting_seconds|outcome!=|gc_duration/;

async function isInSight(prometheus: RunningPrometheus): Promise<void> {
  await eventually(async () =>
    expect(await prometheus.sum('count_over_time(up{job="operator"}[1m])')).toBeGreaterThan(5),
  );
}

describe.skipIf(isMissing)('the alerting rules', () => {
  it('are right, as far as promtool can tell', async () => {
    expect(await promtool(tools().promtool, ['check', 'rules', rules])).toContain('SUCCESS');
  });

  it('have tests each, of when they tell and of when they do not', async () => {
    const text = await readFile(new URL('alerts.tests.yaml', import.meta.url), 'utf8');
    const tested = text.split(/^ +- alertname: /m).slice(1);
    const silent = tested.filter((test) => test.includes('exp_alerts: []')).map((test) => test.split('\n')[0]);
    const loud = tested.filter((test) => test.includes('exp_labels:')).map((test) => test.split('\n')[0]);
    const names = [...(await readFile(rules, 'utf8')).matchAll(/^ +- alert: (\w+)$/gm)].map(([, name]) => name);
    expect(names).toHaveLength(12);
    expect([...new Set(silent)].toSorted()).toEqual(names.toSorted());
    expect([...new Set(loud)].toSorted()).toEqual(names.toSorted());
  });

  it('tell of trouble, and of nothing else', async () => {
    const tests = fileURLToPath(new URL('alerts.tests.yaml', import.meta.url));
    expect(await promtool(tools().promtool, ['test', 'rules', tests])).toContain('SUCCESS');
  });
});

describeOnClusters('the metrics of an operator', (cluster) => {
  /** An operator that may do only what it has to, so that all of its requests can be told from those of others. */
  const start = async () => {
    const { newNamespace, newKind, newUser } = cluster();
    const [kind, namespace] = [await newKind(), await newNamespace()];
    const connection = await newUser({ namespace, group: kind.group, plural: kind.plural });
    const calls = new Map<string, number>();
    const endpoint = `${await freeAddress()}/metrics`;
    const declare = (registry: Registry): void => declareAll(registry, kind, calls);
    await startOperator(cluster(), declare, { namespaces: [namespace], metrics: endpoint, connection });
    return { kind, namespace, calls, endpoint, connection };
  };

  it.skipIf(isMissing)(
    'are what Prometheus, promtool, the dashboard and the rules expect',
    { timeout: 120_000 },
    async () => {
      const { kind, namespace, calls, endpoint } = await start();
      const prometheus = await startPrometheus(tools().prometheus, { target: endpoint, rules });
      await tellStory(kind, namespace, calls);
      await isInSight(prometheus);
      expect(await prometheus.sum('min_over_time(up{job="operator"}[1m])')).toBe(1);

      // By an outside count. Those that go on all the time are compared when they have stopped: in the other test.
      for (const [what, count] of [...calls].filter(([key]) => /^(made|edited)/.test(key))) {
        const [handler, outcome] = what.split(' ');
        const query = `kopf_handler_calls_total{handler="${handler}",outcome="${outcome}"}`;
        await eventually(async () => expect([what, await prometheus.sum(query)]).toEqual([what, count]));
      }
      const resource = `${kind.plural}.${kind.group}`;
      expect(await prometheus.sum(`kopf_daemons_running{resource="${resource}",type="daemon"}`)).toBe(3);
      expect(await prometheus.sum(`kopf_daemons_running{resource="${resource}",type="timer"}`)).toBe(3);
      expect(await prometheus.sum('kopf_handler_calls_running{handler="watching"}')).toBe(3);
      expect(await prometheus.sum('kopf_index_keys{index="byName"}')).toBe(3);
      expect(await prometheus.sum(`kopf_streams{resource="${resource}",phase="watching"}`)).toBe(1);
      expect(await prometheus.sum(`kopf_stream_lag_versions{resource="${resource}"}`)).toBeGreaterThanOrEqual(0);

      const text = await (await fetch(endpoint)).text();
      await promtool(tools().promtool, ['check', 'metrics'], text);

      const { panels } = JSON.parse(await readFile(dashboard, 'utf8')) as {
        panels: { title: string; targets?: { expr: string }[] }[];
      };
      const empty: string[] = [];
      for (const { expr } of panels.flatMap(({ targets = [] }) => targets)) {
        const query = expr.replaceAll('$job', '.*').replaceAll('$instance', '.*').replaceAll('$__rate_interval', '30s');
        if ((await prometheus.query(query)).length === 0 && !RARE.test(expr)) empty.push(expr);
      }
      expect(empty).toEqual([]);

      type Rules = { groups: { rules: { name: string; health: string; lastError?: string }[] }[] };
      await eventually(async () => {
        const { groups } = await prometheus.get<Rules>('/api/v1/rules');
        const all = groups.flatMap((group) => group.rules);
        expect(all.length).toBeGreaterThan(10);
        expect(all.filter(({ health }) => health !== 'ok')).toEqual([]);
      });
    },
  );

  it('count each call that is made, and each request that the server has got', { timeout: 120_000 }, async () => {
    const { kind, namespace, calls, endpoint, connection } = await start();
    await tellStory(kind, namespace, calls);
    for (const name of ['one', 'two', 'three']) await kind.delete(namespace, name);
    await eventually(async () => expect(await kind.get(namespace, 'three')).toBe(undefined));
    const text = await eventually(async () => {
      const current = parsed(await (await fetch(endpoint)).text());
      const handled = current.filter(
        ({ name, labels }) => name === 'kopf_handler_calls_total' && labels['type'] !== 'index',
      );
      const counted = handled
        .filter(({ labels }) => labels['type'] !== 'activity' && labels['type'] !== 'daemon')
        .reduce((all, { labels, value }) => {
          const key = `${labels['handler']} ${labels['outcome']}`;
          return all.set(key, (all.get(key) ?? 0) + value);
        }, new Map<string, number>());
      expect(Object.fromEntries(counted)).toEqual(Object.fromEntries(calls));
      return current;
    });
    if (cluster().backend === 'real') {
      const { sub } = JSON.parse(Buffer.from(String(connection.token).split('.')[1] ?? '', 'base64url').toString()) as {
        sub: string;
      };
      const audited = await requestsOf(realCluster().auditLog ?? '', sub);
      for (const verb of ['patch', 'list']) {
        const isOfKind = (each: string): boolean => each.startsWith(kind.plural);
        const byServer = audited.filter((each) => each.verb === verb && isOfKind(each.resource));
        const byMetrics = (name: string): number =>
          text
            .filter(
              ({ name: own, labels }) => own === name && labels['verb'] === verb && isOfKind(labels['resource'] ?? ''),
            )
            .reduce((sum, { value }) => sum + value, 0);
        const sent = byMetrics('kopf_api_requests_total') + byMetrics('kopf_api_request_retries_total');
        expect([verb, sent]).toEqual([verb, byServer.length]);
      }
      expect(audited.filter(({ verb }) => verb === 'patch').length).toBeGreaterThan(6);
    }
  });
});

interface Line {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

function parsed(text: string): readonly Line[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', each = '']) => [label, each]);
    return [{ name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) }];
  });
}
