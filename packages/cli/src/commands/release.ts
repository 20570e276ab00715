/** `kopf release`: takes off the objects what an operator has left on them. */
import { FAILURE, SUCCESS, UsageError } from '../failures.js';
import { loggingChoice, loggingParameters, scopeChoice, scopeParameters } from '../options/common.js';
import type { Parameter, Values } from '../options/parameters.js';
import type { CliRuntime, ReleasedObject, Terminal } from '../runtime.js';
import type { CommandContext, CommandDefinition } from './command.js';

const PREFIX = 'KOPF_RELEASE';

const PARAMETERS: readonly Parameter[] = [
  { flags: '--yes', about: 'Apply the changes. Without it, only show them.', kind: 'flag' },
  {
    flags: '--finalizer <name>',
    about: 'The finalizer, as in settings.persistence.finalizer. Default: kopf.zalando.org/KopfFinalizerMarker.',
    kind: 'text',
    env: `${PREFIX}_FINALIZER`,
  },
  {
    flags: '--prefix <domain>',
    about: 'The prefix of the storages. Default: kopf.zalando.org.',
    kind: 'text',
    env: `${PREFIX}_PREFIX`,
  },
  {
    flags: '--webhooks [name]',
    about: 'Also remove webhook configurations: this one, or all that kopf-ts has made.',
    kind: 'text',
  },
  ...scopeParameters(PREFIX),
  ...loggingParameters(PREFIX),
];

export const release: CommandDefinition = {
  name: 'release',
  arguments: '[kinds...]',
  summary: 'Clean up after an uninstalled operator.',
  description:
    'Remove what an operator has left on the objects of these kinds: its finalizer, annotations, progress. ' +
    'Objects that are waiting to be deleted then go away.\n' +
    'Without --yes, it changes nothing and only shows the changes. Stop the operator first, or it puts everything back.',
  examples: [
    'kopf release kopfexamples                        what is there?',
    'kopf release kopfexamples --yes                  in all namespaces',
    'kopf release kopfexamples.kopf.dev pods -n myapp --yes',
    'kopf release kopfexamples --webhooks --yes       and the webhook configurations',
    'kopf release --webhooks auto.kopf.dev --yes      only this configuration',
  ],
  parameters: PARAMETERS,

  async action(values, kinds, context) {
    const { webhooks } = values;
    const { namespaces } = scopeChoice(values);
    if (kinds.length === 0 && webhooks === undefined) {
      throw new UsageError("nothing to release: name the kinds of objects, as in 'kopf release kopfexamples'");
    }
    await context.runtime.configure(loggingChoice(values));
    const isDone = values['yes'] === true;
    const objects = kinds.length === 0 ? undefined : await releaseObjects(kinds, namespaces, values, context);
    if (webhooks !== undefined) await releaseWebhooks(context, webhooks, !isDone);
    const count = (objects?.released ?? 0) + (objects?.failed ?? 0);
    if (objects !== undefined && count === 0) context.terminal.out('The operator has left nothing on the objects.\n');
    if (!isDone) context.terminal.out('Nothing has been changed. Add --yes to apply these changes.\n');
    return objects !== undefined && objects.failed > 0 ? FAILURE : SUCCESS;
  },
};

async function releaseObjects(
  kinds: readonly string[],
  namespaces: readonly string[],
  values: Values,
  { runtime, terminal }: CommandContext,
): Promise<{ released: number; failed: number }> {
  const counts = { released: 0, failed: 0 };
  const dryRun = values['yes'] !== true;
  await runtime.release({
    selectors: kinds,
    namespaces: namespaces.length > 0 ? namespaces : undefined,
    finalizer: values['finalizer'] as string | undefined,
    prefix: values['prefix'] as string | undefined,
    dryRun,
    onObject(object) {
      if (object.problem === undefined) counts.released += 1;
      else counts.failed += 1;
      tell(object, dryRun, terminal);
    },
  });
  return counts;
}

function tell({ title, traces, isDeleting, problem }: ReleasedObject, dryRun: boolean, terminal: Terminal): void {
  if (problem !== undefined) {
    terminal.err(`${title}: not released: ${problem}\n`);
    return;
  }
  const fate = isDeleting ? `; its requested deletion ${dryRun ? 'would proceed' : 'proceeds'}` : '';
  terminal.out(`${title}: ${dryRun ? 'would remove' : 'removed'} ${traces.join(', ')}${fate}\n`);
}

async function releaseWebhooks(
  { runtime, terminal }: { readonly runtime: CliRuntime; readonly terminal: Terminal },
  name: unknown,
  dryRun: boolean,
): Promise<void> {
  const found = await runtime.releaseWebhooks({ name: typeof name === 'string' ? name : undefined, dryRun });
  for (const one of found) terminal.out(`${one}: ${dryRun ? 'would be removed' : 'removed'}\n`);
  if (found.length === 0) terminal.out('There are no webhook configurations to remove.\n');
}
