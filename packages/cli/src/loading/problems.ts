/** What is wrong with handlers' files: where it is, and what it is, in a line. */
import { fileURLToPath } from 'node:url';
import type { BuildFailure, Message } from 'esbuild';
import { Failure, lineOf } from '../failures.js';
import { shortPath } from './sources.js';

/** More than so many are rather a consequence of the first ones. */
const MAX_SHOWN = 5;

/** Of files that cannot be understood: all places, with the lines of code. */
export function explainBuildFailure(error: BuildFailure, cwd: string): Failure {
  const errors = error.errors ?? [];
  const [first] = errors;
  // It is not about the files: esbuild itself has failed.
  if (first === undefined) return new Failure(`The handlers cannot be loaded: ${error.message}`, { cause: error });
  const rest = errors.slice(1, MAX_SHOWN).flatMap((one) => [headline(one, cwd), frame(one)]);
  const details = [frame(first), ...rest].filter((part) => part !== '');
  return new Failure(headline(first, cwd), { cause: error, details: details.join('\n') });
}

/** Where and what, in one line. */
export function headline({ text, location }: Message, cwd: string): string {
  const ended = /[.!?]$/.test(text) ? text : `${text}.`;
  if (location === null || location.file === '<kopf>') return advised(ended);
  return advised(`${shortPath(fileOf(location.file), cwd)}:${location.line}:${location.column + 1}: ${ended}`);
}

function advised(text: string): string {
  const missing = /Could not resolve "([^"]+)"/.exec(text)?.[1];
  if (missing === undefined) return text;
  if (/^[./]/.test(missing)) return `${text} Is there such a file?`;
  // As it is called in Python.
  if (/^@?kopf(?:\.js)?$/.test(missing))
    return `${text} The package is called kopf-ts: import * as kopf from 'kopf-ts'`;
  return `${text} Is it installed here? npm install ${missing}`;
}

/** Files that are loaded for the second time have numbers. */
function fileOf(name: string): string {
  return name.replace(/\?\d+$/, '');
}

function frame({ location }: Message): string {
  if (location === null || location.file === '<kopf>') return '';
  const number = String(location.line);
  const blank = ' '.repeat(number.length);
  const indent = location.lineText.slice(0, location.column).replaceAll(/[^\t]/g, ' ');
  const marks = '^'.repeat(Math.max(1, location.length));
  return `    ${number} | ${location.lineText}\n    ${blank} | ${indent}${marks}`;
}

/** Of files that are understood, but fail while they are loaded. */
export function explainLoadFailure(error: unknown, files: readonly string[], cwd: string): Failure {
  const place = placeOf(error, new Set(files));
  const where = place === undefined ? '' : `${shortPath(place.file, cwd)}:${place.line}: `;
  const what = `${lineOf(error)}${adviceOnExports(error)}`;
  return new Failure(`${where}${what === '' ? 'The handlers cannot be loaded.' : what}`, { cause: error });
}

const NO_EXPORT = /module '(?:kopf-ts|@kopf-ts\/[\w/]+)' does not provide an export named '(\w+)'/;

/** Node names the export that is not there, but not those that are. */
function adviceOnExports(error: unknown): string {
  const name = NO_EXPORT.exec(error instanceof Error ? error.message : '')?.[1];
  if (name === undefined) return '';
  return name === 'default' || name === 'kopf' ? ". Write: import * as kopf from 'kopf-ts'" : '';
}

/** The topmost call in the files of the user. The stacks are those of the sources, since source maps are on. */
function placeOf(error: unknown, files: ReadonlySet<string>): { file: string; line: number } | undefined {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  for (const [, address = '', line] of stack.matchAll(/\(?((?:file:\/\/)?\/?[^\s()]+?):(\d+)(?::\d+)?\)?$/gm)) {
    const file = fileOf(address.startsWith('file://') ? pathOf(address) : address);
    if (files.has(file)) return { file, line: Number(line) };
  }
  return undefined;
}

function pathOf(address: string): string {
  try {
    return fileURLToPath(address);
  } catch {
    return address;
  }
}
