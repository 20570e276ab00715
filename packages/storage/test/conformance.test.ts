import type { DiffBaseStorage, ProgressStorage } from '@kopf-ts/core';
import { testDiffBaseStorage, testProgressStorage } from '@kopf-ts/testing';
import { describe, it } from 'vitest';
import {
  annotationsDiffBaseStorage,
  annotationsProgressStorage,
  multiDiffBaseStorage,
  multiProgressStorage,
  smartProgressStorage,
  statusDiffBaseStorage,
  statusProgressStorage,
} from '../src/index.js';

const prefix = 'op.example.com';

describe.each<[string, () => ProgressStorage]>([
  ['in annotations', () => annotationsProgressStorage()],
  ['in annotations with a prefix that is to be marked', () => annotationsProgressStorage({ prefix })],
  ['in annotations, verbosely', () => annotationsProgressStorage({ verbose: true })],
  ['in annotations of the current format only', () => annotationsProgressStorage({ v1: false })],
  ['in the status', () => statusProgressStorage()],
  [
    'in fields of choice',
    () => statusProgressStorage({ field: 'status.a.b', touchField: ['metadata', 'labels', 'x.y'] }),
  ],
  ['in both', () => multiProgressStorage([statusProgressStorage(), annotationsProgressStorage()])],
  ['by default', () => smartProgressStorage()],
])('progress %s', (_, create) => {
  testProgressStorage(create, { describe, it });
});

describe.each<[string, () => ProgressStorage]>([
  ['in annotations', () => annotationsProgressStorage({ compat: 'kopf' })],
  ['in the status', () => statusProgressStorage({ compat: 'kopf' })],
])('progress %s, exactly as Kopf keeps it', (_, create) => {
  testProgressStorage(create, { describe, it }, { keepsDigests: false });
});

describe.each<[string, () => DiffBaseStorage]>([
  ['in annotations', () => annotationsDiffBaseStorage()],
  ['in annotations with a prefix that is to be marked', () => annotationsDiffBaseStorage({ prefix })],
  [
    'in annotations with a prefix that is neither marked nor known',
    () => annotationsDiffBaseStorage({ prefix: 'kopf.dev' }),
  ],
  ['in the status', () => statusDiffBaseStorage()],
  ['in a field of choice', () => statusDiffBaseStorage({ field: ['status', 'x.y'] })],
  ['in both', () => multiDiffBaseStorage([annotationsDiffBaseStorage(), statusDiffBaseStorage()])],
  [
    'in both, the other way round',
    () => multiDiffBaseStorage([statusDiffBaseStorage(), annotationsDiffBaseStorage({ prefix })]),
  ],
])('the last handled state %s', (_, create) => {
  testDiffBaseStorage(create, { describe, it });
});

describe.each<[string, () => DiffBaseStorage]>([
  ['in annotations', () => annotationsDiffBaseStorage({ compat: 'kopf' })],
  ['in the status', () => statusDiffBaseStorage({ compat: 'kopf' })],
])('the last handled state %s, exactly as Kopf keeps it', (_, create) => {
  testDiffBaseStorage(create, { describe, it }, { secrets: 'plain', anySize: false });
});
