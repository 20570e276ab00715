import { describe } from 'vitest';
import { kopf } from '../../../cli/test/fakes.js';
import { DECLARE, folderWith, ownRegistry } from '../../../cli/test/handlers-folder.js';
import { eachIsTold } from './mistakes.js';

const told = async (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> => {
  const { err, warnings } = await kopf(args, { env });
  return [...warnings, err].join('\n');
};

/** What is said of a file with handlers. */
const toldOf = async (code: string, args: readonly string[] = ['-A']): Promise<string> => {
  ownRegistry();
  const cwd = await folderWith({ 'handlers.ts': code });
  const { err, warnings } = await kopf(['run', 'handlers.ts', ...args], { cwd });
  return [...warnings, err].join('\n');
};

describe('on the command line, it is told of', () => {
  eachIsTold([
    ['`kopf run --livenes=…`', () => told(['run', 'a.ts', '--livenes=http://:8080']), /Did you mean --liveness\?/],
    ['`kopf rum handlers.ts`', () => told(['rum', 'a.ts']), /unknown command 'rum'\s+\(Did you mean run\?/],
    ['`kopf run --log-format=josn`', () => told(['run', 'a.ts', '--log-format=josn']), /Did you mean 'json'\?/],
    ['`kopf run --priority=high`', () => told(['run', 'a.ts', '-p', 'high']), /'high' is not a whole number/],
    ['`kopf run --liveness=8080`', () => told(['run', 'a.ts', '-L', '8080']), /http:\/\/\[host\]\[:port\]\[\/path\]/],
    [
      '`kopf run --verbose --quiet`',
      () => toldOf(DECLARE, ['-A', '-v', '-q']),
      /--quiet has no effect beside --verbose: leave out either/,
    ],
    [
      '`kopf run --peering=ours --standalone`',
      () => toldOf(DECLARE, ['-A', '--peering=ours', '--standalone']),
      /--peering=ours has no effect beside --standalone/,
    ],
    [
      '`kopf run --dev --priority=5`',
      () => toldOf(DECLARE, ['-A', '--dev', '--priority=5']),
      /--priority=5 has no effect beside --dev/,
    ],
    [
      '`kopf dev --apply=crd.yaml --empty`',
      () => told(['dev', 'a.ts', '--apply=crd.yaml', '--empty']),
      /choose either --apply or --empty, not both/,
    ],
    [
      '`kopf run -A -n default`',
      () => told(['run', 'a.ts', '-A', '-n', 'default']),
      /choose either all namespaces \(-A\) or some of them \(-n default\)/,
    ],
    [
      'a misspelt variable: `KOPF_RUN_NAMESPCES`',
      () => told(['run', 'a.ts', '-A'], { KOPF_RUN_NAMESPCES: 'x' }),
      /The variable KOPF_RUN_NAMESPCES has no effect.*Did you mean KOPF_RUN_NAMESPACES\?/,
    ],
    ['`kopf run` without files', () => told(['run']), /name the files to load, as in 'kopf run handlers\.ts'/],
    ['a file that is not there', () => told(['run', 'a.ts', '-A']), /There is no file "a\.ts"/],
    [
      "`import * as kopf from 'kopf'`",
      () => toldOf("import * as kopf from 'kopf';\nkopf.on.create('x', () => {});\n"),
      /handlers\.ts:1:\d+: Could not resolve "kopf"\. The package is called kopf-ts: import \* as kopf from 'kopf-ts'/,
    ],
    [
      'a package that is not installed',
      () => toldOf("import pg from 'some-database';\npg.connect();\n"),
      /handlers\.ts:1:\d+: Could not resolve "some-database"\. Is it installed here\? npm install some-database/,
    ],
    [
      'a file that is not there to import',
      () => toldOf("import './voluems.js';\n"),
      /Could not resolve "\.\/voluems\.js"\. Is there such a file\?/,
    ],
    ['a file without handlers', () => toldOf('export const answer = 42;\n'), /There are no handlers in .*handlers\.ts/],
    [
      'a mistake in the options, with its line',
      () => toldOf(`\n${DECLARE.replace("'kopfexamples',", "'kopfexamples', { retires: 5 },")}`),
      /on\.create\('kopfexamples'\): there is no option "retires".*Did you mean "retries"\?/,
    ],
  ]);
});
