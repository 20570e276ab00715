/** Prometheus itself: found, or taken from Debian's package without installing it; and a running one for a test. */
import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { freePorts } from '../controlplane/ports.js';
import { supervise } from '../controlplane/processes.js';
import { unpackedFromDebian } from '../support/debian.js';
import { eventually } from '../support/operators/operators.js';

export type Prometheus =
  | { readonly kind: 'found'; readonly prometheus: string; readonly promtool: string }
  | { readonly kind: 'unavailable'; readonly reason: string };

const run = promisify(execFile);

/** From the PATH, or from the cache; what is not there is fetched by apt, which is there on Debian and its like. */
export async function findPrometheus(): Promise<Prometheus> {
  const packages = { title: 'prometheus', names: ['prometheus'] };
  try {
    const folder = (await isOnPath()) ? '' : join(await unpackedFromDebian(packages), 'usr', 'bin');
    return { kind: 'found', prometheus: join(folder, 'prometheus'), promtool: join(folder, 'promtool') };
  } catch (error) {
    const [line = ''] = String(error instanceof Error ? error.message : error).split('\n');
    return { kind: 'unavailable', reason: `Prometheus is not there, and cannot be fetched: ${line}` };
  }
}

async function isOnPath(): Promise<boolean> {
  try {
    await Promise.all([run('prometheus', ['--version']), run('promtool', ['--version'])]);
    return true;
  } catch {
    return false;
  }
}

export interface RunningPrometheus {
  /** The value of each series that the query gives, at this moment. */
  query(expression: string): Promise<readonly QueryResult[]>;
  /** The sum of them; `undefined` if there are none. */
  sum(expression: string): Promise<number | undefined>;
  get<T>(path: string): Promise<T>;
}

interface QueryResult {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

/** Until the end of the test, it scrapes that address every second, and evaluates those rules. */
export async function startPrometheus(
  program: string,
  options: { readonly target: string; readonly rules: string },
): Promise<RunningPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'kopf-prometheus-'));
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [options.rules],
    scrape_configs: [{ job_name: 'operator', static_configs: [{ targets: [new URL(options.target).host] }] }],
  };
  // Each JSON is YAML as well.
  await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const supervisor = supervise(folder);
  const [port] = await freePorts(1);
  supervisor.start({
    name: 'prometheus',
    command: program,
    args: [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    logFile: join(folder, 'prometheus.log'),
  });
  onTestFinished(() => supervisor.stop());
  const address = `http://127.0.0.1:${port}`;
  await eventually(async () => {
    if (!(await fetch(`${address}/-/ready`)).ok) throw new Error('not yet');
  });
  const get = async <T>(path: string): Promise<T> => {
    const answer = (await (await fetch(`${address}${path}`)).json()) as { status: string; error?: string; data: T };
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error}`);
    return answer.data;
  };
  const query = async (expression: string): Promise<readonly QueryResult[]> =>
    (await get<{ result: readonly QueryResult[] }>(`/api/v1/query?query=${encodeURIComponent(expression)}`)).result;
  return {
    get,
    query,
    async sum(expression) {
      const results = await query(expression);
      return results.length === 0 ? undefined : results.reduce((sum, { value }) => sum + Number(value[1]), 0);
    },
  };
}

/** Gives what it prints; throws if it does not like the text. */
export async function promtool(program: string, args: readonly string[], input = ''): Promise<string> {
  const running = run(program, [...args]);
  running.child.stdin?.end(input);
  const { stdout, stderr } = await running;
  return `${stdout}${stderr}`;
}
