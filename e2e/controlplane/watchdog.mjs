/**
 * Outlives whoever has started it, just long enough to clean up: `node watchdog.mjs <folder>`.
 *
 * Its standard input is a pipe from the process that runs the control plane. The system closes the pipe when that
 * process ends in whatever way: normally, by a signal that nobody handles, by a crash, by `kill -9`. Then all the
 * process groups that it was told of are killed, and the folder is removed.
 *
 * Lines: `+123` a group was started, `-123` it has ended.
 */
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [folder] = process.argv.slice(2);
const groups = new Set();

// A Ctrl-C in the terminal is meant for everyone there; the watchdog leaves when its work is done.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const group = Number(line.slice(1));
    if (line.startsWith('+')) groups.add(group);
    else groups.delete(group);
  })
  .on('close', () => {
    for (const group of groups) {
      try {
        process.kill(-group, 'SIGKILL');
      } catch {
        // It is gone already.
      }
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    process.exit(0);
  });
