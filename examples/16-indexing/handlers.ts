import * as kopf from 'kopf-ts';

const Pod = kopf.resource<object, { phase?: string }>({ group: '', version: 'v1', plural: 'pods' });

// Kept in memory, and up to date with the cluster. They are full before any other handler is called.
const podsByLabel = kopf.index(Pod, { id: 'podsByLabel' }, ({ labels, name }) =>
  Object.fromEntries(Object.entries(labels).map(([key, value]) => [`${key}=${value}`, name])),
);

// Keys and values may be anything; keys are compared by what is in them.
const isRunning = kopf.index(
  Pod,
  { id: 'isRunning' },
  ({ namespace, name, status }) => new Map([[[namespace, name] as const, status.phase === 'Running']]),
);

kopf.on.probe(function podsInTotal({ indices }) {
  return indices.get(isRunning).size;
});

kopf.timer('kopfexamples', { interval: 1 }, function survey({ namespace, spec, indices, patch }) {
  const pods = [...(indices.get(podsByLabel).get(spec.selector ?? 'app=web') ?? [])].sort();
  const running = pods.filter((name) => [...(indices.get(isRunning).get([namespace, name]) ?? [])][0]);
  patch.status.pods = { all: pods, running };
});
