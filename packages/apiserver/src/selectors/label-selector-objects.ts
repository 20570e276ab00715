/** Label selectors as objects: `matchLabels` and `matchExpressions`. */
import { getOwn, isMapping, type Mapping } from '@kopf-ts/core';

type Labels = Readonly<Record<string, string>> | undefined;

/** Says whether the labels are those that are selected. */
export type LabelMatch = (labels: Labels) => boolean;

/** `undefined` if everything is selected. */
export function parseSelectorObject(selector: unknown): LabelMatch | undefined {
  if (!isMapping(selector)) return undefined;
  const matches: LabelMatch[] = [];
  const labels = getOwn(selector, 'matchLabels');
  if (isMapping(labels)) {
    for (const [key, value] of Object.entries(labels)) matches.push((actual) => labelValue(actual, key) === value);
  }
  const expressions = getOwn(selector, 'matchExpressions');
  if (Array.isArray(expressions)) matches.push(...expressions.filter(isMapping).map(parseExpression));
  return matches.length === 0 ? undefined : (actual) => matches.every((match) => match(actual));
}

function parseExpression(expression: object): LabelMatch {
  const key = String(getOwn(expression, 'key') ?? '');
  const listed = getOwn(expression, 'values');
  const values = new Set<unknown>(Array.isArray(listed) ? listed : []);
  switch (getOwn(expression, 'operator')) {
    case 'In':
      return (labels) => values.has(labelValue(labels, key));
    case 'NotIn':
      return (labels) => !values.has(labelValue(labels, key));
    case 'Exists':
      return (labels) => labelValue(labels, key) !== undefined;
    case 'DoesNotExist':
      return (labels) => labelValue(labels, key) === undefined;
    default:
      return () => false;
  }
}

function labelValue(labels: Labels, key: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** A selector of an object as the text of a query. */
export function formatSelector(selector: Mapping): string {
  const isNested = isMapping(selector.matchLabels) || Array.isArray(selector.matchExpressions);
  const labels = isNested ? selector.matchLabels : selector;
  const terms = isMapping(labels) ? Object.entries(labels).map(([key, value]) => `${key}=${String(value)}`) : [];
  const expressions = Array.isArray(selector.matchExpressions) ? selector.matchExpressions.filter(isMapping) : [];
  for (const { key, operator, values } of expressions) {
    const list = Array.isArray(values) ? `(${[...values].sort().join(',')})` : '';
    if (operator === 'In') terms.push(`${String(key)} in ${list}`);
    if (operator === 'NotIn') terms.push(`${String(key)} notin ${list}`);
    if (operator === 'Exists') terms.push(String(key));
    if (operator === 'DoesNotExist') terms.push(`!${String(key)}`);
  }
  return terms.sort().join(',');
}
