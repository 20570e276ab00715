/** Deletion of all that is listed. */

import type { ApiAnswer } from '../../contracts/request.js';
import { parseListOptions } from '../../http/query-options.js';
import { StatusError } from '../../http/status-errors.js';
import { type Backend, type Call, jsonAnswer } from '../../routing/backend.js';
import { listPage, pageText } from '../read/list.js';
import { removeObject, warnOfOrphans } from './delete.js';
import { readDeleteOptions } from './delete-options.js';

export async function removeCollection(backend: Backend, call: Call): Promise<ApiAnswer> {
  const options = await readDeleteOptions(backend, call);
  warnOfOrphans(call, options);
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
