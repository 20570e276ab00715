/** Kopf's own way of agreeing: records of operators in a common object, and priorities. */
import {
  KopfError,
  type PauseReason,
  type Peering,
  type PeeringScope,
  type Resource,
  type Settings,
} from '@kopf-ts/core';
import { childController, formatResource, resourceKey, untilAborted } from '@kopf-ts/core/engine';
import { detectIdentity } from '../identity/identity.js';
import { standalone } from '../standalone.js';
import { type Ruling, takePart } from './membership.js';

/**
 * How an operator presents itself to its peers.
 *
 * ```ts
 * const options: kopf.peering.KopfPeeringOptions = { settings, identity: 'blue' };
 * ```
 */
export interface KopfPeeringOptions {
  /** Read whenever needed: they may be changed until the operator joins, and some of them also later. */
  readonly settings: Settings;
  /** The same for all peerings of an operator; of no other one. Default: {@link detectIdentity}. */
  readonly identity?: string | undefined;
  /** From 0 to 1, as `Math.random()`. */
  readonly random?: (() => number) | undefined;
}

const GROUPS = ['kopf.dev', 'zalando.org'];
const VERSION = 'v1';

export interface PeeringSelector {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

/** The kinds in which the peerings are kept; all that exist are used, as there can be peers that know only one. */
export function peeringSelectors(options: { readonly clusterwide: boolean }): readonly PeeringSelector[] {
  const plural = options.clusterwide ? 'clusterkopfpeerings' : 'kopfpeerings';
  return GROUPS.map((group) => ({ group, version: VERSION, plural }));
}

/**
 * Peers are other operators, kopf-ts or Kopf, with records in the same `KopfPeering` or `ClusterKopfPeering`.
 * The operator pauses while there are live ones of a higher priority; and those of the same priority all pause.
 *
 * Without such a kind or object in the cluster, the operator works as if it were alone; or, if the peering is
 * mandatory, waits until they appear.
 *
 * ```ts
 * const settings = kopf.settings({ peering: { name: 'kopfexamples', priority: 10 } });
 * await kopf.run({ settings, peering: kopf.peering.kopfPeering({ settings }) });
 * ```
 */
export function kopfPeering(options: KopfPeeringOptions): Peering {
  const { settings, random = Math.random } = options;
  let detected: Promise<string> | undefined;
  const identify = (now: Date): Promise<string> | string => {
    if (options.identity !== undefined) return options.identity;
    detected ??= detectIdentity({ now, random });
    return detected;
  };
  return {
    async join(scope) {
      if (scope.signal.aborted) return;
      if (settings.peering.standalone) return await standalone().join(scope);
      await joinAll(scope, { settings, random, identify });
    },
  };
}

interface Member {
  ruling: Ruling | undefined;
  why?: PauseReason | undefined;
  readonly done: Promise<void>;
  leave(): void;
}

async function joinAll(
  scope: PeeringScope,
  {
    settings,
    random,
    identify,
  }: Required<Omit<KopfPeeringOptions, 'identity' | 'random'>> & {
    readonly random: () => number;
    readonly identify: (now: Date) => Promise<string> | string;
  },
): Promise<void> {
  const { insights, logger, paused } = scope;
  const clusterwide = scope.namespace === null || settings.peering.clusterwide;
  const namespace = clusterwide ? undefined : (scope.namespace ?? undefined);
  const selectors = peeringSelectors({ clusterwide });
  const members = new Map<string, Member>();
  const leaving = new Set<Promise<void>>();
  const staying = childController(scope.signal);
  let isAbsenceTold = false;

  const logAbsence = (): void => {
    if (isAbsenceTold) return;
    isAbsenceTold = true;
    const kinds = selectors.map(formatResource).join(' or ');
    if (settings.peering.mandatory)
      logger.warn(`The peering is mandatory, but the cluster has no ${kinds}. Paused until there is one.`);
    else logger.debug(`There is no peering: the cluster has no ${kinds}. Working as if there were no peers.`);
  };

  const conclude = (): void => {
    if (staying.signal.aborted) return;
    const rulings = [...members.values()].map(({ ruling }) => ruling);
    if (rulings.length === 0) {
      logAbsence();
      paused.turn(settings.peering.mandatory, { kind: 'absent' });
      return;
    }
    isAbsenceTold = false;
    // While something is not known yet, all stays as it is: neither begin too early, nor pause for nothing.
    if (rulings.includes('pause'))
      paused.turn(true, [...members.values()].find(({ ruling }) => ruling === 'pause')?.why);
    else if (!rulings.includes(undefined)) paused.turn(false);
  };

  const admit = (resource: Resource): Member => {
    const own = childController(staying.signal);
    const onRuling = (ruling: Ruling, why?: PauseReason): void => {
      member.ruling = ruling;
      member.why = why;
      conclude();
    };
    const membership = { scope, resource, namespace, settings, random, onRuling, signal: own.signal };
    // Resolvers of names may be slow, so they are asked only when there is somebody to introduce oneself to.
    const introduced = async () => takePart({ ...membership, identity: await identify(scope.clock.utc()) });
    const done = introduced().catch((error: unknown) => staying.abort(error));
    const member: Member = { ruling: undefined, done, leave: () => own.abort() };
    return member;
  };

  const adjust = (): void => {
    const found = selectors.map((selector) => insights.find(selector)).filter((one) => one !== undefined);
    const keys = new Set(found.map(resourceKey));
    for (const [key, member] of members) {
      if (keys.has(key)) continue;
      members.delete(key);
      member.leave();
      leaving.add(member.done);
      void member.done.then(() => leaving.delete(member.done));
    }
    for (const resource of found) {
      const key = resourceKey(resource);
      if (!members.has(key)) members.set(key, admit(resource));
    }
    conclude();
  };

  try {
    for await (const _revision of insights.revisions(staying.signal)) {
      if (staying.signal.aborted) break;
      adjust();
    }
    await untilAborted(staying.signal);
  } catch (error) {
    if (!staying.signal.aborted) staying.abort(error);
  } finally {
    await Promise.all([...leaving, ...[...members.values()].map(({ done }) => done)]);
    staying.dispose();
  }
  if (scope.signal.aborted) return;
  throw new KopfError('The peering has failed.', { code: 'KOPF_PEERING_FAILED', cause: staying.signal.reason });
}
