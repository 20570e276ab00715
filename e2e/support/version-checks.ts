/**
 * Is it only a question for the current version of the server? After a trouble, streams ask for it, to notice a cluster
 * that was restored from a backup. It looks like a list, but is one object at most, and nothing of it is told of. Lists
 * in pages say nothing of versions, so that they are never taken for it.
 */
export function isVersionCheck(request: string): boolean {
  const query = new URLSearchParams(request.split('?', 2)[1] ?? '');
  return query.get('limit') === '1' && query.get('resourceVersion') === '' && query.get('watch') === null;
}
