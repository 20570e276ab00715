/** `kopf why`: why a handler was called for an object, or was not. */
import { FAILURE, SUCCESS } from '../failures.js';
import { loggingChoice, loggingParameters } from '../options/common.js';
import type { CliRuntime, Explained, ObjectChoice, OperatorWay, Terminal } from '../runtime.js';
import type { CommandDefinition } from './command.js';
import { objectChoice, objectParameters, wayChoice, wayParameters } from './objects.js';

const PREFIX = 'KOPF_WHY';
/** How often is looked for news, in seconds. */
const PACE = 1;
const SAME_MS = 1000;

export const why: CommandDefinition = {
  name: 'why',
  arguments: '[object...]',
  summary: 'Explain why a handler was called for an object, or why not.',
  description:
    'Explain what an operator does with an object, and why: which handlers were chosen, which filters did not match, ' +
    'what it waits for.\nWithout access to the operator, only the object itself is examined.',
  examples: [
    'kopf why kopfexamples/one -n default',
    'kopf why kopfexamples/one --admin=http://127.0.0.1:8083 --follow',
    'kopf why kex/one --pod=operators/my-operator-0 --token-secret=operators/admin-token',
    'kopf why kex/one -o json',
  ],
  parameters: [
    {
      flags: '-o, --output <format>',
      about: 'text (default), or json for programs.',
      kind: ['text', 'json'],
      env: `${PREFIX}_OUTPUT`,
    },
    { flags: '-f, --follow', about: 'Keep printing what happens, until Ctrl-C.', kind: 'flag' },
    ...objectParameters(PREFIX),
    ...wayParameters(PREFIX),
    ...loggingParameters(PREFIX),
  ],

  async action(values, args, { runtime, terminal }) {
    const choice = { ...objectChoice(values, args, 'why'), ...wayChoice(values) };
    await runtime.configure({ ...loggingChoice(values), level: values['verbose'] === true ? 'debug' : 'warn' });
    const isJson = values['output'] === 'json';
    const explained = await runtime.why(choice);
    terminal.out(
      isJson ? `${JSON.stringify(explained, null, values['follow'] === true ? 0 : 2)}\n` : textOf(explained, terminal),
    );
    if (values['follow'] === true) await follow(choice, explained, isJson, { runtime, terminal });
    return explained.findings[0]?.reason === 'missing' ? FAILURE : SUCCESS;
  },
};

function textOf({ title, findings, handlers, timeline, lost, operator }: Explained, terminal: Terminal): string {
  const told = new Set(findings.map(({ text }) => text));
  const others = handlers.filter(({ text }) => !told.has(text));
  const source =
    operator === undefined ? 'From the object alone; no operator was asked.' : `From the operator ${operator}.`;
  const lines = [
    terminal.style('bold', title),
    ...findings.map(({ text }) => `  ${text}`),
    ...(others.length === 0 ? [] : ['', terminal.style('bold', 'Other handlers')]),
    ...others.map(({ text }) => `  ${text}`),
    ...(timeline.length === 0 ? [] : ['', terminal.style('bold', 'What has happened')]),
    ...(lost === 0 ? [] : [`  (${lost} older entries were dropped)`]),
    ...timeline.map((moment) => lineOf(moment, terminal)),
    '',
    terminal.style('dim', source),
  ];
  return `${lines.join('\n')}\n`;
}

function lineOf({ at, text }: Explained['timeline'][number], terminal: Terminal): string {
  return `  ${terminal.style('dim', at.slice(11, 19))}  ${text}`;
}

/** Prints what is new, until told to stop. */
async function follow(
  choice: ObjectChoice & OperatorWay,
  first: Explained,
  isJson: boolean,
  { runtime, terminal }: { readonly runtime: CliRuntime; readonly terminal: Terminal },
): Promise<void> {
  const stopping = new AbortController();
  const forget = terminal.onSignal(() => stopping.abort());
  const clock = await runtime.clock();
  let last = first;
  try {
    for (;;) {
      await clock.sleep(PACE, { wakeup: stopping.signal });
      if (stopping.signal.aborted) return;
      const next = await runtime.why(choice);
      for (const line of newsOf(last, next, isJson, terminal)) terminal.out(`${line}\n`);
      last = next;
    }
  } finally {
    forget();
  }
}

function newsOf(before: Explained, now: Explained, isJson: boolean, terminal: Terminal): readonly string[] {
  // Moments are told by the clock of the world, which is corrected now and then: nearly the same is the same.
  const known = [...before.timeline];
  const news = now.timeline.filter(({ at, text }) => {
    const same = known.findIndex((one) => one.text === text && Math.abs(Date.parse(one.at) - Date.parse(at)) < SAME_MS);
    if (same >= 0) known.splice(same, 1);
    return same < 0;
  });
  if (isJson) return news.length === 0 ? [] : [JSON.stringify(now)];
  const lines = news.map((moment) => lineOf(moment, terminal));
  const isOther = now.findings[0]?.reason !== before.findings[0]?.reason;
  return isOther ? [...lines, `  ${now.findings[0]?.text ?? ''}`] : lines;
}
