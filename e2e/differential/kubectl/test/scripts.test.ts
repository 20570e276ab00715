import { describe, expect, it } from 'vitest';
import { ExceptionsCheck } from '../harness/exceptions-check.js';
import { masked } from '../harness/masks.js';
import { parseScripts } from '../harness/script.js';

describe('a script', () => {
  it('has commands in words, with quotes, input, variables and pipes', () => {
    const [script, other] = parseScripts(
      'topic',
      [
        '# a comment',
        '== first ==',
        `patch cm one -p '{"a": "b c"}' --x="y z"`,
        'apply -f - <<END',
        'a: 1',
        'END',
        String.raw`KUBE_EDITOR='sed -i s/x/\ y/' edit cm one`,
        "get cm -o yaml | replace -f - -o jsonpath='{|}'",
        'write some/file <<END',
        'END',
        'watch 3 get cm -w',
        'ended',
        'eventually get cm',
        'get cm',
        'get cm',
        '== alone: second ==',
      ].join('\n'),
    );
    const common = { kind: 'run', stdin: '', eventually: false };
    const program = (...args: string[]) => ({ env: {}, args });
    expect(script).toMatchObject({ topic: 'topic', name: 'first', runsAlone: false });
    expect(script?.steps).toMatchObject([
      { ...common, programs: [program('patch', 'cm', 'one', '-p', '{"a": "b c"}', '--x=y z')] },
      { ...common, title: 'apply -f -', stdin: 'a: 1\n' },
      { programs: [{ env: { KUBE_EDITOR: String.raw`sed -i s/x/\ y/` }, args: ['edit', 'cm', 'one'] }] },
      {
        programs: [program('get', 'cm', '-o', 'yaml'), program('replace', '-f', '-', '-o', 'jsonpath={|}')],
      },
      { kind: 'write', path: 'some/file', text: '' },
      { kind: 'watch', lines: 3, program: program('get', 'cm', '-w') },
      { kind: 'ended' },
      { title: 'eventually get cm', eventually: true, programs: [program('get', 'cm')] },
      { title: 'get cm' },
      { title: 'get cm (2)' },
    ]);
    expect(other).toMatchObject({ name: 'second', runsAlone: true, steps: [] });
  });

  it('is refused if its input never ends, or if a command belongs to none', () => {
    expect(() => parseScripts('topic', '== a ==\napply -f - <<END\nx')).toThrow('There is no END after apply');
    expect(() => parseScripts('topic', 'get cm')).toThrow('before the first script of topic: get cm');
  });
});

const outcome = (stdout: string, title = 'get') => ({ title, stdout, stderr: '', code: 0 });

describe('masks', () => {
  const mask = (stdout: string) => masked({ outcomes: [outcome(stdout)], namespace: 'n', folder: '/tmp/f' })[0]?.stdout;

  it('cover what is of each server and moment', () => {
    const now = `${new Date().toISOString().slice(0, 19)}Z`;
    expect(mask(`uid: 01234567-89ab-cdef-0123-456789abcdef at ${now} in /tmp/f/x`)).toBe(
      'uid: <uid> at <time> in <folder>/x',
    );
    expect(mask('NAME   AGE     IP\none    3m2s    10.96.1.2   x')).toBe('NAME   AGE IP\none    <age> <ip> x');
    expect(mask('resourceVersion: "12"\n"resourceVersion":"7"')).toBe(
      'resourceVersion: "<version>"\n"resourceVersion":"<version>"',
    );
    expect(mask('pod/made-x7k2p created')).toBe('pod/made-<random> created');
  });

  it('leave what was asked for', () => {
    expect(mask('at 2020-01-01T00:00:00Z')).toBe('at 2020-01-01T00:00:00Z');
    expect(mask('10.96.77.7 80:30777/TCP made-plain 5 days')).toBe('10.96.77.7 80:30777/TCP made-plain 5 days');
  });
});

describe('exceptions', () => {
  const commands = { script: ['get', 'list'] };
  const reason = 'It is so.';

  it('forgive what they are about, and nothing else', () => {
    const check = new ExceptionsCheck([{ id: 'a', reason, commands, forgive: (text) => text.replace('x', '') }]);
    expect(check.compare('script', [outcome('ax')], [outcome('a')])).toEqual([]);
    expect(check.compare('script', [outcome('ax')], [outcome('b')])[0]).toContain('embedded b');
    expect(check.compare('other', [outcome('ax')], [outcome('a')])).toHaveLength(1);
    expect(check.equal).toBe(0);
  });

  it('are stale if nothing differs', () => {
    const check = new ExceptionsCheck([{ id: 'a', reason, commands }]);
    expect(check.stale()).toEqual([]);
    check.compare('script', [outcome('a'), outcome('b', 'list')], [outcome('x'), outcome('b', 'list')]);
    expect(check.stale()).toEqual(['a: script: list']);
    expect(check.equal).toBe(1);
  });
});
