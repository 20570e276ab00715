/** Lines of logs in Kopf's formats. */
import { formatTimestamp, isMapping, type LogFields, type LogLevel } from '@kopf-ts/core';
import { printable, printableName } from './printable.js';
import { printedError } from './printed-errors.js';
import { toJson, toJsonField, toJsonText, toJsonValue } from './python-json.js';
import { redactedText } from './redaction.js';

/**
 * `full` is for people: the time, the logger, the level and the message. `plain` is the message alone. In both, fields
 * follow the message, shortened. `json` is for log collectors: one object per line, with all fields.
 *
 * ```ts
 * const format: kopf.LogFormat = process.stderr.isTTY ? 'full' : 'json';
 * kopf.configure({ format });
 * ```
 */
export type LogFormat = 'full' | 'plain' | 'json';

export interface LogRecord {
  readonly level: LogLevel;
  readonly message: string;
  /** The fields of the line and of its logger. Reserved: `object`, `error`, `logger`. */
  readonly fields: LogFields;
  readonly at: Date;
}

export interface LineStyle {
  /** Whether messages about objects begin with their names. */
  readonly hasPrefix: boolean;
  /** The key of the object reference in JSON. */
  readonly refkey: string;
  readonly hasColors: boolean;
}

const LEVEL_NAMES: Readonly<Record<LogLevel, string>> = {
  debug: 'DEBUG   ',
  info: 'INFO    ',
  warn: 'WARNING ',
  error: 'ERROR   ',
};

/** Terminal colours: grey, none, yellow, red. */
const COLORS: Readonly<Record<LogLevel, string>> = {
  debug: '\u001B[90m',
  info: '',
  warn: '\u001B[33m',
  error: '\u001B[31m',
};
const NO_COLOR = '\u001B[0m';

/** The width of logger names. */
const NAME_WIDTH = 20;

/** Reserved keys in JSON. */
const RESERVED = ['message', 'timestamp', 'object', 'error', 'logger'];

/** All formats, without the line end. */
export const FORMATS: Readonly<Record<LogFormat, (record: LogRecord, style: LineStyle) => string>> = {
  full(record, style) {
    const { level, at } = record;
    const name = printableName(loggerName(record.fields)).slice(0, NAME_WIDTH).padEnd(NAME_WIDTH);
    const line = `[${localTime(at)}] ${name} [${LEVEL_NAMES[level]}] ${textOf(record, style)}`;
    const color = style.hasColors ? COLORS[level] : '';
    return color === '' ? line : `${color}${line}${NO_COLOR}`;
  },
  plain: textOf,
  json(record, style) {
    const { object, error, severity } = record.fields;
    const fields = [`"message": ${toJsonText(prefixOf(record, style) + record.message)}`];
    if (error != null) fields.push(`"exc_info": ${toJsonText(printedError(error))}`);
    for (const name of Object.keys(record.fields)) {
      const isTaken =
        RESERVED.includes(name) || (name === 'exc_info' && error != null) || (name === style.refkey && object != null);
      const field = isTaken ? undefined : toJsonField(name, record.fields[name]);
      if (field !== undefined) fields.push(field);
    }
    fields.push(`"timestamp": "${formatTimestamp(record.at)}"`);
    if (object != null) fields.push(`${toJsonText(style.refkey)}: ${referenceOf(object)}`);
    if (severity === undefined) fields.push(`"severity": "${record.level}"`);
    return `{${fields.join(', ')}}`;
  },
};

/** `2026-11-16 01:41:36,154`, in the local time. */
export function localTime(at: Date): string {
  const date = [at.getFullYear(), padded(at.getMonth() + 1), padded(at.getDate())].join('-');
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => padded(part)).join(':');
  return `${date} ${time},${padded(at.getMilliseconds(), 3)}`;
}

function padded(part: number, width = 2): string {
  return String(part).padStart(width, '0');
}

/** All lines but the first of messages and stacks are indented. */
function textOf(record: LogRecord, style: LineStyle): string {
  const { message, fields } = record;
  const text = prefixOf(record, style) + message + fieldsOf(record);
  return printable(redactedText(fields['error'] == null ? text : `${text}\n${printedError(fields['error'])}`));
}

/** Fields that the line shows in other ways: as its prefix, logger name, level, or the stack below it. */
const SHOWN_OTHERWISE: ReadonlySet<string> = new Set(['object', 'error', 'logger', 'activity', 'severity']);
/** How much of one field to print in text formats; JSON has all of it. */
const MAX_VALUE = 200;

/** The other fields as JSON values: ` size=5 reason="too small"`. */
function fieldsOf({ fields }: LogRecord): string {
  let text = '';
  for (const name of Object.keys(fields)) {
    if (SHOWN_OTHERWISE.has(name)) continue;
    const value = toJsonValue(name, fields[name]);
    if (value !== undefined) text += ` ${printableName(name)}=${shortened(value)}`;
  }
  return text;
}

function shortened(value: string): string {
  return value.length <= MAX_VALUE ? value : `${value.slice(0, MAX_VALUE)}…`;
}

function prefixOf({ fields: { object } }: LogRecord, { hasPrefix }: LineStyle): string {
  if (!hasPrefix || !isMapping(object)) return '';
  const { name, namespace } = object;
  if (!name) return '';
  const prefix = namespace ? `[${String(namespace)}/${String(name)}] ` : `[${String(name)}] `;
  return printableName(prefix);
}

function loggerName({ logger, object, activity }: LogFields): string {
  if (typeof logger === 'string' && logger !== '') return logger;
  // Kopf's name of this activity, for tools that read its logs.
  if (typeof activity === 'string') return `kopf.activities.${activity === 'login' ? 'authentication' : activity}`;
  return object == null ? 'kopf' : 'kopf.objects';
}

const REFERENCE_PARTS = ['apiVersion', 'kind', 'name', 'uid', 'namespace'] as const;

/** Always with all parts, so that the lines of all objects look alike. */
function referenceOf(object: unknown): string {
  const parts = isMapping(object) ? object : {};
  return `{${REFERENCE_PARTS.map((name) => `"${name}": ${toJson(parts[name] ?? null)}`).join(', ')}}`;
}
