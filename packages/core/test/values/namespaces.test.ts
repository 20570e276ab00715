import { describe, expect, it } from 'vitest';
import {
  exactNamespaces,
  matchesAnyNamespace,
  matchNamespace,
  type NamespacePattern,
} from '../../src/values/resources/namespaces.js';

describe('a namespace falls under a pattern', () => {
  it.each<[string, NamespacePattern]>([
    ['ns1', 'ns1'],
    ['ns1', 'ns1,ns2'],
    ['ns1', 'ns*'],
    ['ns1', '*'],
    ['ns1', '*1'],
    ['ns1', 'n*1'],
    ['ns1', 'n?1'],
    ['ns1', 'ns[12]'],
    ['ns1', 'ns[0-9]'],
    ['ns-', 'ns[0-]'],
    ['ns]', 'ns[]]'],
    ['ns3', 'ns[!12]'],
    ['ns3', 'ns[!]]'],
    ['ns[', 'ns['],
    ['abcabd', '*ab?'],
    ['aXbXc', 'a*b*c'],
    ['aa', 'a**a'],
    ['ns1', '!ns2'],
    ['ns1', '!ns*,ns1'],
    ['ns1', 'ns*,!ns*,ns1'],
    ['ns1', '  ns1 , ! ns2 '],
    ['myapp-pr-123', 'myapp-*,!*-pr-*,*-pr-123'],
    ['myapp-live', 'myapp-*,!*-pr-*,*-pr-123'],
    ['ns1', /ns\d/],
    ['ns1', /other|ns1/],
    ['NS1', /ns1/i],
  ])('%s under %s', (name, pattern) => {
    expect(matchNamespace(name, pattern)).toBe(true);
  });

  it.each<[string, NamespacePattern]>([
    ['ns1', 'ns2'],
    ['ns1', 'ns2,ns1'],
    ['ns1', 'NS1'],
    ['ns1', 'ns'],
    ['ns1', 's1'],
    ['ns1', 'n?'],
    ['ns3', 'ns[12]'],
    ['ns1', 'ns[!12]'],
    ['ns5', 'ns[9-0]'],
    ['ns', 'ns?'],
    ['abcabd', '*ab'],
    ['ns1', '!ns1'],
    ['ns1', '! ns1'],
    ['ns1', '!!ns1'],
    ['ns1', '*,!ns1'],
    ['ns1', '!ns1,other'],
    ['ns1', '!ns2,!ns1'],
    ['ns.1', 'ns[.]2'],
    ['nsx1', 'ns.1'],
    ['ns1', ''],
    ['otherapp-pr-123', 'myapp-*,!*-pr-*,*-pr-123'],
    ['myapp-pr-456', 'myapp-*,!*-pr-*,*-pr-123'],
    ['ns1', /ns/],
    ['ns1', /s1/],
    ['ns1', /other|ns/],
    ['NS1', /ns1/],
  ])('%s not under %s', (name, pattern) => {
    expect(matchNamespace(name, pattern)).toBe(false);
  });

  it('the same way each time, also when the regular expression keeps its position', () => {
    const pattern = /ns\d/g;
    expect([1, 2, 3].map(() => matchNamespace('ns1', pattern))).toStrictEqual([true, true, true]);
    expect(pattern.lastIndex).toBe(0);
  });

  it('soon enough, however many asterisks there are', () => {
    expect(matchNamespace('a'.repeat(5000), `${'*a'.repeat(50)}*b`)).toBe(false);
  });

  it('if it falls under any of several', () => {
    expect(matchesAnyNamespace('ns1', ['ns2', /ns1/])).toBe(true);
    expect(matchesAnyNamespace('ns3', ['ns2', /ns1/])).toBe(false);
    expect(matchesAnyNamespace('ns1', [])).toBe(false);
  });
});

describe('without a list of namespaces', () => {
  it('only the patterns that are exact names are usable', () => {
    const patterns = ['one', 'two*', 'th?ee', '!four', 'five,six', /seven/, ' eight ', 'one', ''];
    expect(exactNamespaces(patterns)).toStrictEqual(['one', 'eight']);
  });

  it('a character class is a glob, not a name', () => {
    expect(exactNamespaces(['ns[12]', 'ns]', 'ns['])).toStrictEqual([]);
  });
});
