/** The `scale` subresource: replicas of anything that has them, as one kind. */
import { isMapping, type Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../../contracts/objects.js';
import type { ApiAnswer } from '../../../contracts/request.js';
import { NOTHING } from '../../../fields/field-sets.js';
import type { ManagerEntry } from '../../../fields/managers.js';
import { SCALE_VERSION, scaleManagers } from '../../../fields/scale-fields.js';
import { applied, managersAfter, type Writing } from '../../../fields/tracking.js';
import { objectOf } from '../../../http/object-encoding.js';
import { parseWriteOptions, type WriteOptions } from '../../../http/query-options.js';
import { readObject, refuseUntyped } from '../../../http/request-bodies.js';
import { badRequest, internalError, invalid, notFound, StatusError } from '../../../http/status-errors.js';
import type { ScalePaths } from '../../../kinds/served.js';
import { type Backend, type Call, jsonAnswer, timestampOf } from '../../../routing/backend.js';
import { fieldTypeOf } from '../../../schemas/field-types.js';
import { formatSelector } from '../../../selectors/label-selector-objects.js';
import { invalidValue } from '../../../text/field-causes.js';
import { setValueAt, valueAt } from '../../../text/field-paths.js';
import { duplicateFields, firstOccurrences } from '../../../text/json-syntax.js';
import { DecodingError } from '../../../typed/decode.js';
import { find } from '../../read/get.js';
import type { Face } from '../admitting.js';
import { readConfiguration, refuseDuplicates, refuseMisfit, titleOf } from '../apply.js';
import { change } from '../changing.js';
import { BEFORE, managerOf, managersOf, setManagers } from '../field-managers.js';
import { isApplication, readApplicable, unreadable } from '../patch.js';
import { checkType } from '../requested-object.js';

export function getScale(backend: Backend, call: Call): ApiAnswer {
  const object = objectOf(call.served, find(backend, call));
  const paths = pathsOf(call);
  if (call.served.isCustom && valueAt(object, paths.specReplicas) === undefined) {
    throw internalError(`the spec replicas field "${paths.specReplicas}" does not exist`);
  }
  return jsonAnswer(200, JSON.stringify(scaleOf(object, paths)));
}

export async function updateScale(backend: Backend, call: Call): Promise<ApiAnswer> {
  const options = parseWriteOptions(call.query, 'UpdateOptions');
  const raw = await readScale(backend, call, options);
  const { name, uid } = isMapping(raw.metadata) ? raw.metadata : {};
  // What is patched has a name; what is sent should have one.
  refuseOtherName(call, { metadata: { name: name ?? '' } });
  return await changeScale(backend, call, options, () => raw, { uid: typeof uid === 'string' ? uid : '' });
}

/** What cannot be read is refused before anything is looked for. */
async function readScale(backend: Backend, call: Call, options: WriteOptions): Promise<Mapping> {
  const scale = { group: 'autoscaling', version: 'v1', apiVersion: SCALE_VERSION, kind: 'Scale' };
  try {
    const raw = await readObject(call.request, 'Scale');
    checkType(backend, { ...call, served: { ...call.served, ...scale, isCustom: false } }, raw);
    const { body } = call.request;
    const duplicates = typeof body === 'string' ? duplicateFields(body, raw) : [];
    if (duplicates.length > 0) {
      const first = firstOccurrences(body as string) as Mapping;
      refuseUntyped(call.request, first, 'Scale');
      backend.decode('autoscaling.Scale', first);
    }
    const { unknownFields } = backend.decode('autoscaling.Scale', raw);
    tellFields(call, options, [
      ...duplicates.map((path) => `duplicate field "${path}"`),
      ...unknownFields.map((path) => `unknown field "${path}"`),
    ]);
    return raw;
  } catch (error) {
    // As there: it does not know what it should have been.
    if (
      call.served.isCustom &&
      (error instanceof DecodingError || (error instanceof StatusError && error.status.code === 400))
    )
      throw badRequest('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"');
    throw error instanceof DecodingError ? unreadableScale(error) : error;
  }
}

function tellFields(call: Call, { fieldValidation }: WriteOptions, told: readonly string[]): void {
  if (fieldValidation === 'Warn') call.warnings.push(...told);
  if (fieldValidation === 'Strict' && told.length > 0) {
    throw new DecodingError(`strict decoding error: ${told.join(', ')}`);
  }
}

export async function patchScale(backend: Backend, call: Call): Promise<ApiAnswer> {
  if (isApplication(call)) return await applyScale(backend, call);
  const options = parseWriteOptions(call.query, 'PatchOptions');
  const apply = await readApplicable(backend, call);
  const refuse = (error: DecodingError, scale: Mapping): StatusError =>
    unreadable(JSON.stringify(scale), error.message);
  const check = (scale: Mapping): void => checkUnknownFields(backend, call, scale, options);
  return await changeScale(backend, call, options, (current) => apply(current).result, { refuse, check });
}

async function applyScale(backend: Backend, call: Call): Promise<ApiAnswer> {
  const options = parseWriteOptions(call.query, 'PatchOptions', true);
  const { configuration, duplicates } = await readConfiguration(call, { apiVersion: SCALE_VERSION, kind: 'Scale' });
  refuseDuplicates(call, options, duplicates);
  if (backend.store.get(call.served.collection, call.namespace, call.name) === undefined) {
    throw notFound(call.served, call.name);
  }
  const face = faceOf(backend, call);
  let after: readonly ManagerEntry[] = [];
  const text = await change(backend, call, {
    options,
    face,
    build(object) {
      const { writing: known, toParent } = scaleWriting(backend, call, options, object, 'Apply');
      if (call.served.isCustom && known.managers.length === 0) throw unmanageable();
      const stranger = { ...known.identity, manager: BEFORE, operation: 'Update' } as const;
      const blank = backend.decode('autoscaling.Scale', {}).object as ServedObject;
      const managers =
        known.managers.length > 0
          ? known.managers
          : managersAfter({ ...known, identity: stranger, live: blank }, known.live);
      const writing = { ...known, managers };
      refuseMisfit(configuration, writing);
      refuseOtherName(call, configuration);
      const result = applied(writing, configuration, options.force);
      if (call.served.isCustom && result.object !== undefined) throw unconvertible(configuration);
      after = toParent(result.managers);
      face.managers = { before: writing.managers, after: result.managers };
      return face.put(result.object ?? writing.live, object);
    },
    track: (object) => setManagers(object, after),
  });
  return jsonAnswer(200, JSON.stringify(face.of(JSON.parse(text) as ServedObject)));
}

/** A write of the scale of an object, as if the scale were an object of its own. */
function scaleWriting(
  backend: Backend,
  call: Call,
  options: WriteOptions,
  object: ServedObject,
  operation: 'Apply' | 'Update',
): { readonly writing: Writing; toParent(managers: readonly ManagerEntry[]): readonly ManagerEntry[] } {
  const paths = pathsOf(call);
  const { apiVersion, collection } = call.served;
  const pathIn = (version: string): string | undefined => {
    const known = backend.catalog.versionsOf(collection).find((one) => one.apiVersion === version);
    return known && (known.strategy.scale?.specReplicas ?? '');
  };
  const { managers, toParent } = scaleManagers(managersOf(object), pathIn, apiVersion);
  const { subresource } = call;
  const writing: Writing = {
    kind: { type: SCALE_TYPE, resets: NOTHING, inVersion: () => undefined },
    identity: { manager: managerOf(call, options), operation, apiVersion: SCALE_VERSION, subresource },
    live: scaleOf(object, paths),
    managers,
    now: timestampOf(backend.clock.utc()),
  };
  return { writing, toParent };
}

const SCALE_TYPE = fieldTypeOf({ type: 'autoscaling.Scale' });

function trackScale(
  backend: Backend,
  call: Call,
  options: WriteOptions,
  face: ScaleFace,
  { object, live }: { readonly object: ServedObject; readonly live: ServedObject },
): void {
  const { writing, toParent } = scaleWriting(backend, call, options, live, 'Update');
  // Once nobody manages the replicas, only an application begins anew.
  const managers =
    writing.managers.length === 0 ? writing.managers : managersAfter(writing, scaleOf(object, pathsOf(call)));
  face.managers = { before: writing.managers, after: managers };
  setManagers(object, toParent(managers));
}

/** As there: it takes the scale of a custom object for an object of that kind. */
const WRONG_VERSION = `to proper version: request to convert CR to an invalid group/version: ${SCALE_VERSION}`;

function unconvertible(scale: ServedObject): StatusError {
  return new StatusError(500, '', `failed to convert new object (${titleOf(scale)}) ${WRONG_VERSION}`);
}

/** The same where nobody was known to manage the replicas before. */
function unmanageable(): StatusError {
  const blank = titleOf({ apiVersion: SCALE_VERSION, kind: 'Scale', metadata: {} });
  const why = `failed to convert live object (${blank}) ${WRONG_VERSION}`;
  return new StatusError(500, '', `failed to create manager for existing fields: ${why}`);
}

function refuseOtherName(call: Call, scale: Mapping): void {
  const { name = call.name } = isMapping(scale.metadata) ? scale.metadata : {};
  if (name === null || name === '') {
    throw badRequest(`the name of the object (${call.name} based on URL) was undeterminable: name must be provided`);
  }
  if (name !== call.name) {
    throw badRequest(`the name of the object (${String(name)}) does not match the name on the URL (${call.name})`);
  }
}

const unreadableScale = (error: DecodingError): StatusError =>
  badRequest(`Scale in version "v1" cannot be handled as a Scale: ${error.message}`);

interface ScaleChecks {
  readonly uid?: string;
  refuse?(error: DecodingError, scale: Mapping): StatusError;
  check?(scale: Mapping): void;
}

async function changeScale(
  backend: Backend,
  call: Call,
  options: WriteOptions,
  build: (current: ServedObject) => unknown,
  { refuse = unreadableScale, check, uid = '' }: ScaleChecks = {},
): Promise<ApiAnswer> {
  const face = faceOf(backend, call);
  const text = await change(backend, call, {
    options,
    face,
    ...(uid === '' ? {} : { uid }),
    track: (object, live) => trackScale(backend, call, options, face, { object, live }),
    build(object) {
      const scale = face.of(object);
      setManagers(scale, scaleWriting(backend, call, options, object, 'Update').writing.managers);
      const wanted = build(scale);
      if (!isMapping(wanted)) throw badRequest('the scale is no object');
      refuseOtherName(call, wanted);
      try {
        check?.(wanted);
        return face.put(wanted, object);
      } catch (error) {
        throw error instanceof DecodingError ? refuse(error, wanted) : error;
      }
    },
  });
  return jsonAnswer(200, JSON.stringify(face.of(JSON.parse(text) as ServedObject)));
}

function checkUnknownFields(backend: Backend, call: Call, scale: Mapping, options: WriteOptions): void {
  const { unknownFields } = backend.decode('autoscaling.Scale', scale);
  const told = unknownFields.map((path) => `unknown field "${path}"`);
  tellFields(call, options, told);
}

interface ScaleFace extends Face {
  /** Who manages the replicas, as admission plugins see it. */
  managers?: { readonly before: readonly ManagerEntry[]; readonly after: readonly ManagerEntry[] };
}

/** Whatever is scaled, it looks like a `Scale`. */
function faceOf(backend: Backend, call: Call): ScaleFace {
  const paths = pathsOf(call);
  return {
    kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    of: (object) => scaleOf(object, paths),
    reviewed(object, isOld) {
      const scale = scaleOf(object, paths);
      const managers = isOld ? this.managers?.before : this.managers?.after;
      if (managers !== undefined) setManagers(scale, managers);
      return scale;
    },
    put(scale, object) {
      const { spec } = backend.decode('autoscaling.Scale', scale).object;
      const replicas = isMapping(spec) && typeof spec.replicas === 'number' ? spec.replicas : 0;
      if (replicas < 0 && !call.served.isCustom) {
        throw invalid({ group: 'autoscaling', kind: 'Scale' }, call.name, [
          invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0'),
        ]);
      }
      const { resourceVersion } = isMapping(scale.metadata) ? scale.metadata : {};
      if (typeof resourceVersion === 'string' && resourceVersion !== '')
        object.metadata.resourceVersion = resourceVersion;
      setValueAt(object, paths.specReplicas, replicas);
      // What holds the replicas may be new, and have defaults.
      if (call.served.isCustom) call.served.strategy.refresh?.(object);
      return object;
    },
  };
}

function pathsOf(call: Call): ScalePaths {
  return call.served.strategy.scale as ScalePaths;
}

function scaleOf(object: ServedObject, paths: ScalePaths): ServedObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = valueAt(object, paths.specReplicas);
  const selector = paths.labelSelector === undefined ? undefined : valueAt(object, paths.labelSelector);
  const selectorText = isMapping(selector) ? formatSelector(selector) : selector;
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: typeof replicas === 'number' && replicas !== 0 ? { replicas } : {},
    status: {
      replicas: Number(valueAt(object, paths.statusReplicas) ?? 0),
      ...(typeof selectorText === 'string' && selectorText !== '' ? { selector: selectorText } : {}),
    },
  };
}
