import { spawnSync } from 'node:child_process';
import { beforeEach, expect, it, vi } from 'vitest';
import { processRuntime } from '../../src/cli/cli-runtime.js';
import { FLAGS, optimizeForMemory } from '../../src/cli/optimizing.js';

vi.mock(import('../../src/cli/optimizing.js'), async (load) => ({ ...(await load()), optimizeForMemory: vi.fn() }));
vi.mock(import('../../src/cli/run-command.js'), () => ({ runForCli: vi.fn(async () => 0) }));

beforeEach(() => vi.clearAllMocks());

it.each([
  [undefined, 1],
  ['memory', 1],
  ['speed', 0],
] as const)('`kopf run` saves memory unless told otherwise: %s', async (optimize, times) => {
  const runtime = processRuntime({ program: 'kopf', version: '0.0.0' });
  await runtime.run({ clusterwide: true, namespaces: [], optimize });
  expect(optimizeForMemory).toHaveBeenCalledTimes(times);
});

it('tells V8 nothing that it does not know', () => {
  const script = FLAGS.map((flag) => `require('node:v8').setFlagsFromString(${JSON.stringify(flag)});`).join('');
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', `${script} console.log('alive');`], {
    encoding: 'utf8',
    env: {},
  });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'alive\n', stderr: '' });
});
