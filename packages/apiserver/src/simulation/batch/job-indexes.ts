/** Jobs whose pods have numbers: each number has to succeed once. */
import type { ServedObject } from '../../contracts/objects.js';
import type { Count } from './job-counts.js';

export const INDEX = 'batch.kubernetes.io/job-completion-index';

export const isIndexed = ({ spec }: ServedObject): boolean => spec.completionMode === 'Indexed';

export function indexOf({ metadata }: ServedObject): number | undefined {
  const text = metadata.annotations?.[INDEX];
  return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text);
}

/** The first numbers that have neither succeeded nor are under way. */
export function nextIndexes(job: ServedObject, active: readonly ServedObject[], count: Count, most: number): number[] {
  const taken = new Set([...count.completed, ...active.map(indexOf)]);
  const next: number[] = [];
  for (let index = 0; index < (job.spec.completions ?? 0) && next.length < most; index++) {
    if (!taken.has(index)) next.push(index);
  }
  return next;
}

/** As the status has them: `0-2,5`. */
export function formatIndexes(indexes: ReadonlySet<number>): string {
  const parts: string[] = [];
  const sorted = [...indexes].sort((a, b) => a - b);
  for (let start = 0; start < sorted.length; ) {
    let end = start;
    while (sorted[end + 1] === (sorted[end] as number) + 1) end++;
    const [first, last] = [sorted[start] as number, sorted[end] as number];
    // Two in a row are written one by one, more of them as a range.
    parts.push(last - first >= 2 ? `${first}-${last}` : last === first ? `${first}` : `${first},${last}`);
    start = end + 1;
  }
  return parts.join(',');
}

export function parseIndexes(text: string | undefined): Set<number> {
  const indexes = new Set<number>();
  for (const part of (text ?? '').split(',').filter((one) => one !== '')) {
    const [first = 0, last = first] = part.split('-').map(Number);
    for (let index = first; index <= last; index++) indexes.add(index);
  }
  return indexes;
}
