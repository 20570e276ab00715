/** The logins of an operator, without the rest of it. */
import type { ConnectionInfo } from '@kopf-ts/core';
import { onTestFinished } from 'vitest';
import { type ActivitiesParts, activities } from '../../src/activities/activities.js';
import { vault as makeVault } from '../../src/authentication/vault.js';
import { health } from '../../src/probing/health.js';
import { followed, partsUnderTest } from '../activities/operator-parts.js';

const UNAUTHORIZED = new Error('HTTP 401');

export function loginsUnderTest(extra: Partial<ActivitiesParts> = {}) {
  const parts = partsUnderTest();
  const { clock, logger, settings } = parts;
  const vault = makeVault({ clock, logger, random: () => 0 });
  const healthOfIt = health({ clock, settings });
  const life = activities({ ...parts, memo: {}, vault, health: healthOfIt, ...extra });
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const start = async () => {
    const [authenticator] = life.services;
    const running = followed(authenticator?.run(controller.signal) ?? Promise.reject(new Error('no service')));
    await clock.settle();
    return running;
  };
  const inSeconds = (seconds: number) => new Date(clock.utc().getTime() + seconds * 1000);
  /** Refuses whatever is used now. */
  const refuse = async () => {
    vault.invalidate(await vault.current(), UNAUTHORIZED);
    await clock.settle();
  };
  const log = () => logger.messages().filter((message) => message.includes('uthentication'));
  return { ...parts, ...life, vault, health: healthOfIt, start, controller, inSeconds, refuse, log };
}

/** Credentials that differ in their tokens. */
export const info = (token: string): ConnectionInfo => ({ server: 'https://one', token });
