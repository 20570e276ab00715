/** Helm as a command, and those parts of a cluster that it waits for. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { AnyObject } from '@kopf-ts/core';
import { onTestFinished } from 'vitest';
import type { Server } from '../support/servers.js';

/** What is asked for, and what comes: the output, the complaints, the exit code. */
export interface Said {
  readonly out: string;
  readonly error: string;
  readonly code: number;
}

export type Helm = (args: readonly string[]) => Promise<Said>;

/** With a home of its own: repositories and caches of the user are none of its business. */
export async function helmOn(path: string, { kubeconfig }: Server, namespace: string): Promise<Helm> {
  const home = await mkdtemp(join(tmpdir(), 'kopf-ts-helm-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const env = {
    ...process.env,
    KUBECONFIG: kubeconfig,
    HELM_NAMESPACE: namespace,
    HELM_CACHE_HOME: join(home, 'cache'),
    HELM_CONFIG_HOME: join(home, 'config'),
    HELM_DATA_HOME: join(home, 'data'),
  };
  return (args) =>
    new Promise((resolve) => {
      execFile(path, [...args], { env, maxBuffer: 2 ** 26, timeout: 180_000 }, (failure, out, error) =>
        resolve({ out, error, code: failure === null ? 0 : Number(failure.code ?? -1) }),
      );
    });
}

/** Without controllers and nodes, nobody else would: jobs complete and pods succeed as soon as they are seen. */
export function completeEverything({ client }: Server, namespace: string): void {
  const stopping = new AbortController();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await completeJobs();
      await completePods();
      await pause(100);
    }
  })();
  onTestFinished(async () => {
    stopping.abort();
    await running;
  });

  async function completeJobs(): Promise<void> {
    const path = `/apis/batch/v1/namespaces/${namespace}/jobs`;
    const now = new Date().toISOString().replace(/\.\d+/, '');
    const done = (type: string) => ({ type, status: 'True', lastProbeTime: now, lastTransitionTime: now });
    const conditions = [done('SuccessCriteriaMet'), done('Complete')];
    const status = { startTime: now, completionTime: now, succeeded: 1, conditions };
    for (const job of await listed(path)) {
      if (job['status']?.['completionTime'] === undefined) await patchStatus(`${path}/${job.metadata?.name}`, status);
    }
  }

  async function completePods(): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/pods`;
    for (const pod of await listed(path)) {
      const name = `${path}/${pod.metadata?.name}`;
      if (pod['status']?.['phase'] === 'Pending') await patchStatus(name, { phase: 'Succeeded' });
    }
  }

  async function listed(path: string): Promise<readonly StatusHolder[]> {
    return (await client.request<{ items: StatusHolder[] }>({ method: 'GET', path })).items;
  }

  /** Those that are deleted in between need no status any more. */
  async function patchStatus(path: string, status: object): Promise<void> {
    const contentType = 'application/merge-patch+json';
    await client.request({ method: 'PATCH', path: `${path}/status`, contentType, body: { status } }).catch(() => {});
  }
}

type StatusHolder = AnyObject & { readonly status?: Readonly<Record<string, unknown>> };
