/** `kopf dev` while it runs: files change, operators come and go one after another, the cluster stays. */
import type { Clock, Logger } from '@kopf-ts/core';
import { describeFailure } from '../failures.js';
import { type Bundle, bundle } from '../loading/bundle.js';
import { type Sources, shortPath } from '../loading/sources.js';
import type { DevCluster, Terminal } from '../runtime.js';
import { watchChanges } from './changes.js';
import { applyManifests, nameOf, readManifests } from './manifests.js';
import { type OperatorProcess, startOperator } from './operator-process.js';

export interface SessionParts {
  readonly sources: Sources;
  /** Files with objects: applied again when they change. */
  readonly manifests: readonly string[];
  readonly cluster: DevCluster;
  readonly kubeconfig: string;
  /** How to run an operator. */
  readonly command: readonly string[];
  readonly resolve: (specifier: string) => string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly terminal: Terminal;
  readonly isDebugging: boolean;
  /** Ends the session. */
  readonly signal: AbortSignal;
}

export interface Session {
  /** Runs until the signal aborts and the operator has stopped. */
  run(): Promise<void>;
  /** Ends the operator at once. */
  kill(): void;
}

export function devSession(parts: SessionParts): Session {
  const { sources, terminal, clock, logger, signal } = parts;
  const { cwd } = sources;
  const changes = watchChanges(clock);
  let current: OperatorProcess | undefined;
  /** The next one: it takes a while to start, and there is something else to do meanwhile. */
  let spare: OperatorProcess | undefined;
  let running: Bundle | undefined;
  /** The one that has been asked to stop: its end is no surprise. */
  let retiring: OperatorProcess | undefined;

  const prepare = (): OperatorProcess => {
    const { command, kubeconfig } = parts;
    if (spare === undefined || spare.isEnded) {
      spare = startOperator({ command, kubeconfig, env: withoutRunVariables(terminal.env), cwd, clock });
    }
    return spare;
  };

  const complain = (error: unknown): void => {
    terminal.err(`Error: ${describeFailure(error, parts.isDebugging)}\n`);
  };

  /** The new operator begins only when the old one has ended: no object is ever handled by both. */
  const replace = async (next: Bundle): Promise<void> => {
    const upcoming = prepare();
    retiring = current;
    await current?.stop('new handlers');
    signal.throwIfAborted();
    if (current !== undefined) logger.info('Restarting the operator.');
    spare = undefined;
    current = upcoming;
    running = next;
    upcoming.load(next);
    void upcoming.ended.then((outcome) => {
      if (signal.aborted || retiring === upcoming) return;
      logger.warn(`The operator has ended (${outcome}). It restarts when its files change.`);
    });
  };

  const build = async (): Promise<void> => {
    let next: Bundle;
    try {
      next = await bundle(sources, { resolve: parts.resolve, warn: (text) => logger.warn(text) });
    } catch (error) {
      complain(error);
      logger.info('Waiting for the files to be fixed.');
      // What is missing may be a file that nobody knows of yet.
      changes.watch([...sources.files, ...(running?.inputs ?? []), ...parts.manifests], { anything: true });
      return;
    }
    changes.watch([...next.inputs, ...parts.manifests]);
    if (next.code !== running?.code || current?.isEnded !== false) await replace(next);
  };

  const applyChanged = async (files: readonly string[]): Promise<void> => {
    try {
      const objects = await readManifests(files, cwd);
      await applyManifests(parts.cluster, objects, cwd);
      logger.info(`Applied: ${objects.map(({ object }) => nameOf(object)).join(', ')}.`);
    } catch (error) {
      complain(error);
    }
  };

  const run = async (): Promise<void> => {
    changes.watch([...sources.files, ...parts.manifests]);
    prepare();
    await build();
    for (;;) {
      const changed = [...(await changes.next(signal))];
      const manifests = changed.filter((file) => parts.manifests.includes(file));
      if (manifests.length > 0) await applyChanged(manifests);
      const code = changed.filter((file) => !manifests.includes(file));
      if (code.length === 0) continue;
      logger.info(`Changed: ${code.map((file) => shortPath(file, cwd)).join(', ')}.`);
      prepare();
      await build();
    }
  };

  return {
    async run() {
      try {
        await run();
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        changes.close();
        spare?.kill();
        await current?.stop('the end of kopf dev');
      }
    },
    kill() {
      spare?.kill();
      current?.kill();
    },
  };
}

/** All that they say is in the arguments already. */
function withoutRunVariables(env: Terminal['env']): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('KOPF_RUN_')));
}
