import { describe, expect, it } from 'vitest';
import { kopf } from '../fakes.js';

const COMMANDS = ['run', 'dev', 'freeze', 'resume', 'release'];

describe('the help', () => {
  it('names all commands, with examples, and nothing is run', async () => {
    const { code, out, err, calls } = await kopf(['--help']);
    expect(code).toBe(0);
    for (const command of COMMANDS) expect(out).toMatch(new RegExp(`^ {2}${command} `, 'm'));
    expect(out).toContain('Examples:\n  kopf dev handlers.ts');
    expect(err).toBe('');
    expect(calls).toEqual([]);
  });

  it.each(COMMANDS)('tells about %s, with examples, and nothing is run', async (command) => {
    const { code, out, calls } = await kopf([command, '--help']);
    expect(code).toBe(0);
    expect(out).toContain(`Usage: kopf ${command} [options]`);
    expect(out).toContain(`Examples:\n  kopf ${command} `);
    expect(out).toContain('--log-format');
    expect(calls).toEqual([]);
  });

  it.each(COMMANDS)('is also given by `help %s`', async (command) => {
    const { code, out } = await kopf(['help', command]);
    expect(code).toBe(0);
    expect(out).toContain(`Usage: kopf ${command} [options]`);
  });

  it('names the variables of the environment', async () => {
    const { out } = await kopf(['run', '--help']);
    const names = ['CLUSTERWIDE', 'NAMESPACES', 'STANDALONE', 'DEV', 'LIVENESS_ENDPOINT', 'PEERING', 'PRIORITY'];
    for (const name of [...names, 'MODULES', 'VERBOSE', 'DEBUG', 'QUIET', 'LOG_FORMAT', 'LOG_REFKEY', 'LOG_PREFIX']) {
      expect(out).toContain(`KOPF_RUN_${name}`);
    }
  });

  it('is all there is without arguments; but it is a mistake to ask so', async () => {
    const { code, err } = await kopf([]);
    expect(code).toBe(2);
    expect(err).toContain('Usage: kopf [options] [command]');
  });
});

describe('the version', () => {
  it('is told in one line', async () => {
    expect(await kopf(['--version'])).toMatchObject({ code: 0, out: 'kopf, version 1.2.3\n', calls: [] });
  });
});

describe('a command that is not understood', () => {
  it.each([
    [['nope'], "error: unknown command 'nope'"],
    [['rum'], '(Did you mean run?)'],
    [['--nope'], "error: unknown option '--nope'"],
    [['run', 'x.ts', '--nope'], "error: unknown option '--nope'"],
    [['run', 'x.ts', '--verbos'], '(Did you mean --verbose?)'],
    [['run', 'x.ts', '-p'], "error: option '-p, --priority <number>' argument missing"],
    [['run', 'x.ts', '-p', 'high'], "'high' is not a whole number."],
    [['run', 'x.ts', '--log-format', 'xml'], "'xml' is not one of full, plain, json."],
    [['freeze', 'something'], 'error: too many arguments'],
  ])('is refused: kopf %j', async (args, message) => {
    const { code, err, calls } = await kopf(args);
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(err).toMatch(/Try 'kopf .*--help'\.\n$/);
    expect(calls).toEqual([]);
  });
});
