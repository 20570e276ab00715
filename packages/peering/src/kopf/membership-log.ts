/** What a member of a peering says in the logs: each thing once, and again only when it changes. */
import type { Logger, PeeringSettings } from '@kopf-ts/core';
import { describeError } from '@kopf-ts/core/engine';
import { describePeering, type PeeringAddress } from './peering-records.js';
import { describePeers, type Peer } from './peers.js';

/** Why the operator may work or not. */
interface Grounds {
  readonly higher: readonly Peer[];
  readonly same: readonly Peer[];
  /** Neither reading nor writing is permitted to us. */
  readonly isBlind: boolean;
  /** The peering is mandatory, and it is not there. */
  readonly isRequired: boolean;
}

export interface MembershipLog {
  /** `'default' in 'ns1'` */
  readonly title: string;
  /** The last keep-alive has failed. */
  readonly isFailing: boolean;
  ruling(grounds: Grounds): void;
  malformedRecords(identities: readonly string[]): void;
  keepAlive(isFound: boolean): void;
  keepAliveFailure(error: unknown): void;
}

export function membershipLog(logger: Logger, at: PeeringAddress, settings: PeeringSettings): MembershipLog {
  const title = describePeering(at);
  let paused: 'higher' | 'same' | 'required' | undefined;
  let isBlindnessTold = false;
  let conflict = '';
  let malformed = '';
  let failure: string | undefined;

  const logConflict = (same: readonly Peer[]): void => {
    const identities = JSON.stringify(same.map(({ identity }) => identity).sort());
    if (identities === conflict) return;
    conflict = identities;
    logger.warn(
      `Possibly conflicting operators with the same priority: ${describePeers(same)}. ` +
        'Pausing all operators, including self, until only one of them is left, or their priorities differ. ' +
        'For replicas of one operator, use leases instead of priorities.',
    );
  };

  return {
    title,
    get isFailing() {
      return failure !== undefined;
    },
    ruling({ higher, same, isBlind, isRequired }) {
      if (isBlind && !isBlindnessTold) {
        const consequence = isRequired ? 'Staying paused, as it is mandatory.' : 'Working as if there were no peers.';
        logger.warn(`No permission to read or patch the peering ${title}. ${consequence}`);
      }
      isBlindnessTold = isBlind;
      const before = paused;
      paused = isRequired ? 'required' : higher.length > 0 ? 'higher' : same.length > 0 ? 'same' : undefined;
      if (paused === 'same') logConflict(same);
      else conflict = '';
      if (paused === before) return;
      if (paused === 'higher') logger.info(`Pausing operations in favour of ${describePeers(higher)}.`);
      if (paused === 'required' && !isBlind)
        logger.warn(`The peering ${title} is mandatory, but there is no such object. Paused until it is created.`);
      if (paused === undefined) logger.info('Resuming operations after the pause. There are no conflicting operators.');
    },
    malformedRecords(identities) {
      const news = JSON.stringify(identities);
      if (identities.length > 0 && news !== malformed)
        logger.warn(`Ignoring malformed records of peers in the peering ${title}: ${identities.join(', ')}.`);
      malformed = news;
    },
    keepAlive(isFound) {
      if (failure !== undefined) logger.info(`Keep-alive in ${title} works again.`);
      failure = undefined;
      if (!isFound) logger.debug(`Keep-alive in ${title}: not found.`);
      else if (!settings.stealth) logger.debug(`Keep-alive in ${title}: ok.`);
    },
    keepAliveFailure(error) {
      const text = describeError(error);
      const message = `Keep-alive in ${title} has failed: ${text}`;
      if (failure === text) logger.debug(message);
      else logger.warn(message, { error });
      failure = text;
    },
  };
}
