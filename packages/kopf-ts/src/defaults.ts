/** The default parts of an operator. */
import { loginWithKubeconfig, loginWithServiceAccount } from '@kopf-ts/client';
import { type Clock, settings as makeSettings, type Settings, type SettingsOverrides } from '@kopf-ts/core';
import type { FallbackLogin } from '@kopf-ts/reactor';
import { annotationsDiffBaseStorage, smartProgressStorage } from '@kopf-ts/storage';

/** The settings of an operator, with the default storages. */
export function defaultSettings(overrides: SettingsOverrides = {}): Settings {
  return withStorages(makeSettings(overrides));
}

/** Adds the default storages where there are none. They read the settings at each use. */
export function withStorages(settings: Settings): Settings {
  const { persistence } = settings;
  const live = {
    get compat() {
      return persistence.compat;
    },
    get secrets() {
      return persistence.secretsInDiffBase ? ('plain' as const) : ('digests' as const);
    },
  };
  persistence.progressStorage ??= smartProgressStorage(live);
  persistence.diffbaseStorage ??= annotationsDiffBaseStorage(live);
  return settings;
}

/** The usual credentials of pods and people. In a pod, the service account is meant, so it goes first. */
export function fallbackLogins(clock: Clock): readonly FallbackLogin[] {
  return [
    { id: 'loginWithServiceAccount', login: loginWithServiceAccount },
    { id: 'loginWithKubeconfig', login: loginWithKubeconfig },
  ].map(({ id, login }) => ({ id, login: ({ settings }) => login({ clock, trustEnv: settings.networking.trustEnv }) }));
}
