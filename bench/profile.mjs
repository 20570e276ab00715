/**
 * Where the CPU time of an operator goes: `node bench/profile.mjs [storm|reconcile|sight|updates] [kopf-ts|bare]`.
 *
 * The operator does the work of the benchmark on a real control plane. Printed is the time by package, by file and by
 * function. Set `KOPF_BENCH_PROFILE` to a path to keep the profile as well, for Chrome's DevTools or speedscope.
 */
import { withModules } from './bundle.mjs';

await withModules(['operator/profile.ts'], ({ default: profile }) => profile(process.argv.slice(2)));
