import { manualClock } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { executeOnce } from '../../src/actions/execution.js';
import type { HandlerState } from '../../src/actions/handler-state.js';
import { bothMonitors, type ExecutionMonitor } from '../../src/actions/monitoring.js';
import { State } from '../../src/actions/progression.js';
import { executePromptly } from '../../src/actions/prompt-execution.js';
import { TemporaryError } from '../../src/errors.js';
import type { AnyHandler } from '../../src/intents/handlers.js';
import { settings } from '../../src/settings.js';
import { indexingCause } from '../causation/make-causes.js';
import { changeHandler, changingCause } from './helpers.js';

function recordingMonitor(): { readonly monitor: ExecutionMonitor; readonly told: unknown[] } {
  const told: unknown[] = [];
  const monitor: ExecutionMonitor = {
    enter({ handler }) {
      told.push(`${handler.id} is entered`);
      return {
        returned: () => void told.push('it has returned'),
        settled: () => void told.push('it is settled'),
      };
    },
    running: () => [],
    judged({ handler, cause }, outcome, retry) {
      told.push([handler.id, cause.kind, retry, 'error' in outcome ? outcome.error.message : outcome.result]);
    },
  };
  return { monitor, told };
}

function once(handler: AnyHandler, monitor: ExecutionMonitor) {
  const clock = manualClock();
  const state = State.fromScratch(clock).withHandlers([handler]).get(handler.id) as HandlerState;
  return executeOnce({ handler, cause: changingCause(), state, settings: settings(), clock, monitor });
}

function promptly(fn: () => unknown, monitor: ExecutionMonitor, retries: number) {
  const clock = manualClock();
  return executePromptly({
    handler: { kind: 'index', id: 'fn', fn, param: undefined, retries: 2 },
    cause: indexingCause(),
    attempt: { retries, started: clock.utc(), runtime: 0 },
    settings: settings(),
    clock,
    monitor,
  });
}

describe('a monitor of executions', () => {
  it('is told of the call, and last of all what became of it', async () => {
    const { monitor, told } = recordingMonitor();
    await once(changeHandler({ id: 'fn', fn: async () => 'result' }), monitor);
    expect(told).toEqual(['fn is entered', 'it has returned', 'it is settled', ['fn', 'changing', 0, 'result']]);
  });

  it('is told of errors, also of the synchronous ones', async () => {
    const { monitor, told } = recordingMonitor();
    const fn = () => {
      throw new TemporaryError('later');
    };
    await once(changeHandler({ id: 'fn', fn }), monitor);
    await promptly(fn, monitor, 0);
    expect(told.filter(Array.isArray)).toEqual([
      ['fn', 'changing', 0, 'later'],
      ['fn', 'indexing', 0, 'later'],
    ]);
  });

  it('is told of handlers that are out of their attempts, and so are not called', async () => {
    const { monitor, told } = recordingMonitor();
    await promptly(() => 'result', monitor, 2);
    expect(told).toEqual([['fn', 'indexing', 2, "Indexer 'fn' has exceeded 2 retries."]]);
  });

  it('can be two of them, of which the first tells who runs', async () => {
    const [first, second] = [recordingMonitor(), recordingMonitor()];
    const running = [{ handler: changeHandler(), cause: changingCause() }];
    const both = bothMonitors({ ...first.monitor, running: () => running }, second.monitor);
    await promptly(() => 'result', both, 1);
    expect(first.told).toEqual(['fn is entered', 'it has returned', 'it is settled', ['fn', 'indexing', 1, 'result']]);
    expect(second.told).toEqual(first.told);
    expect(both.running?.()).toBe(running);
  });
});
