/** `kopf pause`: no handlers are called for one object, for a while. */
import { SUCCESS, UsageError } from '../failures.js';
import { loggingChoice, loggingParameters } from '../options/common.js';
import type { CommandDefinition } from './command.js';
import { objectChoice, objectParameters } from './objects.js';

const PREFIX = 'KOPF_PAUSE';
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 24 * 3600 };

export const pause: CommandDefinition = {
  name: 'pause',
  arguments: '[object...]',
  summary: 'Pause the handlers of one object for a while.',
  description:
    'Call no handlers for the object until the time is over, or until it is resumed: by an annotation, which every operator ' +
    'obeys.\nThen the operator catches up with what has changed. It is recorded as an event about the object.',
  examples: [
    'kopf pause kopfexamples/one -n default            for an hour',
    'kopf pause kopfexamples/one --for=30m',
    'kopf resume kopfexamples/one',
  ],
  parameters: [
    {
      flags: '-t, --for <duration>',
      about: 'The duration of the pause: 90s, 30m, 12h, 2d, or a number of seconds. Default: 1h.',
      kind: 'text',
      env: `${PREFIX}_FOR`,
    },
    ...objectParameters(PREFIX),
    ...loggingParameters(PREFIX),
  ],

  async action(values, args, { runtime, terminal }) {
    const object = objectChoice(values, args, 'pause');
    const seconds = durationOf((values['for'] as string | undefined) ?? '1h');
    await runtime.configure(loggingChoice(values));
    const until = await runtime.pauseObject({ ...object, seconds });
    terminal.out(`${object.kind}/${object.name} is paused until ${until.toISOString()}.\n`);
    return SUCCESS;
  },
};

function durationOf(text: string): number {
  const [, number = '', unit = 's'] = /^(\d+(?:\.\d+)?)([smhd])?$/.exec(text) ?? [];
  const seconds = Number(number) * (UNITS[unit] ?? 1);
  if (seconds > 0) return seconds;
  throw new UsageError(`'${text}' is not a duration: write 90s, 30m, 12h or 2d`);
}
