/** What an operator is made of where nothing else is given. */
import { loginWithKubeconfig, loginWithServiceAccount } from '@kopf-ts/client';
import { type Clock, settings as makeSettings, type Settings, type SettingsOverrides } from '@kopf-ts/core';
import type { FallbackLogin } from '@kopf-ts/reactor';
import { annotationsDiffBaseStorage, smartProgressStorage } from '@kopf-ts/storage';

/** The settings of an operator with the default storages in them. */
export function defaultSettings(overrides: SettingsOverrides = {}): Settings {
  return withStorages(makeSettings(overrides));
}

/** Puts the default storages where there are none. They obey the settings as they are at the moment of each use. */
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

/** What a pod or a person usually has; in this order, as in a pod the service account is what is meant. */
export function fallbackLogins(clock: Clock): readonly FallbackLogin[] {
  return [
    { id: 'loginWithServiceAccount', login: loginWithServiceAccount },
    { id: 'loginWithKubeconfig', login: loginWithKubeconfig },
  ].map(({ id, login }) => ({ id, login: ({ settings }) => login({ clock, trustEnv: settings.networking.trustEnv }) }));
}
