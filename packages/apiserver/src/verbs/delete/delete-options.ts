/** How to delete something: by the body of the request, or by its query. */
import { isMapping, type Mapping } from '@kopf-ts/core';
import type { Cause } from '../../contracts/objects.js';
import { integerOf, refuse, validateDryRun } from '../../http/query-options.js';
import { readData } from '../../http/request-bodies.js';
import { badRequest } from '../../http/status-errors.js';
import type { Backend, Call } from '../../routing/backend.js';
import { invalidValue, notSupported } from '../../text/field-causes.js';
import { DecodingError } from '../../typed/decode.js';
import { jsonTypeOf } from '../../typed/scalars.js';

export interface DeleteOptions {
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: 'Foreground' | 'Background' | 'Orphan' | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly dryRun: boolean;
  /** The old name for a policy: `false` promises to go on in the background. */
  readonly orphanDependents: boolean | undefined;
  readonly object: Readonly<Record<string, unknown>>;
}

const POLICIES = ['Foreground', 'Background', 'Orphan', 'nil'];

export async function readDeleteOptions(backend: Backend, call: Call): Promise<DeleteOptions> {
  const data = await readBody(backend, call);
  const raw = data ?? fromQuery(call.query);
  const dryRun = Array.isArray(raw.dryRun) ? raw.dryRun : [];
  const { propagationPolicy: policy, orphanDependents } = raw;
  const causes: Cause[] = [];
  if (orphanDependents !== undefined && policy !== undefined) {
    causes.push(
      invalidValue('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'),
    );
  }
  if (policy !== undefined && !(POLICIES.slice(0, 3) as unknown[]).includes(policy)) {
    causes.push(notSupported('propagationPolicy', policy, POLICIES));
  }
  refuse('DeleteOptions', [...causes, ...validateDryRun(dryRun)]);
  const preconditions = isMapping(raw.preconditions) ? raw.preconditions : {};
  return {
    gracePeriodSeconds: typeof raw.gracePeriodSeconds === 'number' ? raw.gracePeriodSeconds : undefined,
    propagationPolicy: (policy ?? fromOrphans(orphanDependents)) as DeleteOptions['propagationPolicy'],
    uid: typeof preconditions.uid === 'string' ? preconditions.uid : undefined,
    resourceVersion: typeof preconditions.resourceVersion === 'string' ? preconditions.resourceVersion : undefined,
    dryRun: dryRun.length > 0,
    orphanDependents: typeof orphanDependents === 'boolean' ? orphanDependents : undefined,
    object: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', ...raw },
  };
}

function fromOrphans(orphanDependents: unknown): string | undefined {
  if (typeof orphanDependents !== 'boolean') return undefined;
  return orphanDependents ? 'Orphan' : 'Background';
}

async function readBody({ decode }: Backend, call: Call): Promise<Mapping | undefined> {
  let data: unknown;
  try {
    data = await readData(call.request);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw badRequest(`couldn't get version/kind; json parse error: ${error.message}`);
  }
  if (data === undefined || data === null) return undefined;
  if (!isMapping(data))
    throw badRequest(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonTypeOf(data)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    );
  const { apiVersion = 'meta.k8s.io/v1', kind = 'DeleteOptions' } = data;
  if (kind !== 'DeleteOptions') {
    throw badRequest(
      `no kind "${String(kind)}" is registered for version "${String(apiVersion)}" in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  try {
    return decode('meta.DeleteOptions', data).object;
  } catch (error) {
    throw error instanceof DecodingError ? badRequest(error.message) : error;
  }
}

function fromQuery(query: URLSearchParams): Mapping {
  const raw: Mapping = {};
  const gracePeriodSeconds = integerOf(query, 'gracePeriodSeconds');
  if (gracePeriodSeconds !== undefined) raw.gracePeriodSeconds = gracePeriodSeconds;
  const policy = query.get('propagationPolicy');
  if (policy !== null) raw.propagationPolicy = policy;
  const orphans = query.get('orphanDependents');
  if (orphans !== null) raw.orphanDependents = orphans !== 'false' && orphans !== '0';
  const dryRun = query.getAll('dryRun');
  if (dryRun.length > 0) raw.dryRun = dryRun;
  const preconditions = Object.fromEntries(
    ['uid', 'resourceVersion'].filter((name) => query.has(name)).map((name) => [name, query.get(name)]),
  );
  if (Object.keys(preconditions).length > 0) raw.preconditions = preconditions;
  return raw;
}
