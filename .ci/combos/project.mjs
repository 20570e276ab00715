/** A project of a user: an empty folder outside of the workspace, with packages installed into it, and files. */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root, toolPath } from '../../scripts/tools.mjs';

/** As strict as users may be; and what is in our declarations is checked, too. */
const compilerOptions = {
  target: 'ES2022',
  lib: ['ES2023', 'ESNext.Disposable'],
  module: 'NodeNext',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noImplicitReturns: true,
  noUnusedLocals: true,
  skipLibCheck: false,
  outDir: 'out',
  rootDir: '.',
  // The types of Node are what every user of TypeScript has; there is no need to fetch them each time.
  typeRoots: [join(root, 'node_modules', '@types')],
  types: ['node'],
};

export class Project {
  constructor(folder) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** Installs the tarballs with all that they need, by npm, as nearly everybody does. */
  async install(tarballs) {
    const dependencies = Object.fromEntries(Object.entries(tarballs).map(([name, file]) => [name, `file:${file}`]));
    this.write('package.json', JSON.stringify({ name: 'project', private: true, type: 'module', dependencies }));
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    const args = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
    await this.run(npm, args, { shell: process.platform === 'win32' });
  }

  write(file, text) {
    const path = join(this.folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  /** Checks the types, and compiles: all files of TypeScript in the project. */
  async compile() {
    this.write(
      'tsconfig.json',
      JSON.stringify({ compilerOptions, include: ['**/*.ts'], exclude: ['node_modules', 'out'] }),
    );
    await this.run(process.execPath, [toolPath('typescript', 'tsc'), '--project', '.', '--pretty', 'false']);
  }

  /** Runs a compiled file, or whatever the arguments of Node mean. */
  node(...args) {
    return this.run(process.execPath, args);
  }

  /** @returns {Promise<string>} the output; rejects with it if the command fails */
  run(command, args, options = {}) {
    return this.start(command, args, options).ended;
  }

  /** The same, without waiting for the end. */
  start(command, args, { env = {}, ...options } = {}) {
    const stdio = ['ignore', 'pipe', 'pipe'];
    const child = spawn(command, args, { cwd: this.folder, env: { ...userEnvironment(), ...env }, stdio, ...options });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    const ended = new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => {
        const what = [command, ...args].join(' ');
        if (code === 0) resolve(output);
        else reject(new Error(`${what}\nhas ended with ${signal ?? `code ${code}`}:\n${output}`));
      });
    });
    return { child, ended };
  }

  /** What is installed: all packages by their folders, with their sizes in bytes. */
  installed() {
    const { packages } = JSON.parse(readFileSync(join(this.folder, 'node_modules', '.package-lock.json'), 'utf8'));
    return Object.entries(packages).map(([path, { optional = false }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return { name, isOptional: optional, bytes: sizeOf(join(this.folder, path)) };
    });
  }
}

/** Without what the workspace's own package manager tells to its scripts: a user's npm has nothing to do with it. */
function userEnvironment() {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(package|lifecycle|command|execpath)|NODE_OPTIONS$|VITEST)/.test(name),
  );
  return Object.fromEntries(entries);
}

function sizeOf(folder) {
  let total = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    // Packages inside of packages count for themselves.
    if (entry.isDirectory()) total += entry.name === 'node_modules' ? 0 : sizeOf(path);
    else if (entry.isFile()) total += statSync(path).size;
  }
  return total;
}
