/** What tests for Node's own runner import, by vitest: so all samples are run by one runner. */
export { afterAll as after, afterEach, beforeAll as before, beforeEach, describe, it, test } from 'vitest';
