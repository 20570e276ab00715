import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isRunning, startOwner } from '../../support/owners.js';
import { becomesTrue } from '../../support/waiting.js';
import { supervise } from '../processes.js';

const script = new URL('owner-of-programs.ts', import.meta.url);

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kopf-ts-programs-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Of all the processes in the group: not all are children of the one that we know. */
function membersOf(group: number): string[] {
  return execFileSync('ps', ['-e', '-o', 'pgid=', '-o', 'stat='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([pgid, stat]) => pgid === String(group) && !stat?.startsWith('Z'))
    .map(([pgid]) => String(pgid));
}

describe.skipIf(process.platform === 'win32')('programs', () => {
  it.each([
    ['exits', 'exit', undefined],
    ['crashes', 'crash', undefined],
    ['has nothing more to do', 'end', undefined],
    ['is interrupted', 'wait', 'SIGINT'],
    ['is terminated', 'wait', 'SIGTERM'],
    ['is killed', 'wait', 'SIGKILL'],
  ] as const)('end when their owner %s, with their children and files', async (_, ending, signal) => {
    const { told: groups, kill } = await startOwner<number[]>(script, folder, ending);
    expect(groups).toHaveLength(2);
    if (signal !== undefined) {
      expect(groups.every((group) => membersOf(group).length > 0)).toBe(true);
      kill(signal);
    }
    expect(await becomesTrue(() => groups.every((group) => membersOf(group).length === 0))).toBe(true);
    expect(await becomesTrue(() => !existsSync(folder))).toBe(true);
  });

  it('end when they are told, and the folder is removed', async () => {
    const supervisor = supervise(folder);
    const args = ['-e', 'setInterval(() => {}, 1000)'];
    const program = { name: 'a program', command: process.execPath, args, logFile: join(folder, 'a.log') };
    const component = supervisor.start(program);
    expect(isRunning(component.pid)).toBe(true);
    await supervisor.stop();
    expect(isRunning(component.pid)).toBe(false);
    expect(component.failure()).toBeUndefined();
    expect(existsSync(folder)).toBe(false);
  });

  it('tell why they have died, with the end of the log', async () => {
    const supervisor = supervise(folder);
    const args = ['-e', "console.error('out of luck'); process.exit(3)"];
    const program = { name: 'a program', command: process.execPath, args, logFile: join(folder, 'a.log') };
    const component = supervisor.start(program);
    expect(await becomesTrue(() => component.failure() !== undefined)).toBe(true);
    expect(component.failure()?.message).toMatch(/^a program has ended with 3; its log ends with:\nout of luck$/);
    await supervisor.stop();
  });

  it('tell that they cannot be started', async () => {
    const supervisor = supervise(folder);
    const program = { name: 'nobody', command: join(folder, 'nobody'), args: [], logFile: join(folder, 'a.log') };
    const component = supervisor.start(program);
    expect(await becomesTrue(() => component.failure() !== undefined)).toBe(true);
    expect(component.failure()?.message).toMatch(/^nobody could not be started: .*ENOENT/);
    await supervisor.stop();
  });
});
