/** Deletion of all that is listed. */
import { type Backend, type Call, jsonAnswer } from '../backend.js';
import type { ApiAnswer } from '../contracts/pipeline.js';
import { parseListOptions } from '../options.js';
import { StatusError } from '../status.js';
import { removeObject } from './delete.js';
import { readDeleteOptions } from './delete-options.js';
import { listPage, pageText } from './list.js';

export async function removeCollection(backend: Backend, call: Call): Promise<ApiAnswer> {
  const options = await readDeleteOptions(backend, call);
  const page = listPage(backend, call, parseListOptions(call.query, false));
  for (const revision of page.revisions) {
    try {
      await removeObject(backend, { ...call, namespace: revision.namespace, name: revision.name }, options);
    } catch (error) {
      // Gone meanwhile is as good as deleted.
      if (!(error instanceof StatusError) || error.status.code !== 404) throw error;
    }
  }
  return jsonAnswer(200, pageText(call, page));
}
