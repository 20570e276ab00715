/**
 * What the engine does not hold yet is expected to fail, and is reported when it does not fail any more. Then, these
 * are to be `it` and `true`, as they are already with `KOPF_MODEL_STRICT=1`.
 */
import { it } from 'vitest';

export const isStrict: boolean = process.env['KOPF_MODEL_STRICT'] !== undefined;
export const itShould = isStrict ? it : it.fails;
