import { describe, expect, it } from 'vitest';
import { kopf } from '../fakes.js';

describe('`freeze`', () => {
  it.each<[readonly string[], Readonly<Record<string, string>>, object]>([
    [['-P', 'default', '-t', '60'], {}, { name: 'default', lifetime: 60 }],
    [['--peering=x', '--lifetime=60', '--dev'], {}, { name: 'x', lifetime: 60, priority: 666 }],
    [['-P', 'x', '-t', '60', '-p', '5', '-m', 'why'], {}, { name: 'x', lifetime: 60, priority: 5, message: 'why' }],
    [['-P', 'x', '-t', '60', '-i', 'me'], {}, { name: 'x', lifetime: 60, identity: 'me' }],
    [['-P', 'x', '-t', '60', '-n', 'a', '-n', 'b'], {}, { name: 'x', lifetime: 60, namespaces: ['a', 'b'] }],
    [['-P', 'x', '-t', '60', '-A'], {}, { name: 'x', lifetime: 60 }],
    [[], { KOPF_FREEZE_PEERING: 'x', KOPF_FREEZE_LIFETIME: '60' }, { name: 'x', lifetime: 60 }],
  ])('is understood: %j with %j', async (args, env, expected) => {
    const { freezes, code } = await kopf(['freeze', ...args], { env });
    expect(code).toBe(0);
    expect(freezes).toEqual([expected]);
  });

  it('says what it has done', async () => {
    const { out } = await kopf(['freeze', '-P', 'default', '-t', '60']);
    expect(out).toBe("Paused for 60 seconds by me@here: the operators of 'default' cluster-wide.\n");
  });

  it.each([
    [['-P', 'default'], "the option '-t, --lifetime <seconds>' is required (or the variable KOPF_FREEZE_LIFETIME)"],
    [['-t', '60'], "the option '-P, --peering <name>' is required (or the variable KOPF_FREEZE_PEERING)"],
    [['-P', 'default', '-t', 'long'], "'long' is not a whole number."],
    [
      ['-P', 'default', '-t', '60', '-n', 'a', '-A'],
      'choose either all namespaces (-A) or some of them (-n a), not both',
    ],
  ])('is refused if it makes no sense: %j', async (args, message) => {
    const { code, err, calls } = await kopf(['freeze', ...args]);
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(calls).toEqual([]);
  });

  it('ends with 1 and a line if it is not done', async () => {
    const failure = Object.assign(new Error('Cannot find the peering resource.'), { code: 'KOPF_NO_PEERING_RESOURCE' });
    const { code, err, out } = await kopf(['freeze', '-P', 'default', '-t', '60'], { failure });
    expect({ code, err, out }).toEqual({ code: 1, err: 'Error: Cannot find the peering resource.\n', out: '' });
  });
});

describe('`resume`', () => {
  it.each<[readonly string[], Readonly<Record<string, string>>, object]>([
    [['-P', 'default'], {}, { name: 'default' }],
    [['-P', 'x', '--id=me', '-n', 'a'], {}, { name: 'x', identity: 'me', namespaces: ['a'] }],
    [[], { KOPF_RESUME_PEERING: 'x', KOPF_RESUME_ID: 'me' }, { name: 'x', identity: 'me' }],
  ])('is understood: %j with %j', async (args, env, expected) => {
    const { resumes, out } = await kopf(['resume', ...args], { env });
    expect(resumes).toEqual([expected]);
    expect(out).toMatch(/^No longer paused by me@here: /);
  });
});

describe('a failure', () => {
  it('of the connection says where to look', async () => {
    const failure = Object.assign(new Error('The connection to https://x failed'), { code: 'KOPF_CONNECTION' });
    const { code, err } = await kopf(['resume', '-P', 'default'], { failure });
    expect(code).toBe(1);
    expect(err).toMatch(/^Error: The connection to https:\/\/x failed\. Is the cluster up, .* KUBECONFIG.*\n$/);
  });

  it('shows its stack only to those who debug', async () => {
    const failure = new TypeError('It is broken.\nMore of it.', { cause: new Error('the cause') });
    const quiet = await kopf(['resume', '-P', 'default', '-v'], { failure });
    expect(quiet.err).toBe('Error: TypeError: It is broken.\n');
    const loud = await kopf(['resume', '-P', 'default', '-d'], { failure });
    expect(loud.err).toMatch(/^Error: TypeError: It is broken\.\nTypeError: It is broken\.\nMore of it\.\n {4}at .*/);
    expect(loud.err).toContain('Caused by: Error: the cause\n    at ');
  });

  it('is JSON for those who log in JSON', async () => {
    const { err } = await kopf(['resume', '-P', 'default', '--log-format=json'], { failure: new Error('No way') });
    expect(JSON.parse(err)).toEqual({ message: 'Error: No way' });
  });
});
