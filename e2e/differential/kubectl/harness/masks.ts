import type { Outcome, Run } from './running.js';

/** Two runs never print the same: this takes away what is of each server and of each moment, and no more than that. */
export function masked({ outcomes, folder }: Run): Outcome[] {
  const mask = (text: string) => maskText(text.replaceAll(folder, '<folder>'));
  return outcomes.map(({ title, stdout, stderr, code }) => ({
    title,
    stdout: mask(stdout),
    stderr: mask(stderr),
    code,
  }));
}

/** What a script has asked for by itself is to come back as it is. */
const asked = /^(10\.96\.0\.1|10\.96\.77\.7|10\.96\.5\.5|30777)$/;
const unlessAsked = (mask: string) => (found: string) => (asked.test(found) ? found : mask);

const age = String.raw`(?:\d+[smhdy]){1,2}`;

const masks: readonly (readonly [RegExp, string | ((found: string) => string)])[] = [
  [/eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+/g, '<token>'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>'],
  [/https:\/\/127\.0\.0\.1:\d+/g, '<server>'],
  [/127\.0\.0\.1:\d+/g, '<address>'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \+0000/g, '<time>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, maskTime],
  [/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000/g, maskTime],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC/g, '<time>'],
  [/(?<=[rR]esourceVersion"?: ?"?|Resource Version: +|resource version to be \d+, was )\d+/g, '<version>'],
  [/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----(\\r)?/g, '<certificate>'],
  [/(LIVE|MERGED)-\d+/g, '$1-<number>'],
  [/kubectl-(edit|\w+)-\d+/g, 'kubectl-$1-<number>'],
  // Logged by kubectl itself.
  [/^[EWI]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ /gm, '<logged> '],
  // Whether it still watches when its time is over is a matter of chance.
  [/^<logged> reflector\.go.*\n/gm, ''],
  // Of five letters and digits that form no words.
  [/(?<=-)[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '<random>'],
  [/\b10\.96\.\d+\.\d+/g, unlessAsked('<ip>')],
  [/(?<=nodePort"?: |NodePort: .*|\d:)3[0-2]\d{3}\b/g, unlessAsked('<port>')],
  // Addresses are of all lengths, and so are their columns.
  [/^NAME .*CLUSTER-IP[\s\S]*/gm, (table) => table.replace(/ {2,}/g, '  ')],
  // In tables; what follows is moved by their widths.
  [new RegExp(`(?<=^| {2,}|\\t)(${age}|<invalid>)(?= {2,}|$| ago| \\()`, 'gm'), '<age>'],
  [/(<age>|AGE|CLUSTER-IP|<ip>|<ip>.*\/TCP|<port>\/TCP|<random>) +/g, '$1 '],
];

/** Only of about now: those that a script has sent are to come back as they are. */
function maskTime(found: string): string {
  const isOfNow = Math.abs(Date.parse(found) - Date.now()) < 2 * 86_400_000;
  if (!isOfNow) return found;
  return /\.\d+Z$/.test(found) ? '<precise time>' : '<time>';
}

function maskText(text: string): string {
  let result = text;
  // `replace` has two forms, for texts and for functions.
  for (const [pattern, mask] of masks) {
    result = typeof mask === 'string' ? result.replace(pattern, mask) : result.replace(pattern, mask);
  }
  return result;
}
