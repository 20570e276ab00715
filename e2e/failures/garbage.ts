import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Whatever nobody holds any more, is forgotten afterwards; weak references tell so only in the next turn. */
export async function collectGarbage(): Promise<void> {
  await nextTurn();
  collect();
  await nextTurn();
}
