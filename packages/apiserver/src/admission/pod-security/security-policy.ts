/** Which standards a namespace wants of its pods: what its labels say. */
import type { Cause } from '../../contracts/objects.js';
import { invalidValue } from '../../text/field-causes.js';

const LEVELS = ['privileged', 'baseline', 'restricted'] as const;
export type Level = (typeof LEVELS)[number];

/** A level as it was in a version. */
export interface Standard {
  readonly level: Level;
  /** Of 1.x; infinite for the latest one. */
  readonly minor: number;
}

export interface SecurityPolicy {
  readonly enforce: Standard;
  readonly warn: Standard;
  /** Labels that say nothing; the strictest is enforced then. */
  readonly causes: readonly Cause[];
}

export type Labels = Readonly<Record<string, string>>;

const PREFIX = 'pod-security.kubernetes.io/';
const LATEST = Number.POSITIVE_INFINITY;

export function policyOf(labels: Labels = {}): SecurityPolicy {
  const causes: Cause[] = [];
  const read = <Value>(label: string, parse: (text: string) => Value | undefined, why: string): Value | undefined => {
    const text = labels[PREFIX + label];
    if (text === undefined) return undefined;
    const value = parse(text);
    if (value === undefined) causes.push(invalidValue(`metadata.labels[${PREFIX}${label}]`, text, why));
    return value;
  };
  const levelOf = (mode: string): Level | undefined => read(mode, parseLevel, `must be one of ${LEVELS.join(', ')}`);
  const minorOf = (mode: string): number | undefined =>
    read(`${mode}-version`, parseMinor, 'must be "latest" or "v1.x"');

  const asked = levelOf('enforce');
  const enforce: Standard = {
    level: asked ?? (labels[`${PREFIX}enforce`] === undefined ? 'privileged' : 'restricted'),
    minor: minorOf('enforce') ?? LATEST,
  };
  // Nobody reads the journal of audits here; its labels are to be right nevertheless.
  levelOf('audit');
  minorOf('audit');
  const level = levelOf('warn');
  const minor = minorOf('warn');
  const followsEnforced = labels[`${PREFIX}warn`] === undefined && asked !== undefined && asked !== 'privileged';
  const warn: Standard = followsEnforced
    ? { level: asked, minor: labels[`${PREFIX}warn-version`] === undefined ? enforce.minor : (minor ?? LATEST) }
    : { level: level ?? 'privileged', minor: minor ?? LATEST };
  return { enforce, warn, causes };
}

const parseLevel = (text: string): Level | undefined => LEVELS.find((level) => level === text);

function parseMinor(text: string): number | undefined {
  if (text === 'latest') return LATEST;
  const [, digits] = /^v1\.(\d|[1-9]\d*)$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

export const isStricter = (a: Level, b: Level): boolean => LEVELS.indexOf(a) > LEVELS.indexOf(b);

export const titleOf = ({ level, minor }: Standard): string =>
  `${level}:${minor === LATEST ? 'latest' : `v1.${minor}`}`;
