/**
 * Nothing in the repository ties it to the machine or the network where it was made.
 *
 * The lockfile pins by hashes alone, so everyone installs from the registry of their own choice; and no file
 * names a registry, a tarball, or a path that exists on one machine only.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { filesUnder, guard, place } from './fence.mjs';

/** pnpm records where a package came from when that is not the usual place; no setting prevents it. */
const lockfileRules = [
  { pattern: /\b(?:https?|git(?:\+\w+)?|ssh):\/\//g, why: 'the lockfile names a host' },
  { pattern: /\btarball:/g, why: 'the lockfile names a tarball' },
  { pattern: /\b(?:file|link):\//g, why: 'the lockfile names a path of this machine' },
];
const rules = [
  {
    pattern: /\b(?:registry\.npmjs\.org|registry\.yarnpkg\.com|npm\.pkg\.github\.com|registry\.npmmirror\.com)\b/g,
    why: 'a registry',
  }, // fence: ok
  { pattern: /\bhttps?:\/\/[^\s'"`)]+\.tgz\b/g, why: 'a tarball' },
  { pattern: /^\s*(?:@[\w-]+:)?registry\s*=\s*\S/gm, why: 'a registry' },
  // `you`, `user` and the like are nobody in particular: documentation may use them.
  {
    pattern: /(?:\/home|\/Users|\b[A-Z]:\\Users)[/\\](?!(?:you|user|me|node|someone)\b)\w[\w.-]*[/\\]/g,
    why: 'a home folder',
  },
];
/** Not ours, or made from what is ours. */
const ignored = /(?:^|\/)(?:node_modules|dist|coverage|\.turbo|\.git)\//;
/** A line that has to name such a thing — this file's own — says so. */
const excuse = 'fence: ok';

/**
 * @param {string} root
 * @param {{ host?: string | undefined, folders?: readonly string[] }} [machine] what must not be seen outside
 * @returns {string[]} one sentence per trace
 */
export function hostViolations(root, machine = thisMachine(root)) {
  const own = [machine.host, ...(machine.folders ?? [])]
    .filter((name) => name !== undefined)
    .map((name) => ({ pattern: new RegExp(`${literally(name)}(?![\\w-])`, 'g'), why: 'this very machine' }));
  return trackedFiles(root).flatMap((file) => {
    const content = readFileSync(join(root, file));
    if (content.includes(0)) return []; // binary
    const text = content.toString('utf8');
    const wanted = file === 'pnpm-lock.yaml' ? [...lockfileRules, ...rules, ...own] : [...rules, ...own];
    return wanted.flatMap(({ pattern, why }) =>
      [...text.matchAll(pattern)]
        .filter(({ index }) => !lineAt(text, index).includes(excuse))
        .map(({ 0: match, index }) => `${place(file, text, index)} has '${match.trim()}': ${why}`),
    );
  });
}

/** The configured registry and the folders of this machine. Folders like `/root` are too common to mean anything. */
function thisMachine(root) {
  const registry = process.env.npm_config_registry;
  const folders = [resolve(root), homedir()].filter((folder) => folder.split(/[/\\]/).filter(Boolean).length > 1);
  return { host: registry === undefined ? undefined : new URL(registry).host, folders };
}

function trackedFiles(root) {
  return (listedByGit(root) ?? filesUnder(root)).filter((file) => !ignored.test(file) && existsSync(join(root, file)));
}

/** New files count before they are committed: that is when it is cheapest to notice. */
function listedByGit(root) {
  if (!existsSync(join(root, '.git'))) return undefined;
  try {
    const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })
      .split('\0')
      .filter(Boolean);
  } catch {
    // No git here, or it does not trust the owner of the folder. Looking at everything is slower, not laxer.
    return undefined;
  }
}

function lineAt(text, index) {
  const end = text.indexOf('\n', index);
  return text.slice(text.lastIndexOf('\n', index) + 1, end === -1 ? undefined : end);
}

function literally(text) {
  return text.replace(/[$()*+./?[\\\]^{|}-]/g, '\\$&');
}

guard(import.meta.url, 'No file names a registry, a tarball, or a path of one machine.', hostViolations);
