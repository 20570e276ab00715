/** Listing the objects of a kind, page by page. */
import { ApiGoneError } from '../errors.js';
import type { KubeClient, KubeRequest } from '../seams/client.js';
import { abortable } from '../sync/abort.js';
import { isMapping } from '../values/json.js';
import type { AnyObject } from '../values/objects/body.js';
import { type Resource, resourceUrl } from '../values/resources/resource.js';
import { checkedList, type KubeList } from './list-answers.js';

export interface ListOptions {
  /** Of all namespaces unless given. */
  readonly namespace?: string | null | undefined;
  /** Only the objects with these labels: `app=web,tier in (front, back)`. */
  readonly labelSelector?: string | undefined;
  /** Only the objects with these fields: usually, `metadata.name=<name>` for one of them. */
  readonly fieldSelector?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How many objects to ask for in one request; 0 for all of them. Default: 500. */
  readonly pageSize?: number | undefined;
  /** For callers with a retrying loop of their own; see the client. */
  readonly retries?: KubeRequest['retries'] | undefined;
  /**
   * Whether to ask for the next page while this one is being looked at: for callers that read all of them. A caller that
   * leaves earlier aborts the signal, so that the server does not send a page that nobody reads.
   */
  readonly readsAhead?: boolean | undefined;
}

export interface ListPage {
  readonly items: readonly AnyObject[];
  /** Of the list itself: usually, that of the items with `List` at the end. */
  readonly kind: string;
  /** Of the whole list, the same on all its pages: where to watch from. */
  readonly resourceVersion: string | undefined;
  /** The list begins here. If it begins for the second time, the pages before it have expired: forget them. */
  readonly isFirst: boolean;
}

const DEFAULT_PAGE_SIZE = 500;

/**
 * The list in pages, each requested when it is needed, or one page earlier if so wanted. A list that is read for too
 * long expires on the server: it begins again then, without pages this time, so that it cannot expire once more and go
 * on like this for ever. An answer that is not a list of this kind is an error (`KOPF_BAD_LIST`), not an empty list.
 */
export async function* listPages(
  client: KubeClient,
  resource: Resource,
  options: ListOptions = {},
): AsyncGenerator<ListPage, void, void> {
  const { signal, readsAhead = false } = options;
  let limit = options.pageSize ?? DEFAULT_PAGE_SIZE;
  let token: string | undefined;
  let ahead: Promise<KubeList> | undefined;
  for (;;) {
    const request: Promise<KubeList> = ahead ?? requestPage(client, resource, options, { limit, token });
    ahead = undefined;
    let list: KubeList;
    try {
      list = await abortable(request, signal);
    } catch (error) {
      if (!(error instanceof ApiGoneError) || token === undefined) throw error;
      limit = 0;
      token = undefined;
      continue;
    }
    const isFirst = token === undefined;
    token = list.metadata.continue;
    if (readsAhead && token !== undefined) {
      ahead = requestPage(client, resource, options, { limit, token });
      // Its failure is of interest when its turn comes, and not before.
      ahead.catch(() => {});
    }
    yield { kind: list.kind, items: itemsOf(list, resource), resourceVersion: list.metadata.resourceVersion, isFirst };
    if (token === undefined) return;
  }
}

async function requestPage(
  client: KubeClient,
  resource: Resource,
  { namespace, labelSelector, fieldSelector, signal, retries }: ListOptions,
  { limit, token }: { readonly limit: number; readonly token: string | undefined },
): Promise<KubeList> {
  const query = { labelSelector, fieldSelector, limit: limit > 0 ? limit : undefined, continue: token };
  const answer = await client.request({
    method: 'GET',
    path: resourceUrl(resource, { namespace, query }),
    ...(retries === undefined ? {} : { retries }),
    ...(signal === undefined ? {} : { signal }),
  });
  return checkedList(answer, resource);
}

/** The whole list at once. For kinds with few objects only; there is {@link listPages} for all others. */
export async function list(
  client: KubeClient,
  resource: Resource,
  options: ListOptions = {},
): Promise<{ items: AnyObject[]; resourceVersion: string | undefined }> {
  let items: AnyObject[] = [];
  let resourceVersion: string | undefined;
  for await (const page of listPages(client, resource, options)) {
    if (page.isFirst) items = [];
    for (const item of page.items) items.push(item);
    resourceVersion = page.resourceVersion;
  }
  return { items, resourceVersion };
}

/** The server does not repeat the kind in every item of a list; but handlers need it there. */
function itemsOf({ kind: ofList, apiVersion, items }: KubeList, resource: Resource): readonly AnyObject[] {
  const kind = resource.kind ?? ofList.replace(/List$/, '');
  // What is not an object cannot be completed; the reader of the list decides what to do with it.
  return items.map((item) =>
    isMapping(item) ? { kind, ...(apiVersion === undefined ? {} : { apiVersion }), ...item } : item,
  );
}
