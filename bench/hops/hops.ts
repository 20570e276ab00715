/**
 * Hops: how often the way of one event goes from one of our files into another.
 *
 * The event is an update of an object, with one handler that patches the status; the way begins where the bytes of the
 * event come in, and ends when the answers to the patches are taken. V8's precise coverage tells which code has run
 * meanwhile, and how often; what runs by itself without any event is left out. The types of the sources tell which
 * function is called where; behind interfaces and callbacks, it is each function that fits and that has run.
 *
 * A hop is a pair of functions of two files, where one has called the other. A function without a name belongs to the
 * one that it is written in. Reading a property that is a getter is a call, too; going on after an `await` is not.
 * Calls tell how often all of that happened.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import ts from 'typescript';
import { messageOf } from '../apiserver/building.js';
import { bundle, root } from '../programs.js';
import { callSites, nameOf, type OurFunction } from './calls.js';
import { type CountedFunction, type Counts, countsOf } from './counts.js';

export interface Hop {
  readonly from: string;
  readonly to: string;
  readonly calls: number;
}

export interface Hops {
  /** In the order of the way, as far as it can be told. */
  readonly hops: readonly Hop[];
  readonly calls: number;
  /** The same as hops, by files instead of functions. */
  readonly pairsOfFiles: number;
  /** Files with code that has run. */
  readonly files: number;
  readonly functions: number;
}

interface Coverage {
  readonly idle: readonly CountedFunction[];
  readonly busy: readonly CountedFunction[];
  readonly requests: number;
}

/** The packages that an operator does not consist of. */
const OTHERS = ['apiserver', 'testing'];

/**
 * V8 counts blocks only in functions that it compiles after it was told to count; and what is counted from the beginning
 * is not optimised away by inlining. So it is told before anything of the program is run.
 */
const counting = `data:text/javascript,${encodeURIComponent(`
  import { Session } from 'node:inspector/promises';
  globalThis.session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
`)}`;

/** Of the sources in the folder: this workspace, or another checkout of it with its dependencies installed. */
export async function countHops(checkout: string = root): Promise<Hops> {
  const folder = mkdtempSync(join(tmpdir(), 'kopf-ts-hops-'));
  try {
    const program = join(folder, 'program.mjs');
    await bundle(join(root, 'bench/hops/program.ts'), program, checkout);
    const { idle, busy } = await messageOf<Coverage>(fork(program, { execArgv: ['--import', counting] }));
    return hopsOf(checkout, countsOf(program, idle), countsOf(program, busy));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function hopsOf(checkout: string, idle: Counts, busy: Counts): Hops {
  const program = programOf(checkout);
  const packages = join(checkout, 'packages') + sep;
  const isOurs = ({ fileName }: ts.SourceFile): boolean => {
    const [name = '', src] = fileName.startsWith(packages) ? fileName.slice(packages.length).split(sep) : [];
    return src === 'src' && !OTHERS.includes(name);
  };
  const countAt = (node: ts.Node): number => {
    const file = node.getSourceFile();
    const { line, character } = file.getLineAndCharacterOfPosition(node.getStart());
    const [alone, now] = [idle, busy].map((counts) => counts.at(file.fileName, line, character) ?? 0);
    return (now ?? 0) - (alone ?? 0);
  };
  const titleOf = (fn: OurFunction): string => {
    const [name = '', , ...path] = fn.getSourceFile().fileName.slice(packages.length).split(sep);
    return `${name} ${path.join('/')} ${nameOf(fn) ?? '(module)'}`;
  };

  const edges = new Map<OurFunction, Map<OurFunction, number>>();
  const called = new Set<OurFunction>();
  const seen = new Set<OurFunction>();
  for (const { caller, node, callees } of callSites(program, isOurs)) {
    if (caller === undefined) continue;
    const count = countAt(node);
    if (count <= 0) continue;
    seen.add(caller);
    for (const fn of callees()) {
      const calls = Math.min(count, countOfFunction(fn, countAt));
      const callee = owner(fn);
      if (calls <= 0 || callee === caller) continue;
      const ofCaller = edges.get(caller) ?? new Map<OurFunction, number>();
      edges.set(caller, ofCaller.set(callee, (ofCaller.get(callee) ?? 0) + calls));
      seen.add(callee);
      called.add(callee);
    }
  }

  const hops: Hop[] = [];
  const pairsOfFiles = new Set<string>();
  const walked = new Set<OurFunction>();
  const walk = (from: OurFunction): void => {
    if (walked.has(from)) return;
    walked.add(from);
    for (const [to, calls] of edges.get(from) ?? []) {
      const [source, target] = [from, to].map((fn) => fn.getSourceFile().fileName);
      if (source !== target) {
        hops.push({ from: titleOf(from), to: titleOf(to), calls });
        pairsOfFiles.add(`${source} ${target}`);
      }
      walk(to);
    }
  };
  // The longest way is that of the event; the others begin where a third party or a promise calls us.
  const lengthFrom = (from: OurFunction, passed = new Set<OurFunction>()): number => {
    if (passed.has(from)) return passed.size;
    passed.add(from);
    for (const to of edges.get(from)?.keys() ?? []) lengthFrom(to, passed);
    return passed.size;
  };
  const beginnings = [...seen].filter((fn) => !called.has(fn));
  const lengths = new Map(beginnings.map((fn) => [fn, lengthFrom(fn)]));
  for (const [fn] of [...lengths].toSorted(([, a], [, b]) => b - a)) walk(fn);
  // What is left is reached in circles only.
  for (const fn of seen) walk(fn);
  return {
    hops,
    calls: hops.reduce((sum, { calls }) => sum + calls, 0),
    pairsOfFiles: pairsOfFiles.size,
    files: new Set([...seen].map((fn) => fn.getSourceFile())).size,
    functions: seen.size,
  };
}

/** By its first statement. */
function countOfFunction({ body }: OurFunction, countAt: (node: ts.Node) => number): number {
  if (body === undefined) return 0;
  const first = ts.isBlock(body) ? body.statements[0] : body;
  return first === undefined ? 0 : countAt(first);
}

function owner(fn: OurFunction): OurFunction {
  for (let node: ts.Node = fn; node !== undefined; node = node.parent) {
    if (ts.isFunctionLike(node) && 'body' in node && nameOf(node as OurFunction)) return node as OurFunction;
  }
  return fn;
}

function programOf(checkout: string): ts.Program {
  const config = join(checkout, 'tsconfig.json');
  const { options } = ts.parseJsonConfigFileContent(
    { ...(ts.readConfigFile(config, ts.sys.readFile).config as object), include: [] },
    ts.sys,
    checkout,
  );
  return ts.createProgram([join(checkout, 'packages/kopf-ts/src/index.ts')], options);
}

/** `--at <folder>` counts in another checkout. */
export default async function print(args: readonly string[]): Promise<void> {
  const [flag, folder] = args;
  if (flag !== undefined && (flag !== '--at' || folder === undefined))
    throw new Error('It takes nothing but --at <folder>.');
  const counted = await countHops(folder);
  for (const { from, to, calls } of counted.hops) console.log(`${from} → ${to}${calls > 1 ? ` × ${calls}` : ''}`);
  console.log(`\n${summaryOf(counted)}`);
}

export function summaryOf({ hops, calls, pairsOfFiles, functions, files }: Hops): string {
  return `${hops.length} hops, of ${pairsOfFiles} pairs of files, in ${calls} calls; ${functions} functions of ${files} files`;
}
