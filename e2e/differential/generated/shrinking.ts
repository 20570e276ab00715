/** A sequence that shows a difference becomes a minimal one that still shows it. */
import type { RequestStep } from '../harness/sequence.js';
import { at, changed, pathsIn } from './mutations.js';

export interface Shrinking {
  /** Does a candidate still show the same difference? */
  shows(candidate: readonly RequestStep[]): Promise<boolean>;
  /** How many candidates may be tried at most. */
  readonly tries: number;
}

/**
 * The fewest and simplest requests that can be found: first requests are left out, then queries and headers, then parts
 * of bodies. Each accepted candidate is smaller than the one before, so it comes to an end.
 */
export async function shrunk(
  steps: readonly RequestStep[],
  { shows, tries }: Shrinking,
): Promise<readonly RequestStep[]> {
  let left = tries;
  let smallest = steps;
  const accepts = async (candidate: readonly RequestStep[]): Promise<boolean> => {
    if (left <= 0) return false;
    left -= 1;
    if (!(await shows(candidate))) return false;
    smallest = candidate;
    return true;
  };
  for (let before = Number.POSITIVE_INFINITY; sizeOf(smallest) < before && left > 0; ) {
    before = sizeOf(smallest);
    await withFewerRequests(() => smallest, accepts);
    for (let index = smallest.length - 1; index >= 0; index -= 1)
      await withSimplerRequest(() => smallest, index, accepts);
  }
  return smallest;
}

type Accepts = (candidate: readonly RequestStep[]) => Promise<boolean>;
type Current = () => readonly RequestStep[];

/** Halves, quarters, … and at last single requests are left out; the last one shows the difference and stays. */
async function withFewerRequests(current: Current, accepts: Accepts): Promise<void> {
  for (let size = Math.max(1, Math.floor((current().length - 1) / 2)); size >= 1; size = Math.floor(size / 2)) {
    for (let start = 0; start < current().length - 1; ) {
      const steps = current();
      const end = Math.min(start + size, steps.length - 1);
      if (!(await accepts([...steps.slice(0, start), ...steps.slice(end)]))) start = end;
    }
  }
}

async function withSimplerRequest(current: Current, index: number, accepts: Accepts): Promise<void> {
  const step = (): RequestStep => current()[index] as RequestStep;
  const tryWith = (simpler: RequestStep) => accepts(current().map((one, place) => (place === index ? simpler : one)));
  for (const parameter of parametersOf(step().path))
    await tryWith({ ...step(), path: withoutParameter(step().path, parameter) });
  if (step().headers['accept'] !== undefined) {
    const { accept: _, ...headers } = step().headers;
    await tryWith({ ...step(), headers });
  }
  for (const path of pathsIn(step().body)) {
    // A part of it may be gone already.
    if (at(step().body, path) === undefined) continue;
    await tryWith({ ...step(), body: changed(step().body, path, () => undefined) });
  }
}

const parametersOf = (path: string): string[] => (path.split('?')[1] ?? '').split('&').filter((one) => one !== '');

function withoutParameter(path: string, parameter: string): string {
  const rest = parametersOf(path).filter((one) => one !== parameter);
  return (path.split('?')[0] as string) + (rest.length === 0 ? '' : `?${rest.join('&')}`);
}

function sizeOf(steps: readonly RequestStep[]): number {
  return steps.reduce((sum, { path, headers, body }) => sum + JSON.stringify([path, headers, body]).length, 0);
}
