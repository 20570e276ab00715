/** Replacement of objects, or of their subresources. */
import { deepCopy } from '@kopf-ts/core';
import type { ApiAnswer } from '../../contracts/request.js';
import { parseWriteOptions } from '../../http/query-options.js';
import { type Backend, type Call, jsonAnswer } from '../../routing/backend.js';
import { change, refuseUnreadableVersion, wrongUid } from './changing.js';
import { createObject } from './create.js';
import { checkName, readRequested, settleNamespace } from './requested-object.js';

export async function update(backend: Backend, call: Call): Promise<ApiAnswer> {
  const options = parseWriteOptions(call.query, 'UpdateOptions');
  const object = await readRequested(backend, call, options);
  settleNamespace(call, object);
  checkName(call, object);
  const { served, namespace, name, subresource } = call;
  const isNew = backend.store.get(served.collection, namespace, name) === undefined;
  if (isNew && served.strategy.allowsCreateOnUpdate && (subresource === '' || subresource === 'status')) {
    const { uid: expected = '' } = object.metadata;
    if (expected !== '') throw wrongUid(call, expected, '');
    refuseUnreadableVersion(object.metadata.resourceVersion);
    // It is based on something that is no more: never mind.
    delete object.metadata.resourceVersion;
    return await createObject(backend, call, object, options);
  }
  const { uid } = object.metadata;
  const text = await change(backend, call, {
    build: () => deepCopy(object),
    options,
    ...(uid === undefined || uid === '' ? {} : { uid }),
  });
  return jsonAnswer(200, text);
}
