/** `kopf freeze`: operators pause, until they are resumed or for so long. */
import { loggingChoice, loggingParameters, scopeChoice, scopeParameters } from '../options/common.js';
import type { Parameter, Values } from '../options/parameters.js';
import type { ResumeChoice } from '../runtime.js';
import type { CommandDefinition } from './command.js';

/** Of both freezing and resuming. */
export function peeringParameters(prefix: string): readonly Parameter[] {
  return [
    {
      flags: '-P, --peering <name>',
      about: 'The peering of the operators.',
      kind: 'text',
      env: `${prefix}_PEERING`,
      isRequired: true,
    },
    {
      flags: '-i, --id <name>',
      about: 'The identity, the same for freezing and resuming. Default: user@host.',
      kind: 'text',
      env: `${prefix}_ID`,
    },
    ...scopeParameters(prefix),
    ...loggingParameters(prefix),
  ];
}

/** Without any scope, it is the peering of the cluster. */
export function peeringChoice(values: Values): ResumeChoice {
  const { namespaces } = scopeChoice(values);
  return {
    name: values['peering'] as string,
    identity: values['id'] as string | undefined,
    namespaces: namespaces.length > 0 ? namespaces : undefined,
  };
}

const PREFIX = 'KOPF_FREEZE';
const DEV_PRIORITY = 666;

export const freeze: CommandDefinition = {
  name: 'freeze',
  summary: 'Pause the operators of a peering for a while.',
  description:
    'Pause the operators of a peering: they keep running but handle nothing until resumed or until the lifetime ' +
    'ends.\nThen they catch up with the changes they have missed.',
  examples: [
    'kopf freeze --peering=default --lifetime=600 --message="The database is being moved"',
    'kopf freeze -P default -n myapp -t 60 -p 200',
    'kopf resume --peering=default',
  ],
  parameters: [
    {
      flags: '-t, --lifetime <seconds>',
      about: 'The duration of the pause, unless resumed earlier.',
      kind: 'integer',
      env: `${PREFIX}_LIFETIME`,
      isRequired: true,
    },
    {
      flags: '-p, --priority <number>',
      about: 'Pause the operators with this priority or lower. Default: 100.',
      kind: 'integer',
      env: `${PREFIX}_PRIORITY`,
    },
    { flags: '--dev', about: 'The same as --priority=666.', kind: 'flag', env: `${PREFIX}_DEV` },
    {
      flags: '-m, --message <text>',
      about: 'The reason; the operators log it.',
      kind: 'text',
      env: `${PREFIX}_MESSAGE`,
    },
    ...peeringParameters(PREFIX),
  ],

  async action(values, _args, { runtime, terminal }) {
    const choice = peeringChoice(values);
    const lifetime = values['lifetime'] as number;
    await runtime.configure(loggingChoice(values));
    const { identity, peerings } = await runtime.freeze({
      ...choice,
      lifetime,
      priority: values['dev'] === true ? DEV_PRIORITY : (values['priority'] as number | undefined),
      message: values['message'] as string | undefined,
    });
    terminal.out(`Paused for ${lifetime} seconds by ${identity}: the operators of ${peerings.join(', ')}.\n`);
    return 0;
  },
};
