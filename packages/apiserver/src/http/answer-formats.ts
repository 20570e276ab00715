/** The text of an answer as its reader wants it: YAML, or indented for people. */
import type { ApiAnswer, RequestHead } from '../contracts/request.js';
import { negotiate } from './accept.js';

/** Those are used by people. */
const BROWSERS = /^(?:curl|Wget|Mozilla\/5\.0)/;

export async function formatted(request: RequestHead, answer: ApiAnswer): Promise<ApiAnswer> {
  if (answer.stream !== undefined || answer.headers['content-type'] !== 'application/json') return answer;
  if (wantsYaml(request)) return await inYaml(answer);
  if (!isForPeople(request)) return answer;
  try {
    return { ...answer, body: JSON.stringify(JSON.parse(answer.body), undefined, 2), isLine: false };
  } catch {
    // Nested too deeply for being looked at.
    return answer;
  }
}

async function inYaml(answer: ApiAnswer): Promise<ApiAnswer> {
  const { stringify } = await import('yaml');
  const options = { sortMapEntries: true, indentSeq: false, singleQuote: true } as const;
  const body = stringify(JSON.parse(answer.body), options);
  return { ...answer, headers: { ...answer.headers, 'content-type': 'application/yaml' }, body, isLine: false };
}

/** What cannot be agreed on is refused elsewhere; the refusal itself is JSON then, unless YAML was asked for. */
function wantsYaml({ headers }: RequestHead): boolean {
  const { accept } = headers;
  if (accept?.includes('yaml') !== true) return false;
  try {
    return negotiate(accept).format === 'yaml';
  } catch {
    return true;
  }
}

function isForPeople({ url, headers }: RequestHead): boolean {
  const pretty = url.includes('pretty') ? new URLSearchParams(url.slice(url.indexOf('?') + 1)).get('pretty') : null;
  if (pretty !== null) return pretty !== '0' && pretty.toLowerCase() !== 'false';
  return BROWSERS.test(headers['user-agent'] ?? '');
}
