/** Reasons why an operator handles nothing at all, or nothing of this kind or in this namespace. */
import type { OperatorJournal } from '../../journal/entries.js';
import type { Known, WhyFinding } from '../explain.js';
import { listText } from '../words.js';

export function aboutOperator(known: Known): readonly WhyFinding[] {
  const { operator } = known;
  if (operator === undefined) return [];
  const scope = aboutScope(known, operator);
  if (scope.length > 0) return scope;
  return [...aboutPauses(known, operator), ...aboutStreams(known, operator), ...aboutIndexing(operator)];
}

function aboutScope({ object }: Known, { resources, namespaces }: OperatorJournal): readonly WhyFinding[] {
  const { resource, namespace } = object;
  if (resources !== undefined && !resources.includes(resource)) {
    const served = resources.length === 0 ? 'nothing' : listText(resources, 10);
    const text = `The operator does not serve ${resource}: it has no handlers for it, or the cluster has no such kind. It serves ${served}.`;
    return [{ reason: 'kind-unserved', text }];
  }
  const isServed =
    namespaces === undefined || namespace === undefined || namespaces.includes(null) || namespaces.includes(namespace);
  if (isServed) return [];
  const served = namespaces.length === 0 ? 'no namespaces' : listText(namespaces.map(String), 10);
  const text = `The operator does not serve the namespace ${namespace}. It serves ${served}.`;
  return [{ reason: 'out-of-scope', text }];
}

function aboutPauses({ live }: Known, { pauses }: OperatorJournal): readonly WhyFinding[] {
  const findings = pauses.map(({ kind, by, namespace }): WhyFinding => {
    const who = by === undefined ? 'another operator' : by;
    // It pauses the whole operator, in all namespaces.
    const where = namespace === null ? '' : ` in the namespace ${namespace}`;
    switch (kind) {
      case 'leader': {
        const leader = by === undefined ? 'The leader is not known yet' : `The leader is ${by}`;
        return {
          reason: 'not-leader',
          text: `This replica of the operator is on standby: it is not the leader. ${leader}.`,
        };
      }
      case 'absent':
        return {
          reason: 'paused-by-peer',
          text: `The operator is paused: its peering${where} is mandatory, but does not exist.`,
        };
      default:
        return { reason: 'paused-by-peer', text: `The operator is paused in favour of its peers${where}: ${who}.` };
    }
  });
  if (!live?.isOperatorPaused) return findings;
  return [
    ...findings,
    { reason: 'operator-paused', text: 'The whole operator is paused by hand until it is resumed.' },
  ];
}

function aboutStreams({ object }: Known, { streams }: OperatorJournal): readonly WhyFinding[] {
  const { resource, namespace } = object;
  const concerned = streams.filter(
    (stream) =>
      stream.resource === resource &&
      (stream.namespace === null || namespace === undefined || stream.namespace === namespace),
  );
  return concerned.flatMap(({ phase, error, status }): WhyFinding[] => {
    const why = error === undefined ? '' : `: ${error}`;
    if (status === 403 || status === 401) {
      return [{ reason: 'forbidden', text: `The operator has no permission to watch ${resource}${why}` }];
    }
    if (phase === 'down' || phase === 'crashed') {
      return [
        { reason: 'stream-down', text: `The operator cannot watch ${resource} at the moment, and is retrying${why}` },
      ];
    }
    if (phase === 'starting' || phase === 'listing') {
      return [{ reason: 'starting', text: `The operator is still listing ${resource}.` }];
    }
    return [];
  });
}

function aboutIndexing({ indexing, streams }: OperatorJournal): readonly WhyFinding[] {
  if (indexing.isReady) return [];
  const failing = streams.find(
    ({ resource, error }) => error !== undefined && indexing.missing.includes(resource.split('.')[0] ?? ''),
  );
  const why = failing === undefined ? '' : ` ${failing.resource} cannot be listed: ${failing.error}`;
  const text = `No handlers are called until the indices are filled. Missing: ${listText(indexing.missing)}.${why}`;
  return [{ reason: 'indexing', text }];
}
