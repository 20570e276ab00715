/** Which of the formats the reader likes better. */
import type { Format } from './text.js';

interface Accepted {
  readonly type: string;
  readonly version: string | undefined;
  readonly quality: number;
}

/** OpenMetrics, if it is asked for by its name, and nothing else is asked for more; or else the older format. */
export function formatFor(accept: string | undefined): Format {
  const accepted = (accept ?? '').split(',').map(parsed);
  const best = (isOne: (one: Accepted) => boolean): number =>
    Math.max(0, ...accepted.filter(isOne).map(({ quality }) => quality));
  const open = best(({ type, version = '1.0.0' }) => type === OPEN && (version === '1.0.0' || version === '0.0.1'));
  const plain = best(({ type, version = '0.0.4' }) => type === 'text/plain' && version === '0.0.4');
  return open > 0 && open >= plain ? 'openmetrics' : 'prometheus';
}

const OPEN = 'application/openmetrics-text';

function parsed(text: string): Accepted {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const parameter = (name: string): string | undefined =>
    parameters.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
  const quality = Number(parameter('q') ?? 1);
  return { type, version: parameter('version'), quality: quality >= 0 && quality <= 1 ? quality : 0 };
}
