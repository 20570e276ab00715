/** StatefulSets have pods with names and claims of their own, which come and go in order. */
import { deepCopy, deepEqual, type Mapping, type Seconds } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { type Decision, managed, NOTHING, type SimulatedController, sooner } from '../decisions.js';
import { familyOf } from '../family.js';
import { normal, type Telling, told, warning } from '../notes.js';
import { PODS } from '../pods/kubelet.js';
import { CLAIMS } from '../volumes/claims.js';
import type { World } from '../world.js';
import { create, remove, replaceStatus, type Write } from '../writes.js';
import { forgotten, historyOf, REVISIONS, templateOf } from './controller-revisions.js';
import { availableIn, hasEnded, isReady, isTerminating, podOf } from './pods-of-templates.js';
import { scaled } from './rollouts.js';

const STATEFUL_SETS = 'statefulsets.apps';
const HASH = 'controller.kubernetes.io/hash';
const REVISION = 'controller-revision-hash';

/** A set with its pods by their ordinals, and the two revisions that these may be of. */
interface Scene {
  readonly set: ServedObject;
  readonly world: World;
  readonly pods: ReadonlyMap<number, ServedObject>;
  readonly current: ServedObject;
  readonly update: ServedObject;
  readonly first: number;
  readonly replicas: number;
  readonly isOrdered: boolean;
}

export const statefulSetController: SimulatedController = {
  ...managed('statefulset-controller'),
  collection: STATEFUL_SETS,
  dependents: [PODS, REVISIONS],
  decide(set, world): Decision {
    if (set === undefined) return NOTHING;
    const family = familyOf(world, set, PODS);
    if (family.writes.length > 0) return family;
    const { all, update, writes } = historyOf(world, set, HASH);
    if (update === undefined) return isTerminating(set) ? NOTHING : { writes };
    const current = all.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update;
    const pods = new Map(family.members.flatMap((pod) => ordinalled(set, pod)));
    const scene: Scene = {
      set,
      world,
      pods,
      current,
      update,
      first: set.spec.ordinals?.start ?? 0,
      replicas: set.spec.replicas ?? 1,
      isOrdered: set.spec.podManagementPolicy !== 'Parallel',
    };
    const status = statusOf(scene);
    const waits = [...pods.values()].map((pod) => availableIn(pod, set.spec.minReadySeconds, world.now));
    const used = new Set([current, update].map(({ metadata }) => metadata.name ?? ''));
    for (const pod of pods.values()) used.add(pod.metadata.labels?.[REVISION] ?? '');
    return {
      writes: [
        ...(isTerminating(set) ? [] : changesOf(scene)),
        ...(deepEqual(status, set.status) ? [] : [replaceStatus(STATEFUL_SETS, set, status)]),
        ...forgotten(set, all, used),
      ],
      again: waits.filter((wait) => wait > 0 && Number.isFinite(wait)).reduce<Seconds | undefined>(sooner, undefined),
    };
  },
};

function ordinalled({ metadata }: ServedObject, pod: ServedObject): readonly (readonly [number, ServedObject])[] {
  const name = pod.metadata.name ?? '';
  const ordinal = name.slice(`${metadata.name}-`.length);
  return name.startsWith(`${metadata.name}-`) && /^\d+$/.test(ordinal) ? [[Number(ordinal), pod]] : [];
}

const isHealthy = ({ set, world }: Scene, pod: ServedObject): boolean =>
  !isTerminating(pod) && availableIn(pod, set.spec.minReadySeconds, world.now) === 0;

/** What comes next: first all that are wanted, then no others, then the new revision. One by one, unless in parallel. */
function changesOf(scene: Scene): readonly Write[] {
  const { first, replicas, pods, isOrdered } = scene;
  const writes: Write[] = [];
  for (let ordinal = first; ordinal < first + replicas; ordinal++) {
    const pod = pods.get(ordinal);
    if (pod === undefined) writes.push(...creation(scene, ordinal));
    else if (hasEnded(pod) && !isTerminating(pod)) writes.push(removal(scene, pod));
    else if (!isOrdered || isHealthy(scene, pod)) continue;
    if (isOrdered) return writes;
  }
  const condemned = [...pods].filter(([ordinal]) => ordinal < first || ordinal >= first + replicas);
  for (const [, pod] of condemned.sort(([a], [b]) => b - a)) {
    if (!isTerminating(pod)) writes.push(removal(scene, pod));
    if (isOrdered) return writes;
  }
  return [...writes, ...updates(scene)];
}

/** From the last to the first, down to the partition; the next one goes when those before it are well. */
function updates(scene: Scene): readonly Write[] {
  const { set, first, replicas, pods, update } = scene;
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type === 'OnDelete') return [];
  const most = Math.max(1, scaled(rollingUpdate?.maxUnavailable ?? 1, replicas, Math.ceil));
  const writes: Write[] = [];
  let unhealthy = 0;
  for (let ordinal = first + replicas - 1; ordinal >= first + (rollingUpdate?.partition ?? 0); ordinal--) {
    const pod = pods.get(ordinal);
    if (unhealthy >= most) break;
    if (pod !== undefined && !isTerminating(pod) && pod.metadata.labels?.[REVISION] !== update.metadata.name) {
      writes.push(removal(scene, pod));
      unhealthy++;
    } else if (pod === undefined || !isHealthy(scene, pod)) unhealthy++;
  }
  return writes;
}

function creation(scene: Scene, ordinal: number): readonly Write[] {
  const { set, world } = scene;
  const { namespace = '', name: owner } = set.metadata;
  const revision = revisionFor(scene, ordinal);
  const name = `${owner}-${ordinal}`;
  const templates: readonly ServedObject[] = set.spec.volumeClaimTemplates ?? [];
  const labels = {
    'apps.kubernetes.io/pod-index': String(ordinal),
    'statefulset.kubernetes.io/pod-name': name,
    [REVISION]: revision.metadata.name ?? '',
  };
  const pod = podOf(set, templateOf(revision), { name, labels });
  const claims = templates.map(({ metadata }) => ({ volume: metadata.name, claim: `${metadata.name}-${name}` }));
  const volumes = (pod.spec['volumes'] ?? []) as readonly { readonly name: string }[];
  const others = volumes.filter((volume) => !claims.some((claim) => claim.volume === volume.name));
  const own = claims.map(({ volume, claim }) => ({ name: volume, persistentVolumeClaim: { claimName: claim } }));
  const spec = {
    ...pod.spec,
    hostname: name,
    subdomain: set.spec.serviceName,
    ...(own.length + others.length === 0 ? {} : { volumes: [...own, ...others] }),
  };
  return [
    ...templates
      .filter(({ metadata }) => world.get(CLAIMS, namespace, `${metadata.name}-${name}`) === undefined)
      .map((template) => {
        const claim = `Create Claim ${template.metadata.name}-${name}`;
        return told(create(CLAIMS, claimOf(set, template, name)), {
          done: () => [normal('SuccessfulCreate', `${claim} Pod ${name} in StatefulSet ${owner} success`)],
          refused: (problem) => [
            warning('FailedCreate', `${claim} for Pod ${name} in StatefulSet ${owner} failed error: ${problem}`),
          ],
        });
      }),
    told(create(PODS, { ...pod, spec }), toldOf('Create', name, set)),
  ];
}

const removal = ({ set }: Scene, pod: ServedObject): Write =>
  told(remove(PODS, pod), toldOf('Delete', pod.metadata.name, set));

const toldOf = (verb: 'Create' | 'Delete', pod: string | undefined, { metadata }: ServedObject): Telling => {
  const what = `${verb} Pod ${pod} in StatefulSet ${metadata.name}`;
  return {
    done: () => [normal(`Successful${verb}`, `${what} successful`)],
    refused: (problem) => [warning(`Failed${verb}`, `${what} failed error: ${problem}`)],
  };
};

/** Below the partition, pods come back as they were. */
function revisionFor({ set, current, update, first }: Scene, ordinal: number): ServedObject {
  const partition: number = set.spec.updateStrategy?.rollingUpdate?.partition ?? 0;
  return ordinal < first + partition ? current : update;
}

function claimOf({ metadata, spec }: ServedObject, template: ServedObject, pod: string): Mapping {
  const labels = { ...template.metadata.labels, ...spec.selector?.matchLabels };
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...template.metadata,
      name: `${template.metadata.name}-${pod}`,
      namespace: metadata.namespace,
      labels,
    },
    spec: deepCopy(template['spec']),
  };
}

function statusOf(scene: Scene): Mapping {
  const { set, world, pods, current, update } = scene;
  const all = [...pods.values()];
  const ofRevision = (revision: ServedObject): number =>
    all.filter((pod) => !isTerminating(pod) && pod.metadata.labels?.[REVISION] === revision.metadata.name).length;
  const ready = all.filter((pod) => isReady(pod) && pod.status?.phase === 'Running');
  const updated = ofRevision(update);
  const isRolledOut =
    set.spec.updateStrategy?.type !== 'OnDelete' && updated === all.length && ready.length === all.length;
  const counts = {
    readyReplicas: ready.length,
    currentReplicas: isRolledOut ? updated : ofRevision(current),
    updatedReplicas: updated,
  };
  return {
    observedGeneration: set.metadata.generation,
    replicas: all.length,
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    availableReplicas: ready.filter((pod) => availableIn(pod, set.spec.minReadySeconds, world.now) === 0).length,
    currentRevision: (isRolledOut ? update : current).metadata.name,
    updateRevision: update.metadata.name,
    collisionCount: set.status?.collisionCount ?? 0,
  };
}
