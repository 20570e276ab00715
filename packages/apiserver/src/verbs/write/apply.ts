/** Server-side apply: the client says what it wants of an object, and manages that from then on. */
import { deepCopy, isMapping, type Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import type { ApiAnswer } from '../../contracts/request.js';
import { NO_MANAGERS } from '../../fields/managers.js';
import { type Applied, applied, MisfitError, managersAfter, type Writing } from '../../fields/tracking.js';
import { appliedProblems, misfits } from '../../fields/walks/applied-check.js';
import { parseWriteOptions, type WriteOptions } from '../../http/query-options.js';
import { readApplied } from '../../http/request-bodies.js';
import { badRequest, conflict, notFound, StatusError } from '../../http/status-errors.js';
import { type Backend, type Call, jsonAnswer } from '../../routing/backend.js';
import { DecodingError } from '../../typed/decode.js';
import { restoringProblem } from '../../typed/restoring.js';
import { change } from './changing.js';
import { appliedByKubectl, withLastApplied } from './client-side-apply.js';
import { createObject } from './create.js';
import { BEFORE, blankOf, managersOf, setManagers, withoutManagers, writingOf } from './field-managers.js';
import { checkName, settleNamespace } from './requested-object.js';

export async function apply(backend: Backend, call: Call): Promise<ApiAnswer> {
  const options = parseWriteOptions(call.query, 'PatchOptions', true);
  const { served, namespace, name, subresource } = call;
  const isNew = backend.store.get(served.collection, namespace, name) === undefined;
  const mayBeNew = subresource === '' || (subresource === 'status' && served.strategy.allowsCreateOnUpdate);
  if (isNew && !mayBeNew) throw notFound(served, name);
  const { configuration, duplicates } = await readConfiguration(call, served);
  const tellDuplicates = onceOnly(() => refuseDuplicates(call, options, duplicates));
  if (isNew) {
    const object = applyTo(backend, call, options, undefined, configuration);
    tellDuplicates();
    const { uid = '' } = object.metadata;
    if (uid !== '') {
      const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
      throw conflict(served, name, why);
    }
    // It is based on something that is no more: never mind.
    delete object.metadata.resourceVersion;
    return await createObject(backend, call, object, { ...options, object: asCreation(options) }, true);
  }
  const text = await change(backend, call, {
    options,
    build(current) {
      const object = applyTo(backend, call, options, current, configuration);
      // Whoever is in conflict with others is not told of that.
      tellDuplicates();
      return object;
    },
    track: () => {},
  });
  return jsonAnswer(200, text);
}

const asCreation = ({ object }: WriteOptions): WriteOptions['object'] => ({ ...object, kind: 'CreateOptions' });

/** Changes may be tried several times. */
function onceOnly(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) action();
    isDone = true;
  };
}

export function refuseDuplicates(call: Call, options: WriteOptions, duplicates: readonly string[]): void {
  if (options.fieldValidation === 'Warn') call.warnings.push(...duplicates);
  if (options.fieldValidation !== 'Strict' || duplicates.length === 0) return;
  const told = duplicates.map((problem) => `\n  ${problem}`).join('');
  throw badRequest(`error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:${told}`);
}

/** Reads what is applied, and refuses what is of another kind. */
export async function readConfiguration(
  call: Call,
  kind: { readonly apiVersion: string; readonly kind: string },
): Promise<{ readonly configuration: ServedObject; readonly duplicates: readonly string[] }> {
  const { data, duplicates } = await readApplied(call.request);
  const apiVersion = typeof data.apiVersion === 'string' ? data.apiVersion : '';
  const kindName = typeof data.kind === 'string' ? data.kind : '';
  if (apiVersion !== kind.apiVersion || kindName !== kind.kind) {
    const version = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
    // What is no version at all says nothing of the kind either.
    const isNone = version.split('/').length > 2;
    throw badRequest(`invalid object type: ${isNone ? '/, Kind=' : `${version}, Kind=${kindName}`}`);
  }
  return { configuration: data as ServedObject, duplicates };
}

/** The object as it should be, with its managers; the current one is not changed. */
function applyTo(
  backend: Backend,
  call: Call,
  options: WriteOptions,
  current: ServedObject | undefined,
  configuration: ServedObject,
): ServedObject {
  const { strategy } = call.served;
  const live = withoutManagers(current ?? blankOf(strategy));
  const known = current === undefined ? NO_MANAGERS : managersOf(current);
  const begin = (manager: string, operation: 'Apply' | 'Update', managers: typeof known): Writing =>
    writingOf(backend, call, { manager, operation }, live, managers);
  if (current !== undefined && known.length === 0) refuseUnmanageable(current, begin('', 'Update', known));
  // What was there before anybody was known to manage it, is managed by a stranger.
  const before = begin(BEFORE, 'Update', known);
  const managers =
    current === undefined || known.length > 0 ? known : managersAfter({ ...before, live: blankOf(strategy) }, live);
  const writing = begin(options.fieldManager, 'Apply', managers);
  refuseMisfit(configuration, writing);
  const result = fitting(() => appliedByKubectl(writing, configuration, options.force, applied));
  const object = decoded(call, result, live, configuration);
  setManagers(object, result.managers);
  withLastApplied(writing, object, configuration);
  checkName(call, object);
  settleNamespace(call, object);
  return object;
}

/** What nobody manages is given to a stranger; but that needs objects that can be understood. */
function refuseUnmanageable(current: ServedObject, { kind }: Writing): void {
  const [problem] = misfits(current, kind.type);
  if (problem === undefined) return;
  const why = `failed to convert new object (${titleOf(current)}) to smd typed: ${problem}`;
  throw new StatusError(500, '', `failed to create manager for existing fields: ${why}`);
}

/** As there: what does not fit into the version of another manager is told as it is. */
function fitting<Result>(action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    throw error instanceof MisfitError ? new StatusError(500, '', error.message) : error;
  }
}

export function refuseMisfit(configuration: ServedObject, { kind }: Writing): void {
  const { managedFields } = isMapping(configuration.metadata) ? configuration.metadata : {};
  if (managedFields !== undefined && managedFields !== null) throw badRequest('metadata.managedFields must be nil');
  const problems = appliedProblems(configuration, kind.type);
  if (problems.length === 0) return;
  const told = problems.length === 1 ? problems[0] : `errors:\n${problems.map((problem) => `  ${problem}`).join('\n')}`;
  throw new StatusError(500, '', `failed to create typed patch object (${titleOf(configuration)}): ${told}`);
}

/** `namespace/name; group/version, Kind=kind`. */
export function titleOf({ apiVersion, kind, metadata }: ServedObject): string {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  const { name, namespace }: Mapping = isMapping(metadata) ? metadata : {};
  const version = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  return `${text(namespace)}/${text(name)}; ${version}, Kind=${kind}`;
}

function decoded(call: Call, { object }: Applied, live: ServedObject, configuration: ServedObject): ServedObject {
  if (object === undefined) return deepCopy(live);
  const { strategy, type } = call.served;
  try {
    const problem = type === undefined ? undefined : restoringProblem(object, type);
    if (problem !== undefined) throw new DecodingError(problem);
    return (strategy.decodeApplied ?? strategy.decode)(deepCopy(object)).object;
  } catch (error) {
    if (!(error instanceof DecodingError)) throw error;
    const title = titleOf(configuration);
    // Built-in kinds are converted to what they are in the server.
    const kind = call.served.isCustom
      ? ''
      : `unable to convert unstructured object to ${title.slice(title.indexOf('; ') + 2)}: `;
    throw new StatusError(
      500,
      '',
      `failed to convert new object (${title}) to proper version: ${kind}${error.message}`,
    );
  }
}
