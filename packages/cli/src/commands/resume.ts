/** `kopf resume`: operators or objects that were paused by hand go on. */
import { UsageError } from '../failures.js';
import { loggingChoice } from '../options/common.js';
import type { Values } from '../options/parameters.js';
import type { CommandContext, CommandDefinition } from './command.js';
import { peeringChoice, peeringParameters } from './freeze.js';
import { objectChoice } from './objects.js';

const PREFIX = 'KOPF_RESUME';

export const resume: CommandDefinition = {
  name: 'resume',
  arguments: '[object...]',
  summary: 'Resume paused operators, or one paused object.',
  description:
    'Resume the operators that `kopf freeze` has paused under the same identity; or the object that `kopf pause` has ' +
    'paused.',
  examples: [
    'kopf resume --peering=default',
    'kopf resume -P default -n myapp --id=somebody@somewhere',
    'kopf resume kopfexamples/one -n default',
  ],
  parameters: peeringParameters(PREFIX).map((one) => ({ ...one, isRequired: false })),

  async action(values, args, context) {
    if (args.length > 0) return await resumeObject(values, args, context);
    if (values['peering'] === undefined) {
      throw new UsageError(
        `the option '-P, --peering <name>' is required (or the variable ${PREFIX}_PEERING); or name an object: kopfexamples/one`,
      );
    }
    const { runtime, terminal } = context;
    const choice = peeringChoice(values);
    await runtime.configure(loggingChoice(values));
    const { identity, peerings } = await runtime.resume(choice);
    terminal.out(`No longer paused by ${identity}: the operators of ${peerings.join(', ')}.\n`);
    return 0;
  },
};

async function resumeObject(
  values: Values,
  args: readonly string[],
  { runtime, terminal }: CommandContext,
): Promise<number> {
  const [namespace, ...others] = (values['namespace'] as readonly string[] | undefined) ?? [];
  if (others.length > 0 || values['allNamespaces'] === true || values['peering'] !== undefined) {
    throw new UsageError('an object is in one namespace, and in no peering: name it by its kind, its name and -n');
  }
  const object = objectChoice({ ...values, namespace }, args, 'resume');
  await runtime.configure(loggingChoice(values));
  const isResumed = await runtime.resumeObject(object);
  const title = `${object.kind}/${object.name}`;
  terminal.out(isResumed ? `${title} is resumed.\n` : `${title} is not paused.\n`);
  return 0;
}
