/** Starts two stubborn programs in a supervised folder, tells about them, and then ends in the way it is asked for. */
import { join } from 'node:path';
import { supervise } from '../processes.js';

const [folder = '', ending] = process.argv.slice(2);
const stubborn = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)";
const withChild = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(stubborn)}]); ${stubborn}`;

const supervisor = supervise(folder);
const components = [stubborn, withChild].map((source, index) =>
  supervisor.start({
    name: `program ${index}`,
    command: process.execPath,
    args: ['-e', source],
    logFile: join(folder, `${index}.log`),
  }),
);
console.log(JSON.stringify(components.map(({ pid }) => pid)));

if (ending === 'exit') process.exit(0);
if (ending === 'crash') throw new Error('a crash on purpose');
// Otherwise the process either ends by itself, as nothing of the above keeps it, or waits to be killed.
if (ending === 'wait') setInterval(() => {}, 1000);
