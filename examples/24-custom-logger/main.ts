import * as kopf from 'kopf-ts';
import './handlers.js';
import { pinoLogger } from './logger.js';
import { tinyPino } from './tiny-pino.js';

// With the real one: `import { pino } from 'pino'`, and `pino()` here.
await kopf.run({ logger: pinoLogger(tinyPino()), clusterwide: true });
