/** What the server has accepted, by its own record of all requests. */
import { readFile } from 'node:fs/promises';

export interface AuditedWrite {
  /** As whom. */
  readonly user: string;
  readonly verb: string;
  readonly resource: string;
  readonly name: string;
  readonly code: number;
  /** When the request came to the server, and when it was answered: in milliseconds of the wall clock. */
  readonly receivedAt: number;
  readonly answeredAt: number;
  /** Of the object after it: grows with each write to anything, as in etcd. */
  readonly version: bigint;
  // biome-ignore lint/suspicious/noExplicitAny: any object
  readonly object: any;
}

interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly user?: { readonly username?: string };
  readonly impersonatedUser?: { readonly username?: string };
  readonly objectRef?: { readonly resource?: string; readonly namespace?: string; readonly name?: string };
  readonly responseStatus?: { readonly code?: number };
  // biome-ignore lint/suspicious/noExplicitAny: any object
  readonly responseObject?: any;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

const WRITES = new Set(['create', 'update', 'patch', 'delete']);

/** All writes in the namespace that are answered, in the order of the log. */
export async function writesIn(auditLog: string, namespace: string): Promise<readonly AuditedWrite[]> {
  const lines = (await readFile(auditLog, 'utf8')).split('\n');
  return lines
    .filter((line) => line.includes(`"namespace":"${namespace}"`))
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter(({ stage, verb }) => stage === 'ResponseComplete' && WRITES.has(verb))
    .filter(({ objectRef }) => objectRef?.namespace === namespace)
    .map(({ user, impersonatedUser, verb, objectRef, responseStatus, responseObject, ...times }) => ({
      user: impersonatedUser?.username ?? user?.username ?? '',
      verb,
      resource: objectRef?.resource ?? '',
      name: objectRef?.name ?? '',
      code: responseStatus?.code ?? 0,
      receivedAt: Date.parse(times.requestReceivedTimestamp),
      answeredAt: Date.parse(times.stageTimestamp),
      version: BigInt(responseObject?.metadata?.resourceVersion ?? 0),
      object: responseObject,
    }));
}

export const isAccepted = ({ code }: AuditedWrite): boolean => code >= 200 && code < 300;
