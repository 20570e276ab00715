import { describe, expect, it } from 'vitest';
import { kopf } from '../fakes.js';

const object = { kind: 'kopfexamples', name: 'one' };

describe('`why`', () => {
  it.each<[readonly string[], Readonly<Record<string, string>>, object]>([
    [['kopfexamples/one'], {}, object],
    [['kopfexamples', 'one', '-n', 'shop'], {}, { ...object, namespace: 'shop' }],
    [['kopfexamples/one', '--admin=http://127.0.0.1:8083'], {}, { ...object, admin: 'http://127.0.0.1:8083' }],
    [['kopfexamples/one'], { KOPF_ADMIN: 'http://127.0.0.1:1' }, { ...object, admin: 'http://127.0.0.1:1' }],
    [['kopfexamples/one', '--pod=ops/op-0', '--port=9'], {}, { ...object, pod: 'ops/op-0', port: 9 }],
    [['kopfexamples/one', '--token-file=/x'], {}, { ...object, tokenFile: '/x' }],
    [['kopfexamples/one', '--token-secret=ops/token'], {}, { ...object, tokenSecret: 'ops/token' }],
  ])('is understood: %j with %j', async (args, env, expected) => {
    const { objects, code } = await kopf(['why', ...args], { env });
    expect(code).toBe(0);
    expect(objects).toEqual([expected]);
  });

  it.each([
    [[], "which object? Name its kind and its name, as in 'kopf why kopfexamples/one'"],
    [['kopfexamples'], 'which object?'],
    [['a/b/c'], 'which object?'],
    [['a', 'b', 'c'], 'which object?'],
    [['a/b', '--pod=x'], "'x' after --pod must be a namespace and a name"],
    [['a/b', '--pod=x/y', '--admin=http://127.0.0.1:1'], 'choose either --admin or --pod'],
    [['a/b', '--port=1'], '--port needs the pod'],
    [['a/b', '--token-file=x', '--token-secret=y/z'], 'choose either --token-file or --token-secret'],
    [['a/b', '-o', 'xml'], "'xml' is not one of text, json."],
  ])('is refused if it makes no sense: %j', async (args, message) => {
    const { code, err, calls } = await kopf(['why', ...args]);
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(calls).toEqual([]);
  });

  const explained = {
    title: 'KopfExample default/one',
    findings: [{ reason: 'filtered', text: "'fn' was not called: because." }],
    handlers: [
      { handler: 'fn', state: 'rejected', text: "'fn' was not called: because." },
      { handler: 'other', state: 'chosen', text: "'other' was chosen." },
    ],
    timeline: [{ at: '2030-01-01T12:34:56.000Z', text: 'The creation' }],
    lost: 3,
    operator: 'op',
  };

  it('is answered in sentences', async () => {
    const { out } = await kopf(['why', 'kopfexamples/one'], { explained });
    expect(out).toBe(
      [
        'KopfExample default/one',
        "  'fn' was not called: because.",
        '',
        'Other handlers',
        "  'other' was chosen.",
        '',
        'What has happened',
        '  (3 older entries were dropped)',
        '  12:34:56  The creation',
        '',
        'From the operator op.',
        '',
      ].join('\n'),
    );
  });

  it('is answered in JSON', async () => {
    const { out } = await kopf(['why', 'kopfexamples/one', '-o', 'json'], { explained });
    expect(JSON.parse(out)).toEqual(explained);
  });

  describe('with --follow', () => {
    const at = (seconds: number, text: string) => ({
      at: new Date(1_900_000_000_000 + seconds * 1000).toISOString(),
      text,
    });
    const begun = { ...explained, timeline: [at(0.9999, 'The creation'), at(1, 'Retried'), at(1.2, 'Retried')] };
    // The clock was corrected by some milliseconds meanwhile.
    const corrected = [at(1.0001, 'The creation'), at(1.0002, 'Retried'), at(1.2002, 'Retried')];
    const grown = { ...begun, timeline: [...corrected, at(1.4, 'Retried'), at(2, 'Deleted')] };
    const done = { ...grown, findings: [{ reason: 'gone', text: 'The object was deleted.' }] };

    it('goes on with what is new, and tells nothing twice, until it is stopped', async () => {
      const { out, code, calls } = await kopf(['why', 'kopfexamples/one', '--follow'], {
        explained: begun,
        later: [begun, grown, done],
      });
      expect(code).toBe(0);
      expect(calls.filter((call) => call === 'why')).toHaveLength(4);
      const [, after = ''] = out.split('From the operator op.\n');
      expect(after).toMatch(/^ {2}\S+ {2}Retried\n {2}\S+ {2}Deleted\n {2}The object was deleted\.\n$/);
    });

    it('goes on in lines of JSON', async () => {
      const { out } = await kopf(['why', 'kopfexamples/one', '-f', '-o', 'json'], {
        explained: begun,
        later: [begun, grown],
      });
      const lines = out.trimEnd().split('\n');
      expect(lines.map((line) => (JSON.parse(line) as typeof begun).timeline.length)).toEqual([3, 5]);
    });
  });

  it('ends with 1 if there is no such object', async () => {
    const findings = [{ reason: 'missing', text: 'There is no such object in the cluster.' }];
    const { code, out } = await kopf(['why', 'kopfexamples/one'], { explained: { ...explained, findings } });
    expect(code).toBe(1);
    expect(out).toContain('There is no such object');
  });
});

describe('`retry`', () => {
  it('is asked of the operator', async () => {
    const { objects, out } = await kopf(['retry', 'kopfexamples/one', '--admin=http://127.0.0.1:1']);
    expect(objects).toEqual([{ ...object, admin: 'http://127.0.0.1:1' }]);
    expect(out).toBe('The handlers of kopfexamples/one are called now.\n');
  });

  it('says if there is nothing to be retried', async () => {
    const { out } = await kopf(['retry', 'kopfexamples/one', '--pod=a/b'], { isWaiting: false });
    expect(out).toBe('kopfexamples/one waits for nothing.\n');
  });

  it('needs a way to the operator', async () => {
    const { code, err } = await kopf(['retry', 'kopfexamples/one']);
    expect(code).toBe(2);
    expect(err).toContain('only the operator can retry: say how to reach it, by --admin or by --pod');
  });
});

describe('`pause` and `resume` of one object', () => {
  it.each([
    [[], 3600],
    [['--for=90'], 90],
    [['--for=90s'], 90],
    [['-t', '30m'], 1800],
    [['-t', '1.5h'], 5400],
    [['-t', '2d'], 172_800],
  ])('are understood: %j', async (args, seconds) => {
    const { objects, out } = await kopf(['pause', 'kopfexamples/one', ...args]);
    expect(objects).toEqual([{ ...object, seconds }]);
    expect(out).toBe('kopfexamples/one is paused until 2030-01-01T00:00:00.000Z.\n');
  });

  it.each(['soon', '0', '-5', '', '1w'])('need a duration, and not %j', async (text) => {
    const { code, err, calls } = await kopf(['pause', 'kopfexamples/one', `--for=${text}`]);
    expect(code).toBe(2);
    expect(err).toContain(`'${text}' is not a duration: write 90s, 30m, 12h or 2d`);
    expect(calls).toEqual([]);
  });

  it('say what they have done', async () => {
    const resumed = await kopf(['resume', 'kopfexamples/one', '-n', 'shop']);
    expect(resumed.objects).toEqual([{ ...object, namespace: 'shop' }]);
    expect(resumed.out).toBe('kopfexamples/one is resumed.\n');
    expect((await kopf(['resume', 'kopfexamples/one'], { isWaiting: false })).out).toBe(
      'kopfexamples/one is not paused.\n',
    );
  });

  it('are not for peerings', async () => {
    const { code, err } = await kopf(['resume', 'kopfexamples/one', '-P', 'default']);
    expect(code).toBe(2);
    expect(err).toContain('an object is in one namespace, and in no peering');
  });
});
