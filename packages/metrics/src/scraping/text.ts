/** Metrics as text, in either of the formats that Prometheus reads. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Logger } from '@kopf-ts/core';
import { describeError } from '@kopf-ts/core/engine';
import type { Family } from '../registry/instruments.js';

export type Format = 'prometheus' | 'openmetrics';

export const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** So many lines in a row: about a millisecond. Then everybody else has a turn. */
const LINES_AT_ONCE = 500;

/** The text of all of them. It gives way to others again and again: there may be many series. */
export async function textOf(families: Iterable<Family>, format: Format, logger: Logger): Promise<string> {
  const pieces: string[] = [];
  let lines = 0;
  for (const family of families) {
    const { name, help, type } = family;
    const title = format === 'openmetrics' && type === 'counter' ? name.replace(/_total$/, '') : name;
    const begin = pieces.length;
    pieces.push(`# HELP ${title} ${escapedHelp(help, format)}\n# TYPE ${title} ${type}\n`);
    try {
      for (const samples of family.series()) {
        for (const { suffix, labels, value } of samples) {
          pieces.push(`${name}${suffix}${labels === '' ? '' : `{${labels}}`} ${valueText(value)}\n`);
        }
        lines += samples.length;
        if (lines < LINES_AT_ONCE) continue;
        lines = 0;
        await turn();
      }
    } catch (error) {
      // Of somebody who was asked for a value. The others are of use without it.
      logger.error(`The metric ${name} is left out: ${describeError(error)}`);
      pieces.length = begin;
    }
  }
  if (format === 'openmetrics') pieces.push('# EOF\n');
  return pieces.join('');
}

function escapedHelp(help: string, format: Format): string {
  const text = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return format === 'openmetrics' ? text.replaceAll('"', '\\"') : text;
}

function valueText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}
