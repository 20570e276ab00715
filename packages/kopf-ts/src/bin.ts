/** `kopf` and `kopf-ts`: the command line, with everything behind it loaded only when it is needed. */
import { fileURLToPath } from 'node:url';
import { cli } from '@kopf-ts/cli';
import { processRuntime } from './cli-runtime.js';
import { surviveLostOutput } from './logging/lost-streams.js';

surviveLostOutput();
process.exitCode = await cli(processRuntime(fileURLToPath(import.meta.url))).main(process.argv.slice(2));
// Whatever is loaded may have left timers and sockets; a command that is over is over.
setTimeout(() => process.exit(), 1000).unref();
