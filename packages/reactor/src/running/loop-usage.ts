/** What this thread has done with its time: to tell an event loop that is held by us from one that others starve. */
import { performance } from 'node:perf_hooks';
import type { Seconds } from '@kopf-ts/core';

/** Totals since the start of the process; only differences of them mean anything. */
export interface LoopUsage {
  /** How long the loop had nothing to do, or had no CPU to notice that it has. */
  readonly idle: Seconds;
  /** How long it was computing. Of all threads of the process, where Node cannot tell them apart. */
  readonly cpu: Seconds;
  /** How often the CPU was taken away from it though it had something to compute. */
  readonly preemptions: number;
}

/** Of the current thread. Takes about a microsecond. */
export function loopUsage(): LoopUsage {
  const { userCPUTime, systemCPUTime, involuntaryContextSwitches } = process.resourceUsage();
  // Newer versions of Node know it for the thread alone.
  const { threadCpuUsage } = process as { threadCpuUsage?: () => NodeJS.CpuUsage };
  const { user, system } = threadCpuUsage?.call(process) ?? { user: userCPUTime, system: systemCPUTime };
  return {
    idle: performance.eventLoopUtilization().idle / 1000,
    cpu: (user + system) / 1e6,
    preemptions: involuntaryContextSwitches,
  };
}
