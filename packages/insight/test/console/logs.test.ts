import type { Logger } from '@kopf-ts/core';
import { objectLogger } from '@kopf-ts/core/engine';
import { manualClock, recordingLogger, testLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { objectLogs } from '../../src/index.js';
import { shown } from '../support/shown.js';

const bodyOf = (uid: string, kind = 'KopfExample') => ({
  apiVersion: kind === 'Secret' ? 'v1' : 'kopf.dev/v1',
  kind,
  metadata: { name: 'one', namespace: 'default', uid },
});

function place(): { readonly logs: ReturnType<typeof objectLogs>; of(uid: string, kind?: string): Logger } {
  const logs = objectLogs({ clock: manualClock() });
  const logger = logs.through(recordingLogger());
  return { logs, of: (uid, kind) => objectLogger({ logger, body: bodyOf(uid, kind) }) };
}

testLogger(
  () => {
    const recorded = recordingLogger();
    const logs = objectLogs({ clock: manualClock() });
    logs.keep();
    return { logger: logs.through(recorded), lines: () => recorded.lines };
  },
  { describe, it },
);

describe('The lines of objects', () => {
  it('go where they always go, and are kept for the console when there is one', () => {
    const recorded = recordingLogger();
    const logs = objectLogs({ clock: manualClock() });
    const logger = logs.through(recorded);
    objectLogger({ logger, body: bodyOf('u') }).info('before');
    logs.keep();
    const own = objectLogger({ logger, body: bodyOf('u') });
    own.info('during');
    own.child({ handler: 'fn' }).error('worse', { error: new Error('x') });
    logger.warn('of nobody');
    expect(recorded.lines.map(({ message }) => message)).toEqual(['before', 'during', 'worse', 'of nobody']);
    expect(recorded.lines[2]?.fields).toMatchObject({ handler: 'fn', object: { uid: 'u' } });
    expect(logs.of('u').map(({ level, message }) => `${level} ${message}`)).toEqual(['info during', 'error worse']);
    expect(logs.of('other')).toEqual([]);
    expect(logs.of(undefined)).toEqual([]);
  });

  it('can be written by functions taken off their logger', () => {
    const { logs, of } = place();
    logs.keep();
    const { info } = of('u');
    info('taken off');
    expect(logs.of('u')).toMatchObject([{ level: 'info', message: 'taken off' }]);
  });

  it('are not kept of Secrets, nor if nobody would see them anyway', () => {
    const { logs, of } = place();
    logs.keep();
    of('secret', 'Secret').info('hunter2');
    expect(logs.of('secret')).toEqual([]);
    const quiet: Logger = { ...recordingLogger(), isEnabled: (level) => level === 'error', child: () => quiet };
    const logger = objectLogger({ logger: logs.through(quiet), body: bodyOf('quiet') });
    logger.info('unseen');
    logger.error('seen');
    expect(logs.of('quiet').map(({ message }) => message)).toEqual(['seen']);
  });

  it('are the last ones, short ones, and never take more than their place', () => {
    const { logs, of } = place();
    logs.keep();
    for (let line = 0; line < 60; line += 1) of('one').info(`line ${line} ${'x'.repeat(2000)}`);
    expect(logs.of('one')).toHaveLength(50);
    expect(logs.of('one')[0]?.message).toMatch(/^line 10 x+/);
    expect(Math.max(...logs.of('one').map(({ message }) => message.length))).toBeLessThanOrEqual(501);
    for (let object = 0; object < 5000; object += 1) of(`u${object}`).info('y'.repeat(480));
    // Those that were quiet for longest are forgotten.
    expect(logs.of('one')).toEqual([]);
    expect(logs.of('u4999')).toHaveLength(1);
    const bytes = Array.from({ length: 5000 }, (_, object) => logs.of(`u${object}`))
      .flat()
      .reduce((sum, { message }) => sum + message.length, 0);
    expect(bytes).toBeLessThanOrEqual(2_000_000);
  });

  it('are shown with their object, and without what would command a browser or a terminal', async () => {
    const clock = manualClock();
    const logs = objectLogs({ clock });
    const { look, has } = shown({ clock, logs });
    has('one');
    logs.keep();
    const logger = objectLogger({ logger: logs.through(recordingLogger()), body: bodyOf('uid-one') });
    logger.warn('<img src=x onerror=alert(1)>');
    const seen = await look('atResource=kopfexamples.kopf.dev&atNamespace=default&atName=one');
    expect(seen.last.object?.logs).toMatchObject([{ level: 'warn', message: '<img src=x onerror=alert(1)>' }]);
    logger.info('more');
    await seen.after(10);
    expect(seen.last.object?.logs).toHaveLength(2);
    await seen.leave();
  });
});
