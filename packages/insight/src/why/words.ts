/** Parts of sentences. */
import type { Seconds } from '@kopf-ts/core';
import type { KeptRejection } from '../journal/entries.js';

const CAUSES: Readonly<Record<string, string>> = {
  create: 'the creation',
  update: 'an update',
  delete: 'the deletion',
  resume: 'the resumption after a restart',
};

/** `create` → `the creation` */
export function causeTitle(reason: string | undefined): string {
  return reason === undefined ? 'this event' : (CAUSES[reason] ?? `"${reason}"`);
}

const WHAT_FOR: Readonly<Record<string, string>> = {
  create: 'creations',
  update: 'updates',
  delete: 'deletions',
  resume: 'resumptions after a restart',
};

/** 75 → `1 min 15 s` */
export function durationText(seconds: Seconds): string {
  if (!(seconds >= 0.995)) return `${Math.max(0, Math.round(seconds * 100) / 100) || 0} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return whole % 60 === 0 ? `${whole / 60} min` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
  const minutes = Math.round(whole / 60);
  if (minutes < 48 * 60)
    return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const days = Math.round(minutes / 60 / 24);
  return days < 100_000 ? `${days} days` : 'hundreds of years';
}

export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

export function listText(items: readonly string[], most = 5): string {
  const shown = items.slice(0, most).join(', ');
  return items.length > most ? `${shown} and ${items.length - most} more` : shown;
}

/** Why a handler was not called, as the end of a sentence: `the label "tier" must be "gold", but is "silver"`. */
export function rejectionText(rejection: KeptRejection): string {
  const { filter, path = '', wanted, found, isHidden } = rejection;
  switch (filter) {
    case 'labels':
      return keptKeyText('label', rejection);
    case 'annotations':
      return keptKeyText('annotation', rejection);
    case 'field':
    case 'value':
      return isHidden ? `its filter rejected the field ${path} (the value is not shown)` : fieldText(rejection);
    case 'change':
      return `the field ${path} has not changed`;
    case 'old':
    case 'new': {
      const verb = filter === 'old' ? 'must have been' : 'must have become';
      if (isHidden) return `its filter rejected the ${filter} value of the field ${path} (the value is not shown)`;
      return `the field ${path} ${verb} ${wantedText(wanted)}, but ${filter === 'old' ? 'was' : 'became'} ${foundText(found)}`;
    }
    case 'when':
      return wanted === undefined || wanted === 'a function'
        ? 'its condition ("when") was not met'
        : `its condition ("when"), ${wanted}, was not met`;
    case 'reason': {
      const wantedReason = unquoted(wanted);
      return `it is for ${WHAT_FOR[wantedReason] ?? wantedReason}, but this is ${causeTitle(unquoted(found))}`;
    }
    case 'deleted':
      return 'it is not for objects being deleted';
    case 'resource':
      return 'it is for another kind';
    case 'selection':
      return 'the object does not match settings.watching.selectors';
    case 'operation':
      return `it is for the operations ${wanted ?? 'of others'}, but this is ${found ?? 'another one'}`;
    case 'subresource':
      return `it is for the subresource ${wanted ?? 'none'}, but this is ${found ?? 'the object itself'}`;
    case 'webhook':
      return 'the request is for another handler';
    case 'failed':
      return 'one of its filters failed';
    case 'finished':
      return 'it has already handled this';
    case 'delayed':
      return 'it is waiting for its next attempt';
    default:
      return `the filter "${filter}" rejected it`;
  }
}

function keptKeyText(what: string, { path = '', wanted, found, isHidden }: KeptRejection): string {
  const key = `the ${what} "${path}"`;
  if (isHidden) return `its filter rejected ${key} (the value is not shown)`;
  if (wanted === 'present') return `the object must have ${key}, but has none`;
  if (wanted === 'absent') return `the object must not have ${key}, but has: ${foundText(found)}`;
  if (isFunction(wanted)) return `${wanted} rejected ${key}, which is ${foundText(found)}`;
  return `${key} must be ${wantedText(wanted)}, but is ${foundText(found)}`;
}

function fieldText({ path = '', wanted, found }: KeptRejection): string {
  if (wanted === 'present') return `the object must have the field ${path}, but has none`;
  if (wanted === 'absent') return `the object must not have the field ${path}, but has: ${foundText(found)}`;
  if (isFunction(wanted)) return `${wanted} rejected the field ${path}, which is ${foundText(found)}`;
  if (wanted === undefined)
    return `the object must have the field ${path}, but has ${found === undefined ? 'none' : found}`;
  return `the field ${path} must be ${wantedText(wanted)}, but is ${foundText(found)}`;
}

function isFunction(wanted: string | undefined): boolean {
  return wanted === 'a function' || wanted?.startsWith('the function ') === true;
}

function wantedText(wanted: string | undefined): string {
  if (wanted === 'present') return 'there';
  return wanted ?? 'something else';
}

function foundText(found: string | undefined): string {
  return found ?? 'absent';
}

function unquoted(text: string | undefined): string {
  return (text ?? '').replace(/^"(.*)"$/, '$1');
}

export function handlerTitle(id: string): string {
  return `'${id}'`;
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
