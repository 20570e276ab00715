import { manualClock, recordingLogger, testCredentials } from '@kopf-ts/testing';
import { describe, it } from 'vitest';
import { vault } from '../../src/index.js';

testCredentials(
  () => {
    const credentials = vault({ clock: manualClock(), logger: recordingLogger() });
    let count = 0;
    return {
      credentials,
      renew() {
        count += 1;
        const info = { server: 'https://localhost', token: `token-${count}` };
        credentials.populate(new Map([['login', info]]));
        return info;
      },
      cleanUp: () => credentials.close(),
    };
  },
  { describe, it },
);
