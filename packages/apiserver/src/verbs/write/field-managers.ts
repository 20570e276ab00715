/** The one place where writes and `metadata.managedFields` meet. */
import { deepEqual, type Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import type { ApiRequest } from '../../contracts/request.js';
import {
  type Identity,
  isReset,
  type ManagerEntry,
  NO_MANAGERS,
  NoManagersError,
  readManagers,
  settled,
} from '../../fields/managers.js';
import { resetsOf, STATUS } from '../../fields/reset-fields.js';
import { type FieldedKind, managersAfter, refuseMisfits, type Writing } from '../../fields/tracking.js';
import { convertedTo } from '../../http/object-encoding.js';
import { LONGEST_MANAGER, type WriteOptions } from '../../http/query-options.js';
import type { Served, Strategy } from '../../kinds/served.js';
import { type Backend, type Call, timestampOf } from '../../routing/backend.js';
import { fieldTypeOf } from '../../schemas/field-types.js';
import { isPrintable } from '../../text/go-text.js';

/** The stranger who manages what was there before anybody was known to. */
export const BEFORE = 'before-first-apply';

/** Who manages what a client writes: whom it names, or the program that it says it is. */
export function managerOf({ request }: Call, { fieldManager }: WriteOptions): string {
  return fieldManager === '' ? programOf(request) : fieldManager;
}

function programOf({ headers }: ApiRequest): string {
  let name = '';
  for (const char of (headers['user-agent'] ?? '').split('/')[0] as string) {
    if (!isPrintable(char)) continue;
    if (Buffer.byteLength(name + char) > LONGEST_MANAGER) break;
    name += char;
  }
  return name === '' ? 'unknown' : name;
}

/** What clients have given as managers, for the built-in kinds, where reading them loses it: an empty list. */
export function keepReset(call: Call, raw: Mapping, object: ServedObject): void {
  const { managedFields } = (raw.metadata ?? {}) as { managedFields?: unknown };
  if (!call.served.isCustom && isReset(managedFields)) object.metadata.managedFields = [{}];
}

/**
 * Sets the managers of an object that is about to replace the live one, or to be created. It must be complete and with
 * its defaults, but before anybody else has a say: what webhooks change is managed by nobody.
 */
export function trackManagers(
  backend: Backend,
  call: Call,
  options: WriteOptions,
  { object, live }: { readonly object: ServedObject; readonly live: ServedObject | undefined },
): void {
  if (call.served.strategy.isUnmanaged === true) {
    setManagers(object, NO_MANAGERS);
    return;
  }
  const managers = givenManagers(call, object, live);
  // Once nobody manages anything, only an application begins anew.
  if (live !== undefined && managers.length === 0) {
    setManagers(object, NO_MANAGERS);
    return;
  }
  const before = withoutManagers(live ?? blankOf(call.served.strategy));
  setManagers(object, NO_MANAGERS);
  const writing = writingOf(
    backend,
    call,
    { manager: managerOf(call, options), operation: 'Update' },
    before,
    managers,
  );
  try {
    if (call.served.isCustom) refuseMisfits(object, writing.kind.type);
    setManagers(object, managersAfter(writing, object));
  } catch {
    // As there: an object that cannot be understood is not refused for that; it may be later, or be managed by nobody.
    setManagers(object, NO_MANAGERS);
  }
}

interface NewKind {
  readonly typeName: string;
  readonly apiVersion: string;
  readonly subresource?: string;
}

/** Who manages what is answered and not kept. */
export function managersOfNew(
  { typeName, apiVersion, subresource = '' }: NewKind,
  request: ApiRequest,
  { live, object }: { readonly live: Mapping; readonly object: Mapping },
  now: Date,
): readonly ManagerEntry[] {
  const writing: Writing = {
    kind: { type: fieldTypeOf({ type: typeName }), resets: STATUS, inVersion: () => undefined },
    identity: { manager: programOf(request), operation: 'Update', apiVersion, subresource },
    live: live as ServedObject,
    managers: NO_MANAGERS,
    now: timestampOf(now),
  };
  return managersAfter(writing, object as ServedObject);
}

/** The same for what the server itself writes. */
export function trackOwnManager(
  backend: Backend,
  place: Pick<Call, 'served' | 'subresource'>,
  { object, live }: { readonly object: ServedObject; readonly live: ServedObject },
): void {
  const managers = managersOf(live);
  setManagers(object, NO_MANAGERS);
  const identity = { manager: 'kube-apiserver', operation: 'Update' } as const;
  setManagers(
    object,
    managers.length === 0
      ? managers
      : managersAfter(writingOf(backend, place, identity, withoutManagers(live), managers), object),
  );
}

/** For what is done on behalf of nobody. */
export function keepManagers(object: ServedObject, live: ServedObject): void {
  setManagers(object, managersOf(live));
}

/** Clients may write the managers themselves, unless by a subresource; what makes no sense is ignored. */
function givenManagers(call: Call, object: ServedObject, live: ServedObject | undefined): readonly ManagerEntry[] {
  const given: unknown = object.metadata.managedFields;
  if (call.subresource === '') {
    if (isReset(given)) return NO_MANAGERS;
    const read = given === undefined ? NO_MANAGERS : readSensible(given);
    if (read.length > 0) {
      const known = live === undefined ? NO_MANAGERS : managersOf(live);
      return deepEqual(read, known) ? known : settled(read);
    }
  }
  return live === undefined ? NO_MANAGERS : managersOf(live);
}

function readSensible(given: unknown): readonly ManagerEntry[] {
  try {
    return readManagers(given);
  } catch (error) {
    if (!(error instanceof NoManagersError)) throw error;
    return NO_MANAGERS;
  }
}

/** What webhooks have made of the managers stays, unless it makes no sense. */
export function settleManagers(call: Call, mutated: ServedObject, before: ServedObject): void {
  const given: unknown = mutated.metadata.managedFields;
  if (given === undefined || given === before.metadata.managedFields) return;
  try {
    readManagers(given);
  } catch (error) {
    if (!(error instanceof NoManagersError)) throw error;
    setManagers(mutated, managersOf(before));
    call.warnings.push(
      `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${error.message}`,
    );
  }
}

export function writingOf(
  backend: Backend,
  { served, subresource }: Pick<Call, 'served' | 'subresource'>,
  { manager, operation }: Pick<Identity, 'manager' | 'operation'>,
  live: ServedObject,
  managers: readonly ManagerEntry[],
): Writing {
  return {
    kind: fieldedKind(backend, served, subresource),
    identity: { manager, operation, apiVersion: served.apiVersion, subresource },
    live,
    managers,
    now: timestampOf(backend.clock.utc()),
  };
}

const types = new WeakMap<Served, ReturnType<typeof fieldTypeOf>>();

function typeOf(served: Served): ReturnType<typeof fieldTypeOf> {
  const known = types.get(served) ?? fieldTypeOf(served);
  types.set(served, known);
  return known;
}

function fieldedKind({ catalog }: Backend, served: Served, subresource: string): FieldedKind {
  return {
    type: typeOf(served),
    resets: resetsOf(served, subresource),
    inVersion(apiVersion) {
      const other = catalog
        .versionsOf(served.collection)
        .find((one) => one.apiVersion === apiVersion && one.group === served.group);
      if (other === undefined) return undefined;
      const convert = (object: ServedObject): ServedObject => convertedTo(object, served, other);
      return { type: typeOf(other), convert };
    },
  };
}

export function managersOf({ metadata }: ServedObject): readonly ManagerEntry[] {
  return (metadata.managedFields ?? NO_MANAGERS) as readonly ManagerEntry[];
}

export function setManagers({ metadata }: ServedObject, managers: readonly ManagerEntry[]): void {
  if (managers.length === 0) delete metadata.managedFields;
  else metadata.managedFields = managers;
}

export function withoutManagers(object: ServedObject): ServedObject {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _managers, ...metadata } = object.metadata;
  return { ...object, metadata };
}

const blanks = new WeakMap<Strategy, ServedObject>();

/** The object of a kind before it has anything. */
export function blankOf(strategy: Strategy): ServedObject {
  const known = blanks.get(strategy) ?? strategy.blank();
  blanks.set(strategy, known);
  return known;
}

/** Are they the same, but for the times of their managers? Then there is nothing to write. */
export function isUnchanged(object: ServedObject, old: ServedObject): boolean {
  if (!deepEqual(withoutManagers(object), withoutManagers(old))) return false;
  const [managers, before] = [managersOf(object), managersOf(old)];
  if (managers === before) return true;
  const timeless = ({ time: _time, ...entry }: ManagerEntry): Omit<ManagerEntry, 'time'> => entry;
  if (managers.length !== before.length) return false;
  return managers.every((entry) => before.some((one) => deepEqual(timeless(one), timeless(entry))));
}
