/**
 * The front door of every root script: `node scripts/pm.mjs <task> [arguments]`.
 *
 * A fresh machine has Node and npm, nothing else. So each task first makes sure that the dependencies are
 * installed, by the pinned pnpm, and installs nothing when nothing has changed. It is done here and not in npm's
 * `pre…` scripts, because those are skipped where npm is configured with `ignore-scripts`.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, readJson, root, runScript, toolPath } from './tools.mjs';

const manifest = readJson('package.json');
const pnpm = manifest.packageManager.split('+')[0];
const modules = join(root, 'node_modules');
const stamp = join(modules, '.kopf-ts-installed');

/** What each task does once the dependencies are there. Each returns an exit code. */
const tasks = {
  start: (args) => node('scripts/start.mjs', args),
  test: (args) => node('scripts/check.mjs', ['all', ...args]),
  'test:packages': (args) => node('scripts/check.mjs', ['combos', ...args]),
  'test:real': (args) => node('scripts/check.mjs', ['real', ...args]),
  'test:differential': (args) => node('scripts/check.mjs', ['differential', ...args]),
  'test:docs': (args) => node('scripts/check.mjs', ['docs', ...args]),
  docs: (args) => node('docs/scripts/site.mjs', ['dev', ...args]),
  'docs:build': (args) => node('docs/scripts/site.mjs', ['build', ...args]),
  schemas: () => schemas(),
  pictures: () => pictures(),
  proof: (args) => node('scripts/check.mjs', ['proof', ...args]),
  lint: (args) => node('scripts/check.mjs', ['lint', ...args]),
  typecheck: (args) => node('scripts/check.mjs', ['typecheck', ...args]),
  build: () => built(),
  bench: (args) => node('bench/run.mjs', args),
  format: (args) => node(toolPath('@biomejs/biome'), ['check', '--write', ...args]),
  install: async () => 0,
};

async function main([name, ...args]) {
  const task = Object.hasOwn(tasks, name ?? '') ? tasks[name] : undefined;
  if (task === undefined) {
    console.error(`Usage: node scripts/pm.mjs <${Object.keys(tasks).join('|')}> [arguments]`);
    return 2;
  }
  if (!nodeIsRecentEnough()) {
    console.error(`kopf-ts needs Node ${manifest.engines.node}, and this is ${process.versions.node}.`);
    return 1;
  }
  return install() || (await task(args));
}

function nodeIsRecentEnough() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [neededMajor, neededMinor] = manifest.engines.node.match(/\d+/g).map(Number);
  return major > neededMajor || (major === neededMajor && minor >= neededMinor);
}

function install() {
  const wanted = fingerprint();
  if (installedByPnpm() && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return 0;

  if (installedByNpm()) {
    say('Removing the node_modules that `npm install` has made: this workspace is installed by pnpm …');
    rmSync(modules, { recursive: true, force: true });
  }
  say(`Installing the dependencies with ${pnpm} …`);
  // Development needs the development dependencies even where NODE_ENV=production is set for everything.
  const code = npx(pnpm, 'install', '--frozen-lockfile', '--prod=false', '--reporter=append-only', '--loglevel=warn');
  if (code !== 0) {
    console.error(
      'The installation has failed; see above. If it says that the lockfile is outdated because you have changed ' +
        `a package.json, update it: npx ${pnpm} install --no-frozen-lockfile`,
    );
    return code;
  }
  writeFileSync(stamp, wanted);
  say('Installed.');
  return 0;
}

/** Everything that decides what is installed. As long as it stays the same, so do all the node_modules. */
function fingerprint() {
  const files = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests()];
  const hash = createHash('sha256').update(`${process.version} ${process.platform} ${process.arch}\0`);
  for (const file of files)
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  return hash.digest('hex');
}

function manifests() {
  return readdirSync(join(root, 'packages'))
    .sort()
    .map((name) => `packages/${name}/package.json`)
    .filter((file) => existsSync(join(root, file)));
}

/** A deleted folder may leave the stamp in place, but not the dependencies. */
function installedByPnpm() {
  const everyPackageIsLinked = manifests().every((file) => {
    const needsLinks = Object.keys(readJson(file).dependencies ?? {}).length > 0;
    return !needsLinks || existsSync(join(root, file, '..', 'node_modules'));
  });
  return existsSync(join(modules, '.modules.yaml')) && everyPackageIsLinked && !installedByNpm();
}

/** `npm install`, typed by habit: it leaves this file, and packages that do not see each other. */
function installedByNpm() {
  return existsSync(join(modules, '.package-lock.json'));
}

/** A whole build takes a minute: long enough to wonder whether anything happens. */
async function built() {
  say('Building what has changed …');
  const started = performance.now();
  const progress = showProgress(() => Math.round((performance.now() - started) / 1000));
  const { code, output } = await build({ quiet: true, onPackage: progress.update });
  progress.end();
  if (code !== 0) console.error(output);
  else say('Built.');
  return code;
}

/** In a terminal: one line that tells what is being built, and for how long. Elsewhere: a line for each that is built. */
function showProgress(seconds) {
  const busy = new Set();
  let done = 0;
  const isTerminal = process.stdout.isTTY === true;
  const draw = () => {
    const names = [...busy].join(', ').slice(0, Math.max(20, (process.stdout.columns ?? 80) - 40));
    process.stdout.write(`\r\u001B[2Kkopf-ts: ${seconds()} s, ${done} built; ${names} …`);
  };
  const timer = isTerminal ? setInterval(draw, 500) : undefined;
  return {
    update(name, state) {
      if (state === 'begun') busy.add(name);
      else if (busy.delete(name)) {
        done++;
        if (!isTerminal) say(`${name} is built, after ${seconds()} s.`);
      }
    },
    end() {
      clearInterval(timer);
      if (isTerminal) process.stdout.write('\r\u001B[2K');
    },
  };
}

/** The test that compares the schemas of the built-in kinds with those of the real server writes them, if told to. */
function schemas() {
  process.env.KOPF_TS_SCHEMAS = 'write';
  return node(toolPath('vitest'), ['run', '--config=e2e/vitest.config.ts', 'schemas/schemas.test.ts', '--update']);
}

/** The tests that take the pictures of the console and of the terminal keep them, if told to. */
function pictures() {
  process.env.KOPF_TS_PICTURES = 'write';
  return node(toolPath('vitest'), ['run', '--config=e2e/vitest.config.ts', 'insight/pictures', 'insight/terminal']);
}

async function node(script, args) {
  return (await runScript(script, args)).code;
}

function npx(...args) {
  const windows = process.platform === 'win32';
  const result = spawnSync(windows ? 'npx.cmd' : 'npx', ['--yes', ...args], {
    cwd: root,
    stdio: 'inherit',
    shell: windows,
  });
  if (result.error) throw result.error;
  return result.status ?? 1;
}

function say(text) {
  console.log(`kopf-ts: ${text}`);
}

process.exitCode = await main(process.argv.slice(2));
