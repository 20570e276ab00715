/** `kopf resume`: operators that were paused by hand go on. */
import { loggingChoice } from '../options/common.js';
import type { CommandDefinition } from './command.js';
import { peeringChoice, peeringParameters } from './freeze.js';

export const resume: CommandDefinition = {
  name: 'resume',
  summary: 'Resume paused operators.',
  description: 'Resume the operators that `kopf freeze` has paused under the same identity.',
  examples: ['kopf resume --peering=default', 'kopf resume -P default -n myapp --id=somebody@somewhere'],
  parameters: peeringParameters('KOPF_RESUME'),

  async action(values, _args, { runtime, terminal }) {
    const choice = peeringChoice(values);
    await runtime.configure(loggingChoice(values));
    const { identity, peerings } = await runtime.resume(choice);
    terminal.out(`No longer paused by ${identity}: the operators of ${peerings.join(', ')}.\n`);
    return 0;
  },
};
