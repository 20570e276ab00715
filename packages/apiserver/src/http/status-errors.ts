/** Errors as Kubernetes words them: `Status` objects, thrown as `StatusError` and turned into answers by the gateway. */
import type { Cause } from '../contracts/objects.js';
import { goQuote } from '../text/go-text.js';

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: readonly Cause[];
  retryAfterSeconds?: number;
}

export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: Record<string, unknown>;
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
}

/** A refusal. It carries the whole answer; there is nothing else to tell. */
export class StatusError extends Error {
  readonly status: Status;
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    code: number,
    reason: string,
    message: string,
    details?: StatusDetails,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason === '' ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    };
    this.headers = headers;
  }
}

/** What a refused object is called: `pods "x" not found`, `deployments.apps "x" already exists`. */
export interface Qualified {
  readonly group: string;
  readonly plural: string;
}

const qualified = ({ group, plural }: Qualified): string => (group === '' ? plural : `${plural}.${group}`);
const detailsOf = ({ group, plural }: Qualified, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name }),
  ...(group === '' ? {} : { group }),
  kind: plural,
});

export const notFound = (resource: Qualified, name: string): StatusError =>
  new StatusError(404, 'NotFound', `${qualified(resource)} ${goQuote(name)} not found`, detailsOf(resource, name));

/** Of a path that leads nowhere, as opposed to an object that is not there. */
export const noSuchResource = (): StatusError =>
  new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});

export const alreadyExists = (resource: Qualified, name: string, isDeleting = false): StatusError =>
  new StatusError(
    409,
    'AlreadyExists',
    `${isDeleting ? 'object is being deleted: ' : ''}${qualified(resource)} ${goQuote(name)} already exists`,
    detailsOf(resource, name),
  );

export const conflict = (resource: Qualified, name: string, why: string): StatusError =>
  new StatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(resource)} ${goQuote(name)}: ${why}`,
    detailsOf(resource, name),
  );

export const OBJECT_MODIFIED =
  'the object has been modified; please apply your changes to the latest version and try again';

export const forbidden = (resource: Qualified, name: string, why: string, causes?: readonly Cause[]): StatusError =>
  new StatusError(403, 'Forbidden', `${qualified(resource)} ${goQuote(name)} is forbidden: ${why}`, {
    ...detailsOf(resource, name),
    ...(causes === undefined ? {} : { causes }),
  });

export const badRequest = (message: string): StatusError => new StatusError(400, 'BadRequest', message);

export const unauthorized = (): StatusError => new StatusError(401, 'Unauthorized', 'Unauthorized');

export const expired = (message: string): StatusError => new StatusError(410, 'Expired', message);

export const internalError = (message: string): StatusError =>
  new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, {
    causes: [{ message } as Cause],
  });

/** An object that is understood, but not acceptable. `kind` is the group and the kind of the object. */
export function invalid(kind: { group: string; kind: string }, name: string, causes: readonly Cause[]): StatusError {
  const lines = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  const text = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  const title = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  return new StatusError(422, 'Invalid', `${title} ${goQuote(name)} is invalid: ${text}`, {
    ...(name === '' ? {} : { name }),
    ...(kind.group === '' ? {} : { group: kind.group }),
    ...(kind.kind === '' ? {} : { kind: kind.kind }),
    causes,
  });
}
