import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.js';

/** The Kubernetes that the tests are about; `build/kubernetes/go.mod` requires the same. */
const kubernetesVersion = '1.36.4';

/** Each recipe is a folder with a go.mod of its own: the two projects disagree about their dependencies. */
interface Recipe {
  readonly folder: string;
  /** What the binaries are called, and which Go packages they are. */
  readonly commands: Readonly<Record<string, string>>;
  readonly ldflags: string;
}

const recipes: readonly Recipe[] = [
  {
    folder: 'kubernetes',
    commands: {
      'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
      'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
      kubectl: 'k8s.io/kubernetes/cmd/kubectl',
    },
    ldflags: kubernetesLdflags(),
  },
  { folder: 'etcd', commands: { etcd: 'go.etcd.io/etcd/server/v3' }, ldflags: '-s -w' },
];

/** Without these, the binaries call themselves `v0.0.0-master`, and the API server tells the same to its clients. */
function kubernetesLdflags(): string {
  const [major, minor] = kubernetesVersion.split('.');
  const stamped = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((home) => [
    `-X ${home}.gitVersion=v${kubernetesVersion}`,
    `-X ${home}.gitMajor=${major}`,
    `-X ${home}.gitMinor=${minor}`,
  ]);
  return ['-s', '-w', ...stamped].join(' ');
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
export async function builtBinary(command: string, options: BuildOptions): Promise<string> {
  const recipe = recipes.find(({ commands }) => Object.hasOwn(commands, command));
  if (recipe === undefined) throw new Error(`There is no recipe for building ${command}.`);
  const home = join(cacheFolder(options.env), `${recipe.folder}-${await cacheKey(recipe, options)}`);
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

/** `$XDG_CACHE_HOME/kopf-ts/controlplane`, or in `~/.cache`. */
function cacheFolder(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'kopf-ts', 'controlplane');
}

/** Different sources or a different compiler (its version tells the platform, too) make different binaries. */
async function cacheKey(recipe: Recipe, { go, env }: BuildOptions): Promise<string> {
  const version = await run(go, ['version'], { env: goEnvironment(env) });
  const sums = await readFile(join(sourceFolder(recipe), 'go.sum'));
  return createHash('sha256').update(version.trim()).update('\0').update(sums).digest('hex').slice(0, 16);
}

async function build(recipe: Recipe, command: string, binary: string, { go, env, say }: BuildOptions): Promise<void> {
  const unfinished = `${binary}.${process.pid}.tmp`;
  const started = performance.now();
  const elapsed = () => `${Math.round((performance.now() - started) / 1000)} s`;
  say(`building ${command}, once; the four binaries take 8 to 20 minutes on two cores …`);
  await mkdir(join(binary, '..'), { recursive: true });

  let packages = 0;
  const progress = setInterval(() => say(`building ${command}: ${packages} packages, ${elapsed()} …`), 15_000);
  const flags = ['-mod=readonly', '-buildvcs=false', '-trimpath', '-v', `-ldflags=${recipe.ldflags}`];
  try {
    // `-v` prints the name of each package when its turn comes.
    await run(go, ['build', ...flags, '-o', unfinished, recipe.commands[command] ?? ''], {
      cwd: sourceFolder(recipe),
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

function sourceFolder({ folder }: Recipe): string {
  return fileURLToPath(new URL(`build/${folder}`, import.meta.url));
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
