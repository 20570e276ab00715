/** The short way to declare handlers: in the registry of the process, where operators look unless told otherwise. */
import { type DefaultEnv, getDefaultRegistry, type On, type Registrars } from '@kopf-ts/core';

type Registrar = (...args: readonly unknown[]) => unknown;

/** The registry is looked for at each declaration, as it may be replaced. */
function lazily<Name extends 'daemon' | 'timer' | 'index'>(name: Name): Registrars<DefaultEnv>[Name] {
  const declare: Registrar = (...args) => (getDefaultRegistry()[name] as Registrar)(...args);
  return declare as Registrars<DefaultEnv>[Name];
}

/** `on.create(selector, options?, handler)` and so on, for operators that are given no registry of their own. */
export const on: On<DefaultEnv> = new Proxy({} as On<DefaultEnv>, {
  get: (_target, name) => Reflect.get(getDefaultRegistry().on, name),
  has: (_target, name) => Reflect.has(getDefaultRegistry().on, name),
});

export const daemon: Registrars<DefaultEnv>['daemon'] = lazily('daemon');
export const timer: Registrars<DefaultEnv>['timer'] = lazily('timer');
export const index: Registrars<DefaultEnv>['index'] = lazily('index');
