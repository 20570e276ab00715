/** `kopf retry`: handlers that wait for their next attempts are called now. */
import { SUCCESS, UsageError } from '../failures.js';
import { loggingChoice, loggingParameters } from '../options/common.js';
import type { CommandDefinition } from './command.js';
import { objectChoice, objectParameters, wayChoice, wayParameters } from './objects.js';

const PREFIX = 'KOPF_RETRY';

export const retry: CommandDefinition = {
  name: 'retry',
  arguments: '[object...]',
  summary: 'Call the waiting handlers of an object now.',
  description:
    'Call the handlers of an object now, if they wait for their next attempts or are throttled.\n' +
    'The command must reach the operator. It is recorded as an event about the object.',
  examples: [
    'kopf retry kopfexamples/one -n default --admin=http://127.0.0.1:8083',
    'kopf retry kex/one --pod=operators/my-operator-0',
  ],
  parameters: [...objectParameters(PREFIX), ...wayParameters(PREFIX), ...loggingParameters(PREFIX)],

  async action(values, args, { runtime, terminal }) {
    const object = objectChoice(values, args, 'retry');
    const way = wayChoice(values);
    if (way.admin === undefined && way.pod === undefined) {
      throw new UsageError('only the operator can retry: say how to reach it, by --admin or by --pod');
    }
    await runtime.configure(loggingChoice(values));
    const isRetried = await runtime.retry({ ...object, ...way });
    const title = `${object.kind}/${object.name}`;
    terminal.out(isRetried ? `The handlers of ${title} are called now.\n` : `${title} waits for nothing.\n`);
    return SUCCESS;
  },
};
