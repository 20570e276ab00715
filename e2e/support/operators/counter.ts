/** Counts what handlers do, whoever runs them: they tell it by HTTP, as it is not in the processes of operators. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

interface Call {
  /** Who was it. */
  readonly by: string;
  /** What, and with which object: `create one`. */
  readonly what: string;
  /** When it came here, in milliseconds of `performance.now()`. */
  readonly at: number;
}

export interface Counter {
  /** To be called with the last two segments of the path: `<url>/<by>/<what>`. */
  readonly url: string;
  readonly calls: readonly Call[];
  /** What has been done by them, or by anyone, in order. */
  by(who?: string): readonly string[];
  /** What was done more than once, and by whom. */
  readonly repeated: Readonly<Record<string, readonly string[]>>;
}

/** A counter of the running test. */
export async function newCounter(): Promise<Counter> {
  const calls: Call[] = [];
  const server = createServer((request, response) => {
    const [, by = '', what = ''] = (request.url ?? '').split('/').map(decodeURIComponent);
    calls.push({ by, what, at: performance.now() });
    request.resume();
    response.end('{}');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    by: (who) => calls.filter(({ by }) => who === undefined || by === who).map(({ what }) => what),
    get repeated() {
      const byWhom = new Map<string, string[]>();
      for (const { by, what } of calls) byWhom.set(what, [...(byWhom.get(what) ?? []), by]);
      return Object.fromEntries([...byWhom].filter(([, who]) => who.length > 1));
    },
  };
}
