/** Data as JSON, however deep they are nested: `JSON.stringify` overflows the stack after some 4,000 levels. */

/** Only for data that came out of JSON: mappings, lists, texts, numbers, booleans, null; absent values are left out. */
export function writeJson(data: unknown): string {
  try {
    return JSON.stringify(data);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return withoutRecursion(data);
  }
}

type Pending = { readonly text: string } | { readonly value: unknown };

function withoutRecursion(data: unknown): string {
  const parts: string[] = [];
  const pending: Pending[] = [{ value: data }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if ('text' in next) parts.push(next.text);
    else if (typeof next.value !== 'object' || next.value === null) parts.push(JSON.stringify(next.value) ?? 'null');
    else pending.push(...(Array.isArray(next.value) ? ofList(next.value) : ofMapping(next.value)).reverse());
  }
  return parts.join('');
}

function ofList(list: readonly unknown[]): Pending[] {
  const items = list.flatMap((value, index): Pending[] => [{ text: index === 0 ? '' : ',' }, { value }]);
  return [{ text: '[' }, ...items, { text: ']' }];
}

function ofMapping(mapping: object): Pending[] {
  const entries = Object.entries(mapping).filter(([, value]) => value !== undefined);
  const items = entries.flatMap(([key, value], index): Pending[] => [
    { text: `${index === 0 ? '' : ','}${JSON.stringify(key)}:` },
    { value },
  ]);
  return [{ text: '{' }, ...items, { text: '}' }];
}
