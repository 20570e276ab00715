import { settings as makeSettings, type Resource, type SettingsOverrides } from '@kopf-ts/core';
import { facts as makeFacts, makeResource } from '@kopf-ts/core/engine';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { health } from '../../src/probing/health.js';

function underTest(overrides: SettingsOverrides = {}) {
  const clock = manualClock();
  const subject = health({ clock, settings: makeSettings(overrides) });
  const isAlive = async () => (await subject.liveness({ answers: async () => true })).isAlive;
  const facts = makeFacts({ observers: [subject.observer], operator: 'me', clock, logger: recordingLogger() });
  const writes = {
    failed: (failure: { readonly resource: Resource; readonly error: Error }) =>
      facts.tell({ kind: 'writes.failed', ...failure }),
    recovered: (resource: Resource) => facts.tell({ kind: 'writes.recovered', resource }),
  };
  return { clock, health: subject, writes, isAlive };
}

const PODS = makeResource({ group: '', version: 'v1', plural: 'pods' });
const SECRETS = makeResource({ group: '', version: 'v1', plural: 'secrets' });
const forbidden = { resource: PODS, error: new Error('pods is forbidden') };

describe('Writes that fail', () => {
  it.each([10, 30, 120])('for %d s turn readiness red, with the reason, and not liveness', async (timeout) => {
    const { clock, health, writes, isAlive } = underTest({ networking: { failingWritesTimeout: timeout } });
    for (let second = 0; second < timeout; second++) {
      writes.failed(forbidden);
      expect(health.readiness().isReady).toBe(true);
      await clock.advance(1);
    }
    expect(health.readiness()).toMatchObject({
      isReady: false,
      report: { failingWrites: [{ of: 'pods.v1', why: 'pods is forbidden', secondsInState: timeout }] },
    });
    await clock.advance(600);
    expect(await isAlive()).toBe(true);
  });

  it('are forgotten with the first success of that kind', async () => {
    const { clock, health, writes } = underTest();
    writes.failed(forbidden);
    await clock.advance(40);
    expect(health.readiness().isReady).toBe(false);
    writes.recovered(PODS);
    expect(health.readiness()).toMatchObject({ isReady: true });
    expect(health.readiness().report).not.toHaveProperty('failingWrites');
    writes.failed(forbidden);
    expect(health.readiness().isReady).toBe(true);
  });

  it('now and then are normal', async () => {
    const { clock, health, writes } = underTest();
    for (let round = 0; round < 50; round++) {
      writes.failed(forbidden);
      await clock.advance(10);
      writes.recovered(PODS);
      expect(health.readiness().isReady).toBe(true);
    }
  });

  it('of one kind are told also if those of others succeed, and with the last of the reasons', async () => {
    const { clock, health, writes } = underTest();
    writes.failed(forbidden);
    await clock.advance(20);
    writes.failed({ resource: PODS, error: new Error('webhook denied') });
    writes.recovered(SECRETS);
    await clock.advance(20);
    writes.recovered(SECRETS);
    expect(health.readiness().report).toMatchObject({ failingWrites: [{ of: 'pods.v1', why: 'webhook denied' }] });
  });

  it('are forgotten if nobody writes any more: there may be nothing left to write', async () => {
    const { clock, health, writes } = underTest();
    writes.failed(forbidden);
    await clock.advance(901);
    expect(health.readiness().isReady).toBe(true);
    writes.failed(forbidden);
    expect(health.readiness().isReady).toBe(true);
  });
});
