/** Generated sequences as people would have written them: to be pasted into a file of `sequences/`. */
import type { RequestStep } from '../harness/sequence.js';
import { isSettled } from './generator.js';
import { widgetGroup } from './worlds/custom-world.js';

const words: Readonly<Record<string, string>> = {
  GET: 'get',
  POST: 'post',
  PUT: 'put',
  DELETE: 'del',
  'application/json-patch+json': 'jsonPatch',
  'application/merge-patch+json': 'mergePatch',
  'application/strategic-merge-patch+json': 'strategicPatch',
  'application/apply-patch+yaml': 'applyPatch',
};

export function printed(name: string, steps: readonly RequestStep[]): string {
  const isCustom = JSON.stringify(steps).includes(widgetGroup);
  const lines = [
    `sequence(${literal(name)}, [`,
    ...(isCustom ? ["  ...defined(widgetDefinition('<group>'), '/apis/<group>/v1/namespaces/<ns>/widgets'),"] : []),
    ...steps.map((step) => `  ${printedStep(step, used(steps))},`),
    ']),',
  ];
  return lines.join('\n').replaceAll(widgetGroup, '<group>');
}

/** Which variables the requests need. */
function used(steps: readonly RequestStep[]): (name: string) => boolean {
  const text = JSON.stringify(steps.map(({ path, body }) => [path, body]));
  return (name) => text.includes(`<${name}>`);
}

function printedStep(
  { method, path, headers, body, save, until }: RequestStep,
  isUsed: (name: string) => boolean,
): string {
  const { 'content-type': type, ...others } = headers;
  const word = method === 'PATCH' ? words[String(type)] : words[method];
  const isUsual = method === 'PATCH' ? word !== undefined : type === undefined || type === 'application/json';
  const kept = Object.entries(save ?? {}).filter(([name]) => isUsed(name));
  const extras = [
    ...(Object.keys(isUsual ? others : headers).length === 0
      ? []
      : [`headers: ${literal(isUsual ? others : headers)}`]),
    ...(kept.length === 0 ? [] : [`save: ${literal(Object.fromEntries(kept))}`]),
    ...(until === undefined ? [] : [`until: ${until === isSettled ? 'isSettled' : String(until)}`]),
  ];
  const hasBody = body !== undefined || (extras.length > 0 && method !== 'GET');
  const rest = [
    literal(path),
    ...(hasBody ? [body === undefined ? 'undefined' : literal(body)] : []),
    ...(extras.length === 0 ? [] : [`{ ${extras.join(', ')} }`]),
  ];
  return `${word ?? 'request'}(${word === undefined ? `${literal(method)}, ` : ''}${rest.join(', ')})`;
}

/** A value in TypeScript, as the formatter would have it but for the line breaks. */
function literal(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const fields = Object.entries(value).map(
    ([key, item]) => `${/^[A-Za-z_$][\w$]*$/.test(key) ? key : quoted(key)}: ${literal(item)}`,
  );
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

function quoted(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1);
  return `'${inner.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
