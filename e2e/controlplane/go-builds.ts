import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { withLock } from './lock.js';

/** A folder with a go.mod of its own, and what can be built there. */
export interface Recipe {
  readonly folder: string;
  /** In which folder of the cache the binaries are kept. */
  readonly cache: string;
  /** What the binaries are called, and which Go packages they are; ours begin with `./`. */
  readonly commands: Readonly<Record<string, string>>;
  readonly ldflags: string;
  /** How long it takes, in words. */
  readonly takes: string;
}

export interface BuildOptions {
  readonly go: string;
  readonly env: NodeJS.ProcessEnv;
  readonly say: (text: string) => void;
}

/**
 * The path of a binary in the user's cache; built first if it is not there yet.
 *
 * Nothing but `go` and a module proxy is needed; versions are pinned by the committed go.sum.
 */
export async function builtByGo(recipe: Recipe, command: string, options: BuildOptions): Promise<string> {
  const home = join(
    cacheFolder(recipe, options.env),
    `${basename(recipe.folder)}-${await cacheKey(recipe, command, options)}`,
  );
  const binary = join(home, command);
  if (existsSync(binary)) return binary;

  const waiting = (holder: number | undefined) =>
    options.say(`waiting for another build of ${command} (process ${holder ?? 'unknown'}) …`);
  await withLock(
    `${home}.lock`,
    async () => {
      if (!existsSync(binary)) await build(recipe, command, binary, options);
    },
    { onWaiting: waiting },
  );
  return binary;
}

/** `$XDG_CACHE_HOME/kopf-ts/…`, or in `~/.cache`. */
function cacheFolder({ cache }: Recipe, env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'kopf-ts', cache);
}

/** Different sources or a different compiler (its version tells the platform, too) make different binaries. */
async function cacheKey({ folder, commands }: Recipe, command: string, { go, env }: BuildOptions): Promise<string> {
  const version = await run(go, ['version'], { env: goEnvironment(env) });
  const sums = await readFile(join(folder, 'go.sum'));
  const hash = createHash('sha256').update(version.trim()).update('\0').update(sums);
  for (const source of await ownSources(folder, commands[command] ?? ''))
    hash.update('\0').update(await readFile(source));
  return hash.digest('hex').slice(0, 16);
}

async function ownSources(folder: string, goPackage: string): Promise<string[]> {
  if (!goPackage.startsWith('./')) return [];
  const home = join(folder, goPackage);
  return (await readdir(home)).sort().map((name) => join(home, name));
}

async function build(recipe: Recipe, command: string, binary: string, { go, env, say }: BuildOptions): Promise<void> {
  const unfinished = `${binary}.${process.pid}.tmp`;
  const started = performance.now();
  const elapsed = () => `${Math.round((performance.now() - started) / 1000)} s`;
  say(`building ${command}, once; ${recipe.takes} …`);
  await mkdir(join(binary, '..'), { recursive: true });

  let packages = 0;
  const progress = setInterval(() => say(`building ${command}: ${packages} packages, ${elapsed()} …`), 15_000);
  const flags = ['-mod=readonly', '-buildvcs=false', '-trimpath', '-v', `-ldflags=${recipe.ldflags}`];
  try {
    // `-v` prints the name of each package when its turn comes.
    await run(go, ['build', ...flags, '-o', unfinished, recipe.commands[command] ?? ''], {
      cwd: recipe.folder,
      env: goEnvironment(env),
      onErrorLine: () => {
        packages += 1;
      },
    });
    await rename(unfinished, binary);
  } finally {
    clearInterval(progress);
    await rm(unfinished, { force: true });
  }
  say(`built ${command} in ${elapsed()}: ${binary}`);
}
/** Whatever the user has set for their own projects must not change what is built, nor with which compiler. */
function goEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, CGO_ENABLED: '0', GOWORK: 'off', GOTOOLCHAIN: 'local', GOFLAGS: '' };
}

interface RunOptions {
  readonly cwd?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly onErrorLine?: () => void;
}

/** The standard output; or an error with the end of the error output, which is where compilers say what is wrong. */
function run(command: string, args: readonly string[], { cwd, env, onErrorLine }: RunOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const tail: string[] = [];
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    createInterface({ input: child.stderr }).on('line', (line) => {
      onErrorLine?.();
      tail.push(line);
      if (tail.length > 30) tail.shift();
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve(output);
      else reject(new Error(`'${command} ${args[0]}' has ended with ${code ?? signal}:\n${tail.join('\n')}`));
    });
  });
}
