/** The embedded server and the real one, as a pair that answers generated sequences. */
import { Comparison } from '../harness/comparison.js';
import { send } from '../harness/http.js';
import { normalise } from '../harness/normalise.js';
import { mapTexts } from '../harness/paths.js';
import { type Exchange, newRunId, run } from '../harness/runner.js';
import { type Answer, get, post, untilStatus } from '../harness/sequence.js';
import type { Target } from '../harness/targets.js';
import type { WebhookServer } from '../harness/webhooks.js';
import { knownDifferences } from '../known-differences.js';
import { clusterWide } from '../sequences/objects.js';
import type { Pair } from './campaign.js';
import { widgetDefinition, widgetGroup } from './worlds/custom-world.js';

export async function pairOf(real: Target, other: Target, webhooks: WebhookServer): Promise<Pair> {
  const definition = {
    name: 'the definition of widgets',
    steps: [
      post(clusterWide('customresourcedefinitions', 'apiextensions.k8s.io/v1'), widgetDefinition()),
      get(`/apis/${widgetGroup}/v1/widgets`, { until: untilStatus(200) }),
      get(`/apis/${widgetGroup}/v1beta1/widgets`, { until: untilStatus(200) }),
    ],
  };
  const comparison = new Comparison(knownDifferences);
  const both = [real, other];
  for (const trace of await Promise.all(both.map((target) => run(definition, target, webhooks, newRunId())))) {
    const last = trace.answers.at(-1) as Answer;
    if (last.status !== 200) throw new Error(`There are no widgets: ${JSON.stringify(trace.answers)}`);
  }
  return {
    async compare(sequence) {
      const id = newRunId();
      const answersOf = async (target: Target): Promise<Exchange[]> => {
        const traced = await run(sequence, target, webhooks, id, { ready: untilPrepared });
        return normalise(traced).map(withoutAllocations);
      };
      const [left, right] = await Promise.all([answersOf(real).catch(noneIfBroken), answersOf(other)]);
      if (left === undefined) return [];
      const place = { area: 'generated', sequence: sequence.name };
      return comparison.differences(place, left, right);
    },
  };
}

/** There are requests at which the real server panics: it closes the connection, and nobody could answer alike. */
function noneIfBroken(error: unknown): undefined {
  if (!String(error).includes('socket hang up')) throw error;
}

/** A new namespace gets its account a moment later. */
async function untilPrepared(target: Target, namespace: string): Promise<void> {
  const deadline = performance.now() + 10_000;
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
  while ((await send(target, { method: 'GET', path, headers: {} })).status !== 200) {
    if (performance.now() > deadline) throw new Error(`No account in ${namespace} on ${target.name}.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Addresses and ports of services are allocated by each server as it likes. */
function withoutAllocations({ step, answer }: Exchange): Exchange {
  const masked = mapTexts(answer, (text) =>
    text.replace(/\b10\.96\.\d+\.\d+\b/g, '<service address>').replace(/(?<=:)3[0-2]\d{3}(?=\/)/g, '<node port>'),
  );
  return { step, answer: withoutPorts(masked) };
}

function withoutPorts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPorts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) =>
      /nodePort$/i.test(key) && typeof item === 'number' && item >= 30_000 && item < 32_768
        ? [key, '<node port>']
        : [key, withoutPorts(item)],
    ),
  );
}
