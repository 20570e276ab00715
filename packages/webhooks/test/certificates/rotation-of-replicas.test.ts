import { type LocalCluster, localCluster } from '@kopf-ts/apiserver';
import type { Seconds } from '@kopf-ts/core';
import { type ManualClock, manualClock } from '@kopf-ts/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { shared } from '../../src/certificates/sharing/shared-certificates.js';
import { certificatesOf, type Follower, follow, isTrusted, leafOf, warmUp } from './support.js';

const STEP: Seconds = 0.5;
const secret = { namespace: 'default', name: 'authorities' };

beforeAll(warmUp);

/** The same sequence each time, different for each seed. */
function randomsOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

interface Scenario {
  readonly seed: number;
  readonly validity: Seconds;
  readonly authorityValidity: Seconds;
  /** How likely it is that replicas come or go at each step. */
  readonly unrest: number;
}

class Fleet {
  readonly replicas = new Set<Follower>();
  readonly #scenario: Scenario;
  readonly #clock: ManualClock;
  readonly #cluster: LocalCluster;
  readonly #random: () => number;

  constructor(scenario: Scenario, clock: ManualClock, cluster: LocalCluster) {
    this.#scenario = scenario;
    this.#clock = clock;
    this.#cluster = cluster;
    this.#random = randomsOf(scenario.seed);
  }

  start(): void {
    const { validity, authorityValidity } = this.#scenario;
    const options = { hosts: ['service.default.svc'], secret, validity, authorityValidity };
    this.replicas.add(
      follow(shared(options, this.#random), {
        clock: this.#clock,
        client: this.#cluster.client,
        announcingTakes: () => this.#random() * 0.3,
      }),
    );
  }

  async kill(): Promise<void> {
    const [first] = this.replicas;
    if (first === undefined) return;
    this.replicas.delete(first);
    await first.stop();
  }

  /** Replicas come and go; there are always one to three of them. */
  async unrest(): Promise<void> {
    if (this.#random() >= this.#scenario.unrest) return;
    if (this.replicas.size > 1 && this.#random() < 0.5) await this.kill();
    else if (this.replicas.size < 3) this.start();
  }

  /** Only those that are announced count: until then, a server is not open. */
  get open(): readonly Follower[] {
    return [...this.replicas].filter(({ announced }) => announced !== '');
  }
}

describe('replicas that share authorities', { timeout: 60_000 }, () => {
  it.each<Scenario>([
    { seed: 1, validity: 20, authorityValidity: 20, unrest: 0 },
    { seed: 2, validity: 20, authorityValidity: 20, unrest: 0.2 },
    { seed: 3, validity: 20, authorityValidity: 60, unrest: 0.1 },
    { seed: 4, validity: 600, authorityValidity: 30, unrest: 0.1 },
  ])('accept each other at any moment: $validity s of $authorityValidity s, unrest $unrest', async (scenario) => {
    const clock = manualClock();
    await using cluster = await localCluster({ clock, listen: false });
    const fleet = new Fleet(scenario, clock, cluster);
    fleet.start();
    fleet.start();
    await clock.advance(1);
    const seen = new Set<string>();
    for (let time = 1; time < scenario.authorityValidity * 4; time += STEP) {
      for (const { current } of fleet.open) {
        for (const { announced } of fleet.open)
          expect(isTrusted(leafOf(current), announced, clock.utc()), `at ${time}`).toBe(true);
      }
      for (const { announced } of fleet.open)
        for (const each of certificatesOf(announced)) seen.add(each.fingerprint256);
      await fleet.unrest();
      await clock.advance(STEP);
    }
    expect(seen.size).toBeGreaterThanOrEqual(6);
    expect(seen.size).toBeLessThanOrEqual(10);
    while (fleet.replicas.size > 0) await fleet.kill();
    expect(clock.sleepers).toBe(0);
  });

  it('announce the same at the same time, byte by byte', async () => {
    const clock = manualClock();
    await using cluster = await localCluster({ clock, listen: false });
    const options = { hosts: ['service.default.svc'], secret, authorityValidity: 600 };
    const start = (): Follower => follow(shared(options), { clock, client: cluster.client });
    await using one = start();
    // Out of step with each other.
    await clock.advance(3.7);
    await using two = start();
    await clock.settle();
    const announcements = new Set<string>();
    for (let time = 0; time < 1800; time += 2) {
      expect(two.announced, `at ${time}`).toBe(one.announced);
      announcements.add(one.announced);
      await clock.advance(2);
    }
    // One, both, the next one, both, and so on; each takes a half of its life.
    expect(announcements.size).toBeGreaterThanOrEqual(9);
  });
});
