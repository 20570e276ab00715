/**
 * The words of the framework and every decision that needs no I/O: bodies, patches, diffs, selectors,
 * handlers, causes, the registry, the executor, and the seams behind which everything else lives.
 * It opens no socket, reads no clock, writes no log and knows no default implementation of any seam: those
 * are the other packages' business, and yours.
 */
export {};
