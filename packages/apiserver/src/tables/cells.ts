/** How values are written into the cells of tables, for people. */
import { getOwn, isMapping, type Mapping } from '@kopf-ts/core';
import { formatSelector } from '../selectors/label-selector-objects.js';

export const NONE = '<none>';
export const UNSET = '<unset>';
const UNKNOWN = '<unknown>';

/** What is in the cells after the name, of one object; without the ones in `wide` there are fewer columns than cells. */
export type Printer = (object: Mapping, now: Date) => readonly unknown[];

export function mappingIn(object: unknown, ...path: readonly string[]): Mapping {
  const found = path.reduce<unknown>((at, key) => (isMapping(at) ? getOwn(at, key) : undefined), object);
  return isMapping(found) ? found : {};
}

export function listIn(object: unknown, ...path: readonly string[]): readonly Mapping[] {
  const found = path.reduce<unknown>((at, key) => (isMapping(at) ? getOwn(at, key) : undefined), object);
  return Array.isArray(found) ? found.filter(isMapping) : [];
}

export function textsIn(object: unknown, key: string): readonly string[] {
  const found = isMapping(object) ? getOwn(object, key) : undefined;
  return Array.isArray(found) ? found.map(String) : [];
}

export function textIn(object: unknown, key: string, otherwise = ''): string {
  const found = isMapping(object) ? getOwn(object, key) : undefined;
  return found === undefined || found === null || found === '' ? otherwise : String(found);
}

export function countIn(object: unknown, key: string): number {
  const found = isMapping(object) ? getOwn(object, key) : undefined;
  return typeof found === 'number' ? found : 0;
}

export function ageOf(object: Mapping, now: Date): string {
  return since(mappingIn(object, 'metadata').creationTimestamp, now);
}

/** How long ago that was. */
export function since(timestamp: unknown, now: Date, otherwise = UNKNOWN): string {
  if (timestamp === undefined || timestamp === null || timestamp === '') return otherwise;
  const seconds = Math.floor((now.getTime() - Date.parse(String(timestamp))) / 1000);
  return Number.isNaN(seconds) ? '<invalid>' : humanDuration(seconds);
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** The more, the less precise: `90s`, `5m30s`, `2h`, `3d4h`, `400d`. */
export function humanDuration(seconds: number): string {
  const two = (unit: number, name: string, rest: number, restName: string): string => {
    const remainder = Math.floor((seconds % unit) / rest);
    return `${Math.floor(seconds / unit)}${name}${remainder === 0 ? '' : `${remainder}${restName}`}`;
  };
  // Clocks may disagree a little.
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return two(MINUTE, 'm', 1, 's');
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return two(HOUR, 'h', MINUTE, 'm');
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return two(DAY, 'd', HOUR, 'h');
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`;
  if (seconds < 8 * YEAR) return two(YEAR, 'y', DAY, 'd');
  return `${Math.floor(seconds / YEAR)}y`;
}

export function labelsText(labels: Mapping): string {
  const texts = Object.keys(labels)
    .sort()
    .map((key) => `${key}=${String(labels[key])}`);
  return texts.length === 0 ? NONE : texts.join(',');
}

export function selectorText(selector: Mapping, otherwise = NONE): string {
  return formatSelector(selector) || otherwise;
}

/** A few of them, and how many more there are. */
export function few(texts: readonly string[], most = 3): string {
  const shown = texts.slice(0, most).join(',');
  return texts.length > most ? `${shown} + ${texts.length - most} more...` : shown;
}

/** Of a template of pods, or of a pod: the names of containers, and their images. */
export function containersCells(spec: Mapping): readonly [names: string, images: string] {
  const containers = listIn(spec, 'containers');
  return [
    containers.map((container) => textIn(container, 'name')).join(','),
    containers.map((container) => textIn(container, 'image')).join(','),
  ];
}
