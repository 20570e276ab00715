/** Python's client of Kubernetes, as it comes from pip. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { pythonPackages } from '../../support/python.js';
import { embeddedServer, makeNamespace, realServer, type Server } from '../support/servers.js';
import { differencesBetween, type Transcript, transcript } from '../support/transcripts.js';

const version = '37.0.2';
const namespace = 'python-client';
const script = fileURLToPath(new URL('client_script.py', import.meta.url));

const python = await pythonPackages("Python's client", { kubernetes: version });
if (python.kind === 'unavailable') console.log(`programs: Python's client is SKIPPED: ${python.reason}.`);

describe.skipIf(python.kind === 'unavailable')(`Python's client ${version}`, () => {
  const runs: Transcript[] = [];

  it('does on the embedded server what it is told', async () => {
    const run = await runOn(await embeddedServer());
    runs.push(run);
    expect(run.steps.at(-1)?.step).toBe('the end');
    const answerOf = (step: string) => run.steps.find((each) => each.step === step)?.answer;
    expect(answerOf('its replicas')).toBe(3);
    expect(answerOf('by pages')).toEqual([['page-0', 'page-1'], ['page-2', 'page-3'], ['page-4']]);
    expect(answerOf('take a container away')).toMatchObject({
      spec: { template: { spec: { containers: [{ name: 'web', image: 'web:2' }] } } },
    });
    expect(answerOf('what it must not')).toMatchObject({ status: 403 });
  });

  it('is answered as by the real server', async (context) => {
    const real = await runOn(realServer(context));
    const [embedded] = runs;
    if (embedded === undefined) throw new Error('There is nothing to compare with.');
    expect(differencesBetween(real, embedded)).toBe('');
  });
});

async function runOn(server: Server): Promise<Transcript> {
  if (python.kind === 'unavailable') throw new Error(python.reason);
  await makeNamespace(server, namespace);
  const run = transcript(server);
  const env = { ...python.env, KUBECONFIG: server.kubeconfig };
  const { stdout } = await promisify(execFile)('python3', [script, namespace], { env, maxBuffer: 2 ** 26 });
  for (const line of stdout.trim().split('\n')) {
    const { step, answer } = JSON.parse(line) as { step: string; answer: unknown };
    run.tell(step, answer);
  }
  return run;
}
