/** A process that logs and prints after its output is lost: only a real one can show whether it lives on. */
import { closeSync, writeFileSync } from 'node:fs';
import { consoleLogger } from '../../src/logging/default-logger.js';
import { surviveLostOutput } from '../../src/logging/lost-streams.js';

const [scenario = '', report = ''] = process.argv.slice(2);

function print(): void {
  const logger = consoleLogger({ format: 'plain' });
  for (let line = 0; line < 100; line++) logger.info(`line ${line} ${'x'.repeat(1000)}`);
  if (scenario === 'both') for (let line = 0; line < 100; line++) process.stdout.write(`line ${line}\n`);
}

if (scenario === 'both') surviveLostOutput();
// The parent says when it does not read any more.
process.stdin.once('data', () => {
  if (scenario === 'closed') closeSync(2);
  print();
  // Errors come in later turns of the loop; so does more of what is printed.
  setImmediate(() => {
    print();
    setImmediate(() => {
      writeFileSync(report, 'alive');
      process.stdin.destroy();
    });
  });
});
