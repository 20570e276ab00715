/** The operator of `kopf dev`, seen from inside: it waits for its handlers, and stops when its parent says so or is gone. */
import type { Bundle } from '../loading/bundle.js';
import { importBundle } from '../loading/importing.js';
import { CHILD_VARIABLE, isForOperator } from './messages.js';

export interface ParentProcess {
  /** The only cluster for the operator, whatever the handlers or the surroundings would log in to. */
  readonly kubeconfig: string;
  /** Aborts when the operator has to stop. */
  readonly stopping: AbortSignal;
  /** Waits for the handlers, and loads them. */
  loadHandlers(cwd: string): Promise<void>;
}

/** The parent, if there is one that gives handlers. */
export function parentProcess(env: Readonly<Record<string, string | undefined>>): ParentProcess | undefined {
  const kubeconfig = env[CHILD_VARIABLE];
  if (kubeconfig === undefined || process.send === undefined) return undefined;
  const stopping = new AbortController();
  let isLoading = false;
  const bundle = new Promise<Bundle>((resolve) => {
    process.on('message', (message) => {
      if (!isForOperator(message)) return;
      if (message.kopf === 'load') resolve(message.bundle);
      else stopping.abort(message.reason);
    });
  });
  process.once('disconnect', () => {
    // An operator without a parent has no cluster, either. Before it has handlers, there is nothing to stop.
    if (isLoading) stopping.abort('the end of kopf dev');
    else process.exit();
  });
  return {
    kubeconfig,
    stopping: stopping.signal,
    async loadHandlers(cwd) {
      const handlers = await bundle;
      isLoading = true;
      // From now on, it is the operator that keeps the process alive, and not the conversation.
      process.channel?.unref();
      await importBundle(handlers, cwd);
    },
  };
}
