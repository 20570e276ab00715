/** A program of its own, with an operator in it: it is started and stopped when the program wants it. */
import { pathToFileURL } from 'node:url';
import * as kopf from 'kopf-ts';
import { registry } from './handlers.js';

/** Resolves with the names of the first objects that are found. */
export async function firstObjects(count: number, options: kopf.OperatorOptions): Promise<readonly string[]> {
  const names: string[] = [];
  const enough = new AbortController();
  const memo = {
    found(name: string) {
      names.push(name);
      if (names.length >= count) enough.abort('There are enough of them.');
    },
  };
  const operator = kopf.operator({ registry, memo, signal: enough.signal, ...options });

  await operator.ready; // or it throws, if the operator has not come as far as that
  console.log('The operator works now; and we could do something else meanwhile.');
  await operator.done; // also `await operator.stop()`, for those who do not have a signal
  return names.slice(0, count);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.log(await firstObjects(1, { clusterwide: true }));
}
