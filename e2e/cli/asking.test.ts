/** Commands about single objects, as people run them: beside an operator, with its tokens, and without it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { freePorts } from '../controlplane/ports.js';
import { eventually } from '../support/operators/operators.js';
import { built, clusterWithFoos, foo, type Project, project } from './projects.js';

built();

const HANDLERS = `import * as kopf from 'kopf-ts';

kopf.on.create('foos', function created({ retry }) {
  if (retry < 2) throw new kopf.TemporaryError('The \\u001b[31mdisk\\u202e is not <b>there</b>.', { delay: 600 });
});
`;

interface Asked {
  readonly code: number | NodeJS.Signals;
  /** What it prints, and after that, what it complains about. */
  readonly out: string;
}

async function place() {
  const { cluster, env } = await clusterWithFoos();
  const own = await project({ 'handlers.ts': HANDLERS });
  const tokens = join(own.folder, 'tokens');
  await writeFile(tokens, 'to-act\nto-look read\n');
  const admin = `http://127.0.0.1:${(await freePorts(1))[0]}`;
  const operator = own.kopf(['run', 'handlers.ts', '-A', `--admin=${admin}`, `--admin-token-file=${tokens}`], { env });
  onTestFinished(() => void operator.kill('SIGTERM'));
  await cluster.apply(foo('one', 'value'));
  await operator.logs('is not <b>there</b>');
  const kopf = async (...args: string[]): Promise<Asked> => await done(own, args, env);
  return { cluster, own, env, admin, tokens, operator, kopf };
}

async function done(own: Project, args: readonly string[], env: Readonly<Record<string, string>>): Promise<Asked> {
  const command = own.kopf(args, { env });
  const code = await command.ended;
  return { code, out: [...command.said, command.log].join('\n') };
}

it('kopf why, retry, pause and resume: with the operator, and without it', async () => {
  const { cluster, own, env, admin, tokens, operator, kopf } = await place();
  const way = [`--admin=${admin}`, `--token-file=${tokens}`];

  const alone = await kopf('why', 'foos/one', '-n', 'default');
  expect(alone.out).toMatch(/^ {2}'created' is waiting for a retry for the creation: .* is due in (10|9) min/m);
  expect(alone.out).toContain('From the object alone; no operator was asked.');
  const told = await kopf('why', 'foo', 'one', '-n', 'default', ...way);
  expect([told.code, alone.code]).toEqual([0, 0]);
  expect(told.out).toMatch(/^ {2}'created' is waiting for a retry for the creation: attempt 1 failed/m);
  expect(told.out).toMatch(/^ {2}[\d:]{8} {2}'created' will be retried in 10 min/m);
  // What is a command to terminals stays a text.
  for (const { out } of [alone, told]) {
    expect(out).toContain('The \\u001b[31mdisk\\u202e is not <b>there</b>.');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(out).not.toMatch(/[\u001b\u202e]/u);
  }
  const json = await kopf('why', 'foos/one', '-n', 'default', '-o', 'json', ...way);
  const { findings } = JSON.parse(json.out) as { findings: readonly object[] };
  expect(findings[0]).toMatchObject({ reason: 'retrying', handler: 'created' });
  expect((await kopf('why', 'foos/two', '-n', 'default')).code).toBe(1);

  const following = own.kopf(['why', 'foos/one', '-n', 'default', '--follow', ...way], { env });
  const follows = async (text: string): Promise<void> =>
    await eventually(() => expect(following.said.join('\n')).toContain(text));
  await follows('From the operator');
  const retried = await kopf('retry', 'foos/one', '-n', 'default', ...way);
  expect(retried.out).toContain('The handlers of foos/one are called now.');
  await follows("'created' (attempt 2) will be retried in 10 min");
  following.kill('SIGINT');
  expect(await following.ended).toBe(0);

  const refused = await kopf('retry', 'foos/one', '-n', 'default', `--admin=${admin}`);
  expect(refused.code).toBe(1);
  expect(refused.out).toContain('refuses (401): a token is needed.');
  await writeFile(tokens, 'to-look read\n');
  expect((await kopf('retry', 'foos/one', '-n', 'default', ...way)).out).toContain('the token is for reading only');

  await kopf('pause', 'foos/one', '-n', 'default', '--for=30m');
  await eventually(async () =>
    expect((await kopf('why', 'foos/one', '-n', 'default', ...way)).out).toContain(
      'The object is paused by an annotation, and resumes in',
    ),
  );
  expect((await kopf('resume', 'foos/one', '-n', 'default')).out).toContain('foos/one is resumed.');
  const events = cluster.list('events') as { reason: string }[];
  const reasons = new Set(events.map(({ reason }) => reason));
  expect([...reasons]).toEqual(expect.arrayContaining(['Retried', 'Paused', 'Resumed']));
  expect(operator.log).not.toMatch(/to-act|to-look/);
  operator.kill('SIGTERM');
  await operator.ended;
  expect((await kopf('why', 'foos/one', '-n', 'default', ...way)).out).toContain('No response from the operator at');
});
