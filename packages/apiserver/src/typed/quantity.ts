/** Quantities such as `500m` or `1.5Gi`, brought to the form in which Kubernetes writes them. */

const PATTERN = /^([+-]?)(\d*)(?:\.(\d*))?(m|n|u|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d+)?$/;
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;
const DECIMAL: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
/** Nothing smaller than this is kept; it is rounded up. */
const NANO = 9;

/** `undefined` if it is none. */
export function canonicalQuantity(text: string): string | undefined {
  const match = PATTERN.exec(text);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match;
  if (whole === '' && fraction === '') return undefined;
  const digits = BigInt(`${whole}${fraction}`);
  const isNegative = sign === '-';
  if (digits === 0n) return '0';

  const binary = BINARY.indexOf(suffix as (typeof BINARY)[number]);
  if (suffix !== '' && binary > 0) {
    const scaled = digits * 1024n ** BigInt(binary);
    const { value, isExact } = divide(scaled, 10n ** BigInt(fraction.length));
    if (isExact) return signed(isNegative, asBinary(value));
    return signed(isNegative, asDecimal(scaled, -fraction.length));
  }
  const isExponent = /^[eE][+-]?\d/.test(suffix);
  const exponent = isExponent ? Number(suffix.slice(1)) : (DECIMAL.get(suffix) ?? 0);
  const shift = exponent - fraction.length;
  return signed(isNegative, isExponent ? asExponent(digits, shift) : asDecimal(digits, shift));
}

function signed(isNegative: boolean, text: string): string {
  return isNegative && text !== '0' ? `-${text}` : text;
}

function asBinary(value: bigint): string {
  if (value < 1024n) return String(value);
  let index = 0;
  let rest = value;
  while (index < BINARY.length - 1 && rest % 1024n === 0n) {
    rest /= 1024n;
    index++;
  }
  return `${rest}${BINARY[index]}`;
}

function asDecimal(digits: bigint, shift: number): string {
  const { rest, exponent } = normalized(digits, shift);
  const suffix = [...DECIMAL].find(([, power]) => power === exponent)?.[0];
  if (suffix !== undefined) return `${rest}${suffix}`;
  return exponent > 18 ? `${rest * 10n ** BigInt(exponent - 18)}E` : `${rest}e${exponent}`;
}

function asExponent(digits: bigint, shift: number): string {
  const { rest, exponent } = normalized(digits, shift);
  return exponent === 0 ? String(rest) : `${rest}e${exponent}`;
}

/** Without trailing zeros, with an exponent that is a multiple of three, and rounded up to nano. */
function normalized(digits: bigint, shift: number): { rest: bigint; exponent: number } {
  let rest = digits;
  let exponent = shift;
  if (exponent < -NANO) {
    const { value, isExact } = divide(rest, 10n ** BigInt(-NANO - exponent));
    rest = isExact ? value : value + 1n;
    exponent = -NANO;
  }
  while (rest % 10n === 0n && rest !== 0n) {
    rest /= 10n;
    exponent++;
  }
  while (((exponent % 3) + 3) % 3 !== 0) {
    rest *= 10n;
    exponent--;
  }
  return { rest, exponent };
}

function divide(value: bigint, by: bigint): { value: bigint; isExact: boolean } {
  return { value: value / by, isExact: value % by === 0n };
}

/** Less than zero if the first one is less. Both must be quantities. */
export function compareQuantities(a: string, b: string): number {
  const [left, right] = [inNano(a), inNano(b)];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

export function inNano(text: string): bigint {
  const [, sign = '', whole = '', fraction = '', suffix = ''] = PATTERN.exec(text) ?? [];
  const digits = BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`);
  const binary = BINARY.indexOf(suffix as (typeof BINARY)[number]);
  if (binary > 0) return (digits * 1024n ** BigInt(binary) * 10n ** BigInt(NANO)) / 10n ** BigInt(fraction.length);
  const exponent = /^[eE][+-]?\d/.test(suffix) ? Number(suffix.slice(1)) : (DECIMAL.get(suffix) ?? 0);
  const shift = exponent - fraction.length + NANO;
  return shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
}
