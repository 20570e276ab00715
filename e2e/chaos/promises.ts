/** What the operator of `programs/operator.ts` promises, kind by kind. */
import type { Promises } from './history.js';

export const PROMISES: Readonly<Record<string, Promises>> = {
  things: {
    chains: [
      { handlers: ['prepare', 'apply'], value: 'round' },
      { handlers: ['prepare', 'anything'], value: 'edit' },
      { handlers: ['stamp', 'anything'], value: 'edit' },
      { handlers: ['assemble/a', 'reassemble/a'], value: 'round' },
      { handlers: ['assemble/b', 'reassemble/b'], value: 'round' },
      { handlers: ['resize'], value: 'size' },
    ],
    deletions: ['release', 'forget'],
    daemons: ['keep'],
    timers: ['tick'],
    effects: ({ round }) => ({ port: `p${round}`, protocol: 'TCP', result: round }),
  },
  deployments: {
    chains: [{ handlers: ['template', 'rollout'], value: 'round' }],
    deletions: ['dismantle'],
    daemons: [],
    timers: [],
    effects: ({ round }) => ({ image: `app:${round}` }),
  },
};
