/** What an account has asked of the server, by the server's own record of all requests. */
import { readFile } from 'node:fs/promises';

export interface AuditedRequest {
  readonly verb: string;
  /** As roles name it: `greetings/status`; empty for what is not a resource. */
  readonly resource: string;
  readonly group: string;
  readonly uri: string;
  readonly code: number;
}

interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly user?: { readonly username?: string };
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string; readonly apiGroup?: string };
  readonly responseStatus?: { readonly code?: number };
}

/** All that are answered, or have begun to be; so a watch is there as soon as it is accepted. */
export async function requestsOf(auditLog: string, username: string): Promise<readonly AuditedRequest[]> {
  const lines = (await readFile(auditLog, 'utf8')).split('\n');
  return lines
    .filter((line) => line.includes(`"${username}"`))
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter(({ user }) => user?.username === username)
    .map(({ verb, requestURI, objectRef, responseStatus }) => ({
      verb,
      resource: [objectRef?.resource, objectRef?.subresource].filter((part) => part !== undefined).join('/'),
      group: objectRef?.apiGroup ?? '',
      uri: requestURI,
      code: responseStatus?.code ?? 0,
    }));
}
