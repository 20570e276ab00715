import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface Program {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Everything that it prints is appended here. */
  readonly logFile: string;
}

/** A running program, in a process group of its own. */
export interface Component {
  readonly name: string;
  readonly pid: number;
  /** Why it is not running any more, unless it was asked to stop; with the end of its log. */
  failure(): Error | undefined;
  /** Asks it to end, and insists after a while. Resolves when it is gone. */
  stop(how?: StopOptions): Promise<void>;
}

export interface StopOptions {
  /** As a crash or a power cut would: without a chance to say goodbye. */
  readonly abruptly?: boolean;
  /** How long a polite request may take. */
  readonly graceMs?: number;
}

export interface Supervisor {
  start(program: Program): Component;
  /** All at once, as they depend on each other; then the folder is removed. */
  stop(): Promise<void>;
}

/**
 * Runs programs that never outlive this process, however it ends: see watchdog.mjs.
 *
 * The programs and the watchdog do not keep this process alive either.
 */
export function supervise(folder: string): Supervisor {
  const watchdog = startWatchdog(folder);
  const components = new Set<Component>();
  return {
    start(program) {
      const component = startComponent(program, (line) => watchdog.stdin?.write(`${line}\n`));
      components.add(component);
      return component;
    },
    async stop() {
      await Promise.all([...components].map((component) => component.stop({ graceMs: 3_000 })));
      await gone(watchdog, () => watchdog.stdin?.end());
    },
  };
}

function startWatchdog(folder: string): ChildProcess {
  const script = fileURLToPath(new URL('watchdog.mjs', import.meta.url));
  const watchdog = spawn(process.execPath, [script, folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    // Whatever this process is run with (a debugger, a loader) is not for the watchdog.
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  letGo(watchdog);
  // Without a watchdog the programs would still be stopped, only not after a crash of ours.
  watchdog.on('error', () => {});
  watchdog.stdin?.on('error', () => {});
  return watchdog;
}

/** `unref` for a child with a pipe: the pipe alone would keep us alive, too. */
function letGo(child: ChildProcess): void {
  child.unref();
  (child.stdin as unknown as { unref?: () => void } | null)?.unref?.();
}

function startComponent({ name, command, args, logFile }: Program, tellWatchdog: (line: string) => void): Component {
  const log = openSync(logFile, 'a', 0o600);
  const child = spawn(command, args, { detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  child.unref();
  const { pid } = child;
  let stopping = false;
  let failure: Error | undefined;
  const failed = (how: string) => {
    if (!stopping) failure ??= new Error(`${name} ${how}; its log ends with:\n${tailOf(logFile)}`);
  };
  child.on('error', (error) => failed(`could not be started: ${error.message}`));
  child.on('exit', (code, signal) => {
    if (pid !== undefined) tellWatchdog(`-${pid}`);
    failed(`has ended with ${code ?? signal}`);
  });
  if (pid !== undefined) tellWatchdog(`+${pid}`);

  return {
    name,
    pid: pid ?? -1,
    failure: () => failure,
    async stop({ abruptly = false, graceMs = 10_000 } = {}) {
      stopping = true;
      await gone(child, () => signalGroup(pid, abruptly ? 'SIGKILL' : 'SIGTERM'), graceMs);
    },
  };
}

/** Starts an ending, and waits for it; the process counts as gone only when the system says so. */
async function gone(child: ChildProcess, end: () => void, graceMs = 10_000): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  end();
  const patience = new AbortController();
  const expired = pause(graceMs, 'expired' as const, { signal: patience.signal }).catch(() => undefined);
  if ((await Promise.race([ended, expired])) === 'expired') signalGroup(child.pid, 'SIGKILL');
  patience.abort();
  await ended;
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It is gone already.
  }
}

/** The last lines of a log: what one would look at first. */
export function tailOf(logFile: string, lines = 15): string {
  try {
    return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '(no log)';
  }
}
