/**
 * Patterns of schemas are regular expressions of Go (RE2), which match in linear time whatever the text: those of
 * JavaScript differ in their syntax, and can be made to search for hours.
 */
import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

/** Complains with the pattern as it is to be shown, or returns `undefined` if the text matches. */
export type PatternCheck = (text: string) => string | undefined;

/** What a pattern is compiled to, or what is wrong with it in the words of Go. */
export type Pattern = { readonly regexp: RE2JS } | { readonly problem: string };

/** Of the same definition, the same few patterns come again and again. */
const compiled = new Map<string, Pattern>();
const MOST_COMPILED = 1000;

const load = createRequire(import.meta.url);
let engine: typeof RE2JS | undefined;

/** Loaded for the first pattern: most definitions have none, and loading takes as long as starting the server. */
function loadEngine(): typeof RE2JS {
  engine ??= (load('re2js') as { RE2JS: typeof RE2JS }).RE2JS;
  return engine;
}

/** What cannot be compiled matches anything: the definition was accepted nevertheless. */
export function patternCheck(pattern: string): PatternCheck {
  const found = compilePattern(pattern);
  return (text) => ('problem' in found || found.regexp.test(text) ? undefined : pattern);
}

export function compilePattern(pattern: string): Pattern {
  let found = compiled.get(pattern);
  if (found === undefined) {
    found = compileAnew(pattern);
    if (compiled.size >= MOST_COMPILED) compiled.clear();
    compiled.set(pattern, found);
  }
  return found;
}

function compileAnew(pattern: string): Pattern {
  const { compile } = loadEngine();
  try {
    return { regexp: compile(pattern) };
  } catch (error) {
    return { problem: (error as Error).message.replace(/^error parsing regexp: /, '') };
  }
}
