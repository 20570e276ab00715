/** `kopf` and `kopf-ts`: the command line, with everything behind it loaded only when it is needed. */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { cli } from '@kopf-ts/cli';
import { processRuntime } from './cli/cli-runtime.js';
import { surviveLostOutput } from './logging/lost-streams.js';

surviveLostOutput();
// Both the source and the built file are one folder below the manifest.
const { version } = createRequire(import.meta.url)('../package.json') as { version: string };
const runtime = processRuntime({ program: fileURLToPath(import.meta.url), version });
process.exitCode = await cli(runtime).main(process.argv.slice(2));
// Loaded modules may leave timers and sockets, which must not delay the end of a command.
setTimeout(() => process.exit(), 1000).unref();
