import { it } from 'vitest';
import { createRegistry } from '../../src/index.js';

const { on } = createRegistry();

it('handlers of events are tried again by choice', () => {
  on.event(
    'things',
    { errors: 'retry', retries: 5, backoff: { min: 1, max: 60 }, timeout: 600 },
    ({ retry }) => void retry,
  );
  on.event('things', { errors: 'ignored' }, () => {});
  // @ts-expect-error these are the words of other handlers
  on.event('things', { errors: 'temporary' }, () => {});
  // @ts-expect-error this is the word of handlers of events
  on.update('things', { errors: 'retry' }, () => {});
});
