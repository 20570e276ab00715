/** Processes that are killed at random places of a handler with five steps, one after another. */
import { type KubeRequest, step } from '@kopf-ts/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Operated, operated } from '../support/operated.js';

const NAMES = ['a', 'b', 'c', 'd', 'e'] as const;

/** Where a process is killed: after so many of its patches, before or after the last of them reaches the cluster. */
interface Death {
  readonly patches: number;
  readonly isSent: boolean;
}

const deaths: fc.Arbitrary<readonly Death[]> = fc.array(
  fc.record({ patches: fc.integer({ min: 1, max: 8 }), isSent: fc.boolean() }),
  { maxLength: 8 },
);

/** What the steps have done, in the world outside. */
interface World {
  readonly done: { readonly step: string; readonly key: string; readonly process: number }[];
  readonly given: { readonly step: string; readonly result: string; readonly process: number }[];
  readonly stored: Set<string>;
}

const never = new Promise<never>(() => {});

async function live(world: World, process: number, after: Operated | undefined, death: Death | undefined) {
  let patches = 0;
  let isDead = false;
  const op = await operated({
    ...(after === undefined ? {} : { after }),
    through: (client) => ({
      async request<T>(request: KubeRequest) {
        if (isDead) return await never;
        if (request.method !== 'PATCH' || death === undefined) return await client.request<T>(request);
        patches += 1;
        if (patches < death.patches) return await client.request<T>(request);
        isDead = true;
        if (death.isSent) await client.request<T>(request);
        return await never;
      },
      stream: (request) => client.stream(request),
    }),
  });
  op.registry.on.create('kopfexamples', { id: 'fn', backoff: 1 }, async ({ retry }) => {
    for (const name of NAMES) {
      const result = await step(name, ({ key }) => {
        world.done.push({ step: name, key, process });
        return `${name} by ${process}`;
      });
      world.given.push({ step: name, result, process });
      if (retry === 0 && name === 'c') throw new Error('Once.');
    }
  });
  await op.start();
  if (process === 0) await op.create('one');
  await op.advance(5);
  const { annotations = {} } = (await op.get('one')).metadata ?? {};
  for (const name of NAMES)
    if (annotations[`kopf.zalando.org/fn.${name}`]?.includes('"result"')) world.stored.add(name);
  return { op, annotations };
}

describe('Steps of processes that are killed at any place', () => {
  it('are not done again once they are stored, keep their keys and results, and come to an end', async () => {
    await fc.assert(
      fc.asyncProperty(deaths, async (all) => {
        const world: World = { done: [], given: [], stored: new Set() };
        const lives: Operated[] = [];
        try {
          let annotations: Readonly<Record<string, string>> = {};
          for (const [process, death] of [...all, undefined].entries()) {
            const before = new Set(world.stored);
            const doneBefore = world.done.length;
            const life = await live(world, process, lives[0], death);
            lives.push(life.op);
            annotations = life.annotations;
            // The whole may have been done by an earlier one: then nothing is left to be repeated.
            for (const { step: name } of world.done.slice(doneBefore)) expect(before).not.toContain(name);
          }
          expect(Object.keys(annotations)).toEqual(['kopf.zalando.org/last-handled-configuration']);
          for (const name of NAMES) {
            const done = world.done.filter((one) => one.step === name);
            const given = world.given.filter((one) => one.step === name);
            expect(new Set(done.map(({ key }) => key)).size).toBe(1);
            expect(done.length).toBeGreaterThan(0);
            // Whoever was given a result, was given the same one.
            expect(new Set(given.map(({ result }) => result)).size).toBe(1);
          }
        } finally {
          for (const op of lives.reverse()) await op[Symbol.asyncDispose]();
        }
      }),
      { numRuns: 25 },
    );
  }, 120_000);
});
