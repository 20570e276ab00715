/**
 * The default `KubeClient`: one request, one answer or one stream of lines, with logins, TLS, timeouts and
 * retries behind it.
 * It leaves URLs, listing, patching and watching to `@kopf-ts/core`, and when to ask for what to
 * `@kopf-ts/reactor`.
 */
export {};
