/**
 * Scripts of kubectl commands, as plain text: one command per line, without the word `kubectl`.
 *
 * ```text
 * == the name of a script, which gets a namespace of its own ==
 * == alone: a script that sees what others do, and so runs without them ==
 * write file.yaml <<END           a file in the folder of the script
 * apply -f - <<END                something to read from the standard input
 * get cm one -o json | replace -f -
 * KUBE_EDITOR=true edit cm one    variables of the environment
 * eventually get apples           repeated until it succeeds: for what comes true a moment later
 * watch 3 get cm -w               goes on in the background until `ended`, which waits for so many lines
 * ended
 * ```
 */
export interface Script {
  readonly topic: string;
  readonly name: string;
  readonly runsAlone: boolean;
  readonly steps: readonly Step[];
}

/** One program of a pipeline. */
export interface Program {
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

export interface RunStep {
  readonly kind: 'run';
  /** For people, and for the table of exceptions; the same command once more has a number. */
  readonly title: string;
  readonly programs: readonly Program[];
  readonly stdin: string;
  readonly eventually: boolean;
}

export interface WatchStep {
  readonly kind: 'watch';
  readonly title: string;
  readonly program: Program;
  readonly lines: number;
}

type Step =
  | RunStep
  | WatchStep
  | { readonly kind: 'write'; readonly path: string; readonly text: string }
  | { readonly kind: 'ended' };

/** All the scripts of a file. */
export function parseScripts(topic: string, text: string): Script[] {
  const scripts: (Script & { steps: Step[] })[] = [];
  let titles = new Map<string, number>();
  const lines = text.split('\n').values();
  for (const line of lines) {
    const [, alone, name] = /^== (alone: )?(.+) ==$/.exec(line) ?? [];
    if (name !== undefined) {
      scripts.push({ topic, name, runsAlone: alone !== undefined, steps: [] });
      titles = new Map();
      continue;
    }
    if (line === '' || line.startsWith('#')) continue;
    const { command, input } = withInput(line, lines);
    const script = scripts.at(-1);
    if (script === undefined) throw new Error(`There is a command before the first script of ${topic}: ${line}`);
    const times = (titles.get(command) ?? 0) + 1;
    titles.set(command, times);
    script.steps.push(stepOf(command, times === 1 ? command : `${command} (${times})`, input));
  }
  return scripts;
}

function withInput(line: string, lines: Iterator<string>): { command: string; input: string } {
  const command = line.replace(/ *<<END$/, '');
  if (command === line) return { command, input: '' };
  let input = '';
  for (let next = lines.next(); next.value !== 'END'; next = lines.next()) {
    if (next.done === true) throw new Error(`There is no END after ${line}`);
    input += `${next.value}\n`;
  }
  return { command, input };
}

function stepOf(command: string, title: string, input: string): Step {
  if (command === 'ended') return { kind: 'ended' };
  const file = /^write (\S+)$/.exec(command)?.[1];
  if (file !== undefined) return { kind: 'write', path: file, text: input };
  const [, lines, watched] = /^watch (\d+) (.+)$/.exec(command) ?? [];
  if (watched !== undefined)
    return { kind: 'watch', title, program: programOf(wordsOf(watched)), lines: Number(lines) };
  const [, eventually, rest = ''] = /^(eventually )?(.+)$/.exec(command) ?? [];
  const programs = split(wordsOf(rest)).map(programOf);
  return { kind: 'run', title, programs, stdin: input, eventually: eventually !== undefined };
}

/** As a shell does it, with quotes and backslashes; a bar outside of quotes is a word of its own. */
function wordsOf(command: string): string[] {
  const pattern = /((?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+)/g;
  return [...command.matchAll(pattern)].map(([word]) =>
    word === '|'
      ? BAR
      : word.replace(/'([^']*)'|"([^"]*)"|\\(.)/g, (_, ...parts: string[]) => parts.slice(0, 3).join('')),
  );
}

const BAR = '\u0000bar';

function split(words: readonly string[]): string[][] {
  const parts: string[][] = [[]];
  for (const word of words) {
    if (word === BAR) parts.push([]);
    else parts.at(-1)?.push(word);
  }
  return parts;
}

function programOf(words: readonly string[]): Program {
  const first = words.findIndex((word) => !/^[A-Z_]+=/.test(word));
  const env = words
    .slice(0, first)
    .map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]);
  return { env: Object.fromEntries(env), args: words.slice(first) };
}
