/** Many generated sequences on two servers: how many of their answers are not the same, and which. */
import type { Difference } from '../harness/difference.js';
import type { RequestStep, Sequence } from '../harness/sequence.js';
import { sequencesOf, type World } from './generator.js';
import { shrunk } from './shrinking.js';

/** Two servers, of which one should be like the other. */
export interface Pair {
  /** Sends the sequence to both; the differences of each step, in order. None, where there is nothing to compare. */
  compare(sequence: Sequence): Promise<readonly (readonly Difference[])[]>;
}

/** An answer that was not the same on both servers. */
export interface Inequality {
  readonly sequence: string;
  /** The requests up to the one with the unequal answers. */
  readonly steps: readonly RequestStep[];
  readonly differences: readonly Difference[];
  /** Inequalities of the same cause most often have the same. */
  readonly signature: string;
}

export interface SeedResult {
  readonly seed: string;
  /** Of so many requests the answers were compared. */
  readonly compared: number;
  readonly inequalities: readonly Inequality[];
}

export interface CampaignOptions {
  readonly pair: Pair;
  readonly world: World;
  readonly seed: string;
  /** How many answers are compared. */
  readonly requests: number;
  /** How many sequences run side by side. */
  readonly sideBySide?: number;
}

/**
 * Compares answers until there were enough of them. After an unequal answer, the servers may have unequal objects: the
 * rest of that sequence would tell the same again and again, so it does not count, neither as equal nor as unequal.
 */
export async function compareSeed({
  pair,
  world,
  seed,
  requests,
  sideBySide = 8,
}: CampaignOptions): Promise<SeedResult> {
  const sequences = sequencesOf(world, seed);
  const inequalities: Inequality[] = [];
  let compared = 0;
  const work = async (): Promise<void> => {
    while (compared < requests) {
      const { value: sequence } = sequences.next();
      const all = await pair.compare(sequence);
      const found = firstInequality(sequence, all);
      compared += found?.steps.length ?? all.length;
      if (found !== undefined) inequalities.push(found);
    }
  };
  await Promise.all(Array.from({ length: sideBySide }, work));
  return { seed, compared, inequalities };
}

function firstInequality({ name, steps }: Sequence, all: readonly (readonly Difference[])[]): Inequality | undefined {
  const index = all.findIndex((differences) => differences.length > 0);
  if (index < 0) return undefined;
  const differences = all[index] as readonly Difference[];
  const until = steps.slice(0, index + 1) as readonly RequestStep[];
  return {
    sequence: name,
    steps: until,
    differences,
    signature: signatureOf(until.at(-1) as RequestStep, differences),
  };
}

/** What people would call it: which request, and what differs, without the values of one run. */
function signatureOf({ method, path, headers }: RequestStep, differences: readonly Difference[]): string {
  const [place = ''] = path.split('?');
  const resource = place
    .replace(/^\/apis?\//, '')
    .replace(/namespaces\/<ns>\//, '')
    .replace(/\/[abc](-<id>)?(?=\/|$)/, '');
  const type = method === 'PATCH' ? ` ${String(headers['content-type']).replace(/^application\/|-patch.*$/g, '')}` : '';
  const paths = [...new Set(differences.map((one) => one.path.replaceAll(/\[\d+\]/g, '[]')))];
  const status = differences.find((one) => one.path === 'status');
  const shown =
    status === undefined ? paths.slice(0, 2).join(', ') : `status ${String(status.left)} / ${String(status.right)}`;
  return `${method}${type} ${resource}: ${shown}`;
}

/** The smallest sequence with the same inequality, by running its parts again and again. */
export async function minimal(pair: Pair, inequality: Inequality, tries = 250): Promise<Inequality> {
  let best = inequality;
  await shrunk(inequality.steps, {
    tries,
    async shows(candidate) {
      const sequence = { name: inequality.sequence, steps: candidate, causesComeInAnyOrder: true };
      const found = firstInequality(sequence, await pair.compare(sequence));
      if (found?.steps.length !== candidate.length || found.signature !== inequality.signature) return false;
      best = found;
      return true;
    },
  });
  return best;
}
