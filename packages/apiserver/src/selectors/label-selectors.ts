/** Label selectors: `a=b,c!=d,e in (f,g),!h`, read and refused in the words of kube-apiserver. */
import { badRequest } from '../http/status-errors.js';
import { labelValue, qualifiedName } from '../validation/names.js';

type Labels = Readonly<Record<string, string>> | undefined;
export type LabelPredicate = (labels: Labels) => boolean;

interface Token {
  readonly text: string;
  readonly kind: 'word' | 'sign' | 'end';
}

const SIGNS = ['==', '!=', '=', '!', '(', ')', ',', '>', '<'];
const OPERATORS = ['in', 'notin', '=', '==', '!=', 'gt', 'lt'];

/** Everything matches an empty selector: then there is nothing to ask. Throws `BadRequest`. */
export function parseLabelSelector(text: string): LabelPredicate | undefined {
  const tokens = tokenize(text);
  const [first] = tokens;
  if (first?.kind === 'end') return undefined;
  if (first?.kind === 'sign' && first.text !== '!') {
    throw badRequest(`found '${first.text}', expected: !, identifier, or 'end of string'`);
  }
  const requirements: LabelPredicate[] = [];
  let at = 0;
  const peek = (): Token => tokens[at] as Token;
  const next = (): Token => tokens[at++] as Token;

  for (;;) {
    requirements.push(parseRequirement(peek, next));
    const after = next();
    if (after.kind === 'end') break;
    if (after.text !== ',') throw badRequest(`found '${after.text}', expected: ',' or 'end of string'`);
    const following = peek();
    if (following.kind !== 'word' && following.text !== '!') {
      throw badRequest(`found '${following.text}', expected: identifier after ','`);
    }
  }
  return (labels) => requirements.every((requirement) => requirement(labels));
}

function parseRequirement(peek: () => Token, next: () => Token): LabelPredicate {
  const isNegated = peek().text === '!' && peek().kind === 'sign';
  if (isNegated) next();
  const word = next();
  if (word.kind !== 'word') throw unparsable(`found '${word.text}', expected: identifier`);
  const key = word.text;
  const problem = qualifiedName(key)[0];
  if (problem !== undefined) throw unparsable(`<nil>: Invalid value: ${JSON.stringify(key)}: ${problem}`);
  const value = (labels: Labels): string | undefined =>
    labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
  if (isNegated) return (labels) => value(labels) === undefined;

  const after = peek();
  if (after.kind === 'end' || after.text === ',') return (labels) => value(labels) !== undefined;
  const operator = next().text;
  if (operator === 'in' || operator === 'notin') {
    const values = new Set(parseValues(key, peek, next));
    const isIn = (labels: Labels): boolean => values.has(value(labels) as string);
    // What has no such label is not among the values either.
    return operator === 'in' ? isIn : (labels) => !isIn(labels);
  }
  if (operator === '=' || operator === '==' || operator === '!=') {
    const expected = parseValue(key, peek, next);
    return operator === '!=' ? (labels) => value(labels) !== expected : (labels) => value(labels) === expected;
  }
  if (operator === '>' || operator === '<') return compare(operator, parseValue(key, peek, next), value);
  throw unparsable(`found '${operator}', expected: ${OPERATORS.join(', ')}`);
}

function compare(operator: string, text: string, value: (labels: Labels) => string | undefined): LabelPredicate {
  const limit = integer(text);
  if (limit === undefined) {
    throw unparsable(
      `values[0]: Invalid value: ${JSON.stringify(text)}: for 'Gt', 'Lt' operators, the value must be an integer`,
    );
  }
  return (labels) => {
    const found = integer(value(labels) ?? '');
    return found !== undefined && (operator === '>' ? found > limit : found < limit);
  };
}

function integer(text: string): bigint | undefined {
  return /^[+-]?\d+$/.test(text) ? BigInt(text) : undefined;
}

function parseValue(key: string, peek: () => Token, next: () => Token): string {
  const token = peek();
  // An absent value is an empty one.
  if (token.kind === 'end' || token.text === ',') return '';
  if (token.kind !== 'word') throw unparsable(`found '${token.text}', expected: identifier`);
  next();
  return checkedValue(key, token.text, 0);
}

function parseValues(key: string, peek: () => Token, next: () => Token): string[] {
  const open = next();
  if (open.text !== '(') throw unparsable(`found '${open.text}' expected: '('`);
  const values: string[] = [];
  const first = peek();
  if (first.text === ')') {
    next();
    return [''];
  }
  if (first.kind !== 'word' && first.text !== ',') {
    throw unparsable(`found '${first.text}', expected: ',', ')' or identifier`);
  }
  for (;;) {
    const token = next();
    if (token.kind === 'word') {
      values.push(checkedValue(key, token.text, values.length));
      const after = next();
      if (after.text === ')' && after.kind === 'sign') return values;
      if (after.text !== ',') throw unparsable(`found '${after.text}', expected: ',' or ')'`);
      if (peek().text === ')') {
        next();
        return [...values, ''];
      }
    } else if (token.text === ',') {
      values.push('');
    } else {
      throw unparsable(`found '${token.text}', expected: ',', or identifier`);
    }
  }
}

function checkedValue(key: string, value: string, index: number): string {
  const problem = labelValue(value)[0];
  if (problem !== undefined) {
    throw unparsable(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${problem}`);
  }
  return value;
}

function unparsable(why: string): Error {
  return badRequest(`unable to parse requirement: ${why}`);
}

function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text[at] as string;
    const sign = SIGNS.find((one) => text.startsWith(one, at));
    if (/\s/.test(character)) at++;
    else if (sign !== undefined) {
      tokens.push({ text: sign, kind: 'sign' });
      at += sign.length;
    } else {
      const word = /^[^\s=!(),<>]+/.exec(text.slice(at))?.[0] as string;
      tokens.push({ text: word, kind: 'word' });
      at += word.length;
    }
  }
  tokens.push({ text: '', kind: 'end' });
  return tokens;
}
