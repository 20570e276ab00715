/**
 * The agreement between operators of the same cluster: who is alive, who has priority, who pauses.
 * It leaves the pausing itself to whoever watches, and the requests to the `KubeClient` it is given.
 */
export {};
