/** Converts selections of labels and fields to the server's syntax. Invalid ones are refused before they are sent. */
import { KopfError } from '../../errors.js';
import type { SelectedValue, Selection } from '../../seams/api.js';
import { isMapping } from '../../values/json.js';
import { isLabelKey, isLabelValue } from '../../values/objects/labels.js';

export function labelSelectorOf(selection: Selection | undefined): string | undefined {
  return selectorOf(selection, (key, value) => labelTerm(checkedKey(key), value));
}

export function fieldSelectorOf(selection: Selection | undefined): string | undefined {
  return selectorOf(selection, fieldTerm);
}

/** Whether the selection matches such labels or fields, as the server would decide. */
export function isSelectedBy(selection: Readonly<Record<string, SelectedValue>>, values: ValueOf): boolean {
  return Object.entries(selection).every(([key, wanted]) => {
    const found = values(key);
    if (typeof wanted === 'boolean') return (found !== undefined) === wanted;
    const isNegated = isNegation(wanted);
    const listed = isNegated ? wanted.not : wanted;
    const isFound = found !== undefined && (isList(listed) ? listed.includes(found) : String(listed) === found);
    return isFound !== isNegated;
  });
}

/** The value of a label or a field; `undefined` if absent. */
type ValueOf = (key: string) => string | undefined;

function selectorOf(
  selection: Selection | undefined,
  termOf: (key: string, value: SelectedValue) => string,
): string | undefined {
  if (selection === undefined || typeof selection === 'string') return selection;
  if (!isMapping(selection) || Object.prototype.toString.call(selection) !== '[object Object]') {
    throw refusal("A selection is an object such as { app: 'web' }, or a text such as 'app=web,tier!=db'.");
  }
  return Object.entries(selection)
    .map(([key, value]) => termOf(key, value))
    .join(',');
}

function labelTerm(key: string, value: SelectedValue): string {
  if (typeof value === 'boolean') return value ? key : `!${key}`;
  if (isList(value)) return `${key} in (${checkedValues(key, value)})`;
  if (!isNegation(value)) return `${key}=${checkedValue(key, value)}`;
  const { not } = value;
  return isList(not) ? `${key} notin (${checkedValues(key, not)})` : `${key}!=${checkedValue(key, not)}`;
}

function fieldTerm(key: string, value: SelectedValue): string {
  if (isText(value)) return `${key}=${escaped(String(value))}`;
  if (isNegation(value) && typeof value.not === 'string') return `${key}!=${escaped(value.not)}`;
  throw refusal(`The server selects by a field only if it equals a text or does not: '${key}' cannot be selected so.`);
}

/** Commas and equality signs would end the value. */
function escaped(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&');
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value);
}

/** Numbers are accepted as texts, except for NaN and infinities. */
function isText(value: unknown): value is string | number {
  return typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));
}

/** Unknown keys are refused: ignoring them would select too much, and selections are used for deletions, too. */
function isNegation(value: unknown): value is { readonly not: string | readonly string[] } {
  if (typeof value !== 'object' || value === null) return false;
  const keys = Object.keys(value);
  return keys.length === 1 && keys[0] === 'not';
}

function checkedKey(key: string): string {
  if (isLabelKey(key)) return key;
  throw refusal(`'${key}' cannot be the key of a label.`);
}

function checkedValues(key: string, values: readonly string[]): string {
  if (values.length === 0) throw refusal(`There must be at least one value of the label '${key}' to select by.`);
  return values.map((value) => checkedValue(key, value)).join(',');
}

function checkedValue(key: string, value: unknown): string {
  const text = isText(value) ? String(value) : undefined;
  if (text !== undefined && isLabelValue(text)) return text;
  throw refusal(
    `${text === undefined ? describe(value) : `'${text}'`} cannot be a value of the label '${key}'. Select by a text, ` +
      'by a list of texts, by true or false for whether it is there, or by { not: … }.',
  );
}

function describe(value: unknown): string {
  return typeof value === 'object' && value !== null
    ? `An object with ${Object.keys(value).join(', ')}`
    : String(value);
}

function refusal(message: string): KopfError {
  return new KopfError(message, { code: 'KOPF_BAD_SELECTION' });
}
