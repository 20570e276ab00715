import type { Body } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import {
  annotationsDiffBaseStorage,
  annotationsProgressStorage,
  statusDiffBaseStorage,
  statusProgressStorage,
} from '../src/index.js';

async function reported<T>(fetch: (malformed: (problem: string) => void) => T | Promise<T>): Promise<string[]> {
  const problems: string[] = [];
  const result = await fetch((problem) => void problems.push(problem));
  expect(result).toBeUndefined();
  return problems;
}

const RECORD = 'Annotation "kopf.zalando.org/fn" is not a progress record:';

describe('a malformed progress record', () => {
  it.each<[unknown, string]>([
    ['', 'it is not JSON'],
    ['hunter2', 'it is not JSON'],
    ['{"retries":1', 'it is not JSON'],
    ['[]', 'its JSON is a list, not an object'],
    ['"text"', 'its JSON is a string, not an object'],
    ['42', 'its JSON is a number, not an object'],
    [42, 'it is a number, not a string'],
    ['{"started":1}', 'its field "started" is a number, not a timestamp'],
    ['{"stopped":"soon"}', 'its field "stopped" is not a timestamp'],
    ['{"delayed":"2020-13-01T00:00:00"}', 'its field "delayed" is not a timestamp'],
    ['{"delayed":"2020-12-01T00:00:00+00:00; rm"}', 'its field "delayed" is not a timestamp'],
    ['{"purpose":{}}', 'its field "purpose" is an object, not a string'],
    ['{"retries":"1"}', 'its field "retries" is not a number of attempts'],
    ['{"retries":-1}', 'its field "retries" is not a number of attempts'],
    ['{"retries":1.5}', 'its field "retries" is not a number of attempts'],
    ['{"success":1}', 'its field "success" is a number, not true or false'],
    ['{"failure":"no"}', 'its field "failure" is a string, not true or false'],
    ['{"message":[]}', 'its field "message" is a list, not a string'],
    ['{"subrefs":"a"}', 'its field "subrefs" is not a list of ids'],
    ['{"subrefs":["a",1]}', 'its field "subrefs" is not a list of ids'],
    ['{"digest":{}}', 'its field "digest" is an object, not a string'],
  ])('in an annotation is told of: %j', async (text, problem) => {
    const body = { metadata: { annotations: { 'kopf.zalando.org/fn': text } } } as Body;
    const problems = await reported((malformed) => annotationsProgressStorage().fetch({ key: 'fn', body, malformed }));
    expect(problems).toEqual([`${RECORD} ${problem}.`]);
  });

  it('is told of once for each annotation', async () => {
    const storage = annotationsProgressStorage({ prefix: 'op' });
    const key = 'x'.repeat(64);
    const annotations = { [`op/${'x'.repeat(56)}-SItAqA`]: '[', [`op/${'x'.repeat(53)}-SItAqA`]: ']' };
    const problems = await reported((malformed) =>
      storage.fetch({ key, body: { metadata: { annotations } }, malformed }),
    );
    expect(problems).toHaveLength(2);
    expect(new Set(problems).size).toBe(2);
  });

  it.each<[string, unknown, string]>([
    ['a record', { fn: 'text' }, 'it is a string, not an object'],
    ['a list', { fn: [] }, 'it is a list, not an object'],
    ['a field', { fn: { retries: true } }, 'its field "retries" is not a number of attempts'],
    ['all records', 'text', 'the field is a string, not an object'],
  ])('in the status is told of: %s', async (_, progress, problem) => {
    const body: Body = { status: { kopf: { progress } } };
    const problems = await reported((malformed) => statusProgressStorage().fetch({ key: 'fn', body, malformed }));
    expect(problems).toEqual([`Field "status.kopf.progress" has no progress record of handler "fn": ${problem}.`]);
  });

  it('is not told of where it is nothing but null', async () => {
    const body: Body = { metadata: { annotations: { 'kopf.zalando.org/fn': 'null' } } };
    expect(await reported((malformed) => annotationsProgressStorage().fetch({ key: 'fn', body, malformed }))).toEqual(
      [],
    );
  });
});

describe('a malformed last handled state', () => {
  it.each<[string, string, string]>([
    ['last-handled-configuration', 'hunter2', 'it is not JSON'],
    ['last-handled-configuration', '[]', 'its JSON is a list, not an object'],
    ['last-handled-configuration-gzip', 'hunter2', 'it cannot be unpacked'],
    ['last-handled-configuration-gzip', '', 'it cannot be unpacked'],
    ['last-handled-configuration-digest', 'hunter2', 'it is not JSON'],
    ['last-handled-configuration-digest', '{}', 'it has no digest'],
    ['last-handled-configuration-digest', '{"digest":"hunter2"}', 'it has no digest'],
  ])('in annotation %s is told of, without its text: %j', async (name, text, problem) => {
    const body: Body = { metadata: { annotations: { [`kopf.zalando.org/${name}`]: text } } };
    const problems = await reported((malformed) => annotationsDiffBaseStorage().fetch({ body, malformed }));
    expect(problems).toEqual([`Annotation "kopf.zalando.org/${name}" is not a last handled state: ${problem}.`]);
  });

  it.each<[unknown, string]>([
    ['hunter2', 'it is not JSON'],
    ['"text"', 'its JSON is a string, not an object'],
    [{ spec: 'hunter2' }, 'it is an object, not a string'],
  ])('in the status is told of, without its text: %j', async (text, problem) => {
    const body: Body = { status: { kopf: { 'last-handled-configuration': text } } };
    const problems = await reported((malformed) => statusDiffBaseStorage().fetch({ body, malformed }));
    expect(problems).toEqual([
      `Field "status.kopf.last-handled-configuration" is not a last handled state: ${problem}.`,
    ]);
  });

  it.each(['null', ' null\n'])('is not told of where it is nothing but %j', async (text) => {
    const annotations = { 'kopf.zalando.org/last-handled-configuration': text };
    const body: Body = { metadata: { annotations }, status: { kopf: { 'last-handled-configuration': text } } };
    expect(await reported((malformed) => annotationsDiffBaseStorage().fetch({ body, malformed }))).toEqual([]);
    expect(await reported((malformed) => statusDiffBaseStorage().fetch({ body, malformed }))).toEqual([]);
  });
});
