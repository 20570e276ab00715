/** Plays a scenario, and fails with what is wrong with its history: objections first, then the history as a story. */
import { judgeOf, objections } from './oracle.js';
import { type History, play } from './play.js';
import type { Scenario } from './scenario.js';

export async function trial(scenario: Scenario): Promise<History> {
  const history = await play(scenario, judgeOf);
  const problems = objections(history);
  if (problems.length > 0) throw new Error(`${problems.slice(0, 6).join('\n')}\n${story(history)}`);
  return history;
}

const MAX_LINES = 60;

/** What has happened, line by line, in order. */
function story({ writes, patches, calls, kills, strippings }: History): string {
  const lines = [...writes, ...patches, ...calls, ...kills, ...strippings]
    .sort((a, b) => a.seq - b.seq)
    .map((each) => {
      switch (each.kind) {
        case 'call':
          return `${each.handler} called at ${each.version}, retry ${each.retry}, ${each.reason}: ${each.outcome} by ${each.endSeq}`;
        case 'patch':
          return `PATCH ${each.answer} ${each.path.split('kopfexamples/')[1]} ${JSON.stringify(each.body)}`;
        case 'write':
          return `${each.version} by ${each.who}: ${JSON.stringify(changed(each.before, each.after))}`;
        default:
          return each.kind;
      }
    });
  const cut =
    lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES), `… and ${lines.length - MAX_LINES} more`] : lines;
  const all = [...writes, ...patches, ...calls, ...kills, ...strippings].sort((a, b) => a.seq - b.seq);
  return cut
    .map(
      (line, index) =>
        `  [${all[index]?.seq ?? ''} at ${'at' in (all[index] ?? {}) ? (all[index] as { at: number }).at : ''}] ${line}`,
    )
    .join('\n');
}

function changed(before: object | undefined, after: object | undefined): unknown {
  if (before === undefined || after === undefined) return after === undefined ? 'gone' : after;
  const [old, now] = [before, after] as Record<string, object>[];
  const keys = new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})]);
  const result: Record<string, unknown> = {};
  for (const key of keys) {
    const [a, b] = [old?.[key], now?.[key]];
    if (JSON.stringify(a) === JSON.stringify(b) || key === 'resourceVersion') continue;
    const isDeep = typeof a === 'object' && typeof b === 'object' && !Array.isArray(b);
    result[key] = isDeep ? changed(a, b) : (b ?? null);
  }
  return result;
}
