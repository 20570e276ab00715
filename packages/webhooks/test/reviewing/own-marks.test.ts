import { type AnyObject, deepCopy, Patch, type Settings } from '@kopf-ts/core';
import { applyMergePatch, blockDeletion } from '@kopf-ts/core/engine';
import {
  annotationsDiffBaseStorage,
  annotationsProgressStorage,
  statusDiffBaseStorage,
  statusProgressStorage,
} from '@kopf-ts/storage';
import { describe, expect, it } from 'vitest';
import { objectOf, reviewed, settingsWithStorages } from './reviewed.js';

const FINALIZER = 'kopf.zalando.org/KopfFinalizerMarker';

/** Whether a strict handler gets to see the update. */
async function isSeen(oldObject: AnyObject, object: AnyObject, settings?: Settings, operation = 'UPDATE') {
  let calls = 0;
  const { ask } = reviewed(
    ({ on }) =>
      on.validate('kopfexamples', { id: 'strict', subresource: '*' }, () => {
        calls++;
        throw new Error('This object is wrong, and always was.');
      }),
    { ...(settings && { settings }) },
  );
  const { allowed } = await ask({ operation, object, oldObject });
  expect(allowed).toBe(calls === 0);
  return calls > 0;
}

function changed(object: AnyObject, change: (object: AnyObject) => void): AnyObject {
  const copy = deepCopy(object);
  change(copy);
  // As the API server would.
  copy.metadata = { ...copy.metadata, resourceVersion: '2', generation: 2, managedFields: [{ manager: 'x' }] };
  return copy;
}

const existing = objectOf({
  metadata: {
    name: 'one',
    namespace: 'ns1',
    uid: 'uid1',
    resourceVersion: '1',
    generation: 1,
    labels: { app: 'web' },
    annotations: { note: 'x' },
    finalizers: ['others/finalizer'],
  },
  status: { phase: 'ok' },
});
const bare = objectOf();

/** What the storages themselves write for a handler and for its last handled state. */
async function handled(object: AnyObject, { persistence }: Settings): Promise<AnyObject> {
  const patch = new Patch();
  const record = { started: '2020-01-01T00:00:00+00:00', retries: 1 };
  await persistence.progressStorage?.store({ key: 'fn', record, body: object, patch });
  await persistence.progressStorage?.touch({ value: 'now', body: object, patch });
  await persistence.diffbaseStorage?.store({ essence: { spec: {} }, body: object, patch });
  return changed(object, (copy) => applyMergePatch(copy, patch.merge));
}

function settingsWith(persistence: Partial<Settings['persistence']>): Settings {
  const settings = settingsWithStorages();
  Object.assign(settings.persistence, persistence);
  return settings;
}

describe('our own marks are not for the handlers:', () => {
  it.each([existing, bare])('the finalizer, put on and taken off', async (object) => {
    const blocked = changed(object, blockDeletion(FINALIZER));
    expect(blocked.metadata?.finalizers).toContain(FINALIZER);
    expect(await isSeen(object, blocked)).toBe(false);
    expect(await isSeen(blocked, object)).toBe(false);
  });

  it('the finalizer of another name, if the settings say so', async () => {
    const settings = settingsWith({ finalizer: 'mine/finalizer' });
    expect(await isSeen(existing, changed(existing, blockDeletion('mine/finalizer')), settings)).toBe(false);
    expect(await isSeen(existing, changed(existing, blockDeletion(FINALIZER)), settings)).toBe(true);
  });

  it.each<[string, Partial<Settings['persistence']>]>([
    ['the usual storages', {}],
    [
      'annotations of their own prefixes',
      {
        progressStorage: annotationsProgressStorage({ prefix: 'progress.example.com' }),
        diffbaseStorage: annotationsDiffBaseStorage({ prefix: 'diffbase.example.com' }),
      },
    ],
    [
      'the status',
      {
        progressStorage: statusProgressStorage(),
        diffbaseStorage: statusDiffBaseStorage(),
      },
    ],
  ])('the progress and the last handled state, in %s', async (_title, persistence) => {
    const settings = settingsWith(persistence);
    for (const object of [existing, bare]) {
      const written = await handled(object, settings);
      expect(await isSeen(object, written, settings)).toBe(false);
      expect(await isSeen(written, object, settings)).toBe(false);
    }
  });

  it('all of them at once', async () => {
    const settings = settingsWithStorages();
    const written = changed(await handled(bare, settings), blockDeletion(FINALIZER));
    expect(await isSeen(bare, written, settings)).toBe(false);
  });

  it('and are not mutated, either', async () => {
    const { ask } = reviewed(({ on }) =>
      on.mutate('kopfexamples', function fn({ patch }) {
        patch.spec.touched = true;
      }),
    );
    const object = changed(existing, blockDeletion(FINALIZER));
    expect(await ask({ operation: 'UPDATE', object, oldObject: existing })).toEqual({
      uid: 'review-uid',
      allowed: true,
    });
  });

  it('which is told when debugging', async () => {
    const { ask, logger } = reviewed();
    await ask({ operation: 'UPDATE', object: changed(existing, blockDeletion(FINALIZER)), oldObject: existing });
    expect(logger.find('our own marks')?.level).toBe('debug');
  });
});

describe('all else is for the handlers:', () => {
  it.each<[string, (object: AnyObject) => void]>([
    ['the spec', (object) => (object.spec.field = 'other')],
    ['a new stanza', (object) => (object.data = {})],
    ['the status', (object) => (object.status = { phase: 'bad' })],
    ['a label', (object) => (object.metadata = { ...object.metadata, labels: { app: 'db' } })],
    ['an annotation', (object) => (object.metadata = { ...object.metadata, annotations: { note: 'y' } })],
    [
      'an annotation of another operator',
      (object) => Object.assign(object.metadata?.annotations ?? {}, { 'other.kopf.zalando.org/fn': '{}' }),
    ],
    [
      'the last applied state of kubectl',
      (object) =>
        Object.assign(object.metadata?.annotations ?? {}, { 'kubectl.kubernetes.io/last-applied-configuration': '{}' }),
    ],
    ['a finalizer of others', (object) => (object.metadata = { ...object.metadata, finalizers: ['another/one'] })],
    ['the owners', (object) => (object.metadata = { ...object.metadata, ownerReferences: [{ name: 'x' }] })],
    ['the name', (object) => (object.metadata = { ...object.metadata, name: 'other' })],
    ['the prefix of the name', (object) => (object.metadata = { ...object.metadata, generateName: 'x' })],
    ['the namespace', (object) => (object.metadata = { ...object.metadata, namespace: 'other' })],
    ['the uid', (object) => (object.metadata = { ...object.metadata, uid: 'other' })],
    ['the deletion', (object) => (object.metadata = { ...object.metadata, deletionTimestamp: '2020-01-01T00:00:00Z' })],
  ])('%s, alone or with our marks', async (_title, change) => {
    const alone = changed(existing, change);
    expect(await isSeen(existing, alone)).toBe(true);
    expect(await isSeen(existing, changed(alone, blockDeletion(FINALIZER)))).toBe(true);
    expect(await isSeen(changed(existing, blockDeletion(FINALIZER)), alone)).toBe(true);
  });

  it.each([
    ['a switch', 'true'],
    ['a setting', '{"retries":1}'],
    ['a record with something else in it', '{"started":"2020-01-01T00:00:00+00:00","allow":"all"}'],
  ])('an annotation of our own prefix that is not of the storages: %s', async (_title, value) => {
    const settings = settingsWith({ progressStorage: annotationsProgressStorage({ prefix: 'op.example.com' }) });
    const set = (text: string) => (object: AnyObject) =>
      Object.assign(object.metadata?.annotations ?? {}, { 'op.example.com/unlocked': text });
    const unlocked = changed(existing, set(value));
    expect(await isSeen(existing, unlocked, settings)).toBe(true);
    expect(await isSeen(unlocked, existing, settings)).toBe(true);
    expect(await isSeen(unlocked, changed(existing, set('false')), settings)).toBe(true);
    expect(await isSeen(existing, changed(unlocked, blockDeletion(FINALIZER)), settings)).toBe(true);
    // While all the rest of what is there under this prefix still is ours.
    expect(await isSeen(unlocked, await handled(unlocked, settings), settings)).toBe(false);
  });

  it('a field beside the records in the status', async () => {
    const settings = settingsWith({ progressStorage: statusProgressStorage({ field: 'status.op' }) });
    const unlocked = changed(existing, (object) => Object.assign(object.status, { op: { unlocked: true } }));
    expect(await isSeen(existing, unlocked, settings)).toBe(true);
    expect(await isSeen(unlocked, await handled(unlocked, settings), settings)).toBe(false);
  });

  it('an update that changes nothing', async () => {
    expect(await isSeen(existing, existing)).toBe(true);
    expect(
      await isSeen(
        existing,
        changed(existing, () => {}),
      ),
    ).toBe(true);
  });

  it.each(['CREATE', 'DELETE', 'CONNECT'])('any other operation: %s', async (operation) => {
    expect(await isSeen(existing, changed(existing, blockDeletion(FINALIZER)), undefined, operation)).toBe(true);
  });

  it('everything, if all has to be as in Kopf', async () => {
    const settings = settingsWith({ compat: 'kopf' });
    expect(await isSeen(existing, changed(existing, blockDeletion(FINALIZER)), settings)).toBe(true);
  });

  it('our marks in a storage that does not know them', async () => {
    const { clear: _, ...unclear } = annotationsDiffBaseStorage({ prefix: 'diffbase.example.com' });
    const settings = settingsWith({ diffbaseStorage: unclear });
    expect(await isSeen(existing, await handled(existing, settings), settings)).toBe(true);
  });

  it('where there are no storages at all', async () => {
    const settings = settingsWith({ progressStorage: undefined, diffbaseStorage: undefined });
    expect(await isSeen(existing, changed(existing, blockDeletion(FINALIZER)), settings)).toBe(false);
    expect(
      await isSeen(
        existing,
        changed(existing, (object) => (object.status = {})),
        settings,
      ),
    ).toBe(true);
  });
});
