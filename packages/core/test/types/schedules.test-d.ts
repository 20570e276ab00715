import { it } from 'vitest';
import { createRegistry } from '../../src/index.js';

const { timer, daemon } = createRegistry();

it('timers have schedules, and nobody else has', () => {
  timer('things', { schedule: '*/5 * * * *', timeZone: 'Europe/Berlin', missed: 'once' }, ({ name }) => void name);
  // @ts-expect-error there are two ways
  timer('things', { schedule: '* * * * *', missed: 'all' }, () => {});
  // @ts-expect-error it is a text
  timer('things', { schedule: 5 }, () => {});
  // @ts-expect-error it is for timers
  daemon('things', { schedule: '* * * * *' }, () => {});
});
