/** JSONPath as columns of definitions have it. */
import { getOwn, isMapping } from '@kopf-ts/core';

type Step =
  | { readonly is: 'field'; readonly name: string }
  | { readonly is: 'all' }
  | { readonly is: 'deep'; readonly name: string }
  | { readonly is: 'slice'; readonly from: number | undefined; readonly to: number | undefined; readonly by: number }
  | { readonly is: 'filter'; readonly path: string; readonly operator: string; readonly value: unknown };

const known = new Map<string, readonly Step[]>();

/** All that is at the path, in order; nothing if there is nothing, or if the path cannot be read. */
export function valuesAt(root: unknown, path: string): readonly unknown[] {
  let steps = known.get(path);
  if (steps === undefined) {
    steps = stepsOf(path);
    // Paths come from definitions: there are not many of them, but somebody may make definitions without end.
    if (known.size > 1000) known.clear();
    known.set(path, steps);
  }
  let values: readonly unknown[] = [root];
  for (const step of steps) values = values.flatMap((value) => taken(value, step));
  return values;
}

const PATTERN =
  /\.\.((?:\\.|[^.[\]\\])+)|\.?\[\?\(\s*@([^=!<>)]*?)\s*(?:(==|!=|<=|>=|<|>)\s*(.+?))?\s*\)\]|\.?\[(-?\d*):(-?\d*)(?::(\d+))?\]|\.?\[(-?\d+)\]|\.?\[\*\]|\.\*|\.?\[(?:'([^']*)'|"([^"]*)")\]|\.?((?:\\.|[^.[\]\\])+)/gy;

function stepsOf(path: string): readonly Step[] {
  const steps: Step[] = [];
  const text = path.replace(/^\{(.*)\}$/, '$1').replace(/^\$/, '');
  for (const match of text.matchAll(PATTERN)) {
    const [whole, deep, filtered, operator, operand, from, to, by, index, single, double, plain] = match;
    const name = single ?? double ?? (plain === undefined ? undefined : unescaped(plain));
    if (deep !== undefined) steps.push({ is: 'deep', name: unescaped(deep) });
    else if (filtered !== undefined) {
      steps.push({ is: 'filter', path: filtered, operator: operator ?? '', value: literal(operand) });
    } else if (index !== undefined) {
      const at = Number(index);
      steps.push({ is: 'slice', from: at, to: at === -1 ? undefined : at + 1, by: 1 });
    } else if (from !== undefined) {
      steps.push({ is: 'slice', from: numberOr(from), to: numberOr(to), by: numberOr(by) ?? 1 });
    } else if (name !== undefined) steps.push({ is: 'field', name });
    else if (whole.includes('*')) steps.push({ is: 'all' });
  }
  return steps;
}

function unescaped(name: string): string {
  return name.replace(/\\(.)/g, '$1');
}

function numberOr(text: string | undefined): number | undefined {
  return text === undefined || text === '' ? undefined : Number(text);
}

function literal(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  const quoted = /^(['"])(.*)\1$/.exec(text);
  if (quoted !== null) return quoted[2];
  if (text === 'true' || text === 'false') return text === 'true';
  return Number.isNaN(Number(text)) ? text : Number(text);
}

function taken(value: unknown, step: Step): readonly unknown[] {
  switch (step.is) {
    case 'field': {
      const found = isMapping(value) ? getOwn(value, step.name) : undefined;
      return found === undefined ? [] : [found];
    }
    case 'all':
      return childrenOf(value);
    case 'deep':
      return deepIn(value, step.name);
    case 'slice':
      return Array.isArray(value)
        ? value.slice(step.from, step.to).filter((_, index) => step.by > 0 && index % step.by === 0)
        : [];
    case 'filter':
      return Array.isArray(value) ? value.filter((item) => passes(item, step)) : [];
  }
}

function childrenOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isMapping(value)
    ? Object.keys(value)
        .sort()
        .map((key) => value[key])
    : [];
}

function deepIn(value: unknown, name: string): readonly unknown[] {
  const own = isMapping(value) && Object.hasOwn(value, name) ? [value[name]] : [];
  return [...own, ...childrenOf(value).flatMap((child) => deepIn(child, name))];
}

function passes(item: unknown, { path, operator, value }: Step & { is: 'filter' }): boolean {
  const [found] = path === '' ? [item] : valuesAt(item, path);
  if (operator === '') return found !== undefined;
  if (found === undefined) return false;
  if (operator === '==') return found === value;
  if (operator === '!=') return found !== value;
  if (typeof found !== typeof value || (typeof found !== 'number' && typeof found !== 'string')) return false;
  const order = found < (value as typeof found) ? -1 : Number(found > (value as typeof found));
  return operator === '<' ? order < 0 : operator === '<=' ? order <= 0 : operator === '>' ? order > 0 : order >= 0;
}
