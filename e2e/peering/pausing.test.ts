import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freeze, resume } from '@kopf-ts/peering';
import { systemClock } from '@kopf-ts/reactor';
import { expect, it, onTestFinished } from 'vitest';
import { newLine, pathOf } from '../failures/faulty-cluster.js';
import { eventually, startOperator, type TestOperatorOptions } from '../support/operators/operators.js';
import { describeOnRealCluster, realCluster } from '../support/real-cluster.js';
import { LIFETIME, meeting } from './peers.js';

describeOnRealCluster('an operator that is to pause', () => {
  const place = meeting();
  const common = { standalone: false, overrides: { peering: { lifetime: LIFETIME } } };

  /** What its handlers were called for, of all sorts. */
  const start = async (identity: string, options: Partial<TestOperatorOptions> = {}) => {
    const { url: server, ca, token } = realCluster();
    const calls: string[] = [];
    const declare: Parameters<typeof startOperator>[1] = ({ on, daemon, timer }) => {
      on.event(place.things.selector, ({ event, name }) => void calls.push(`event ${event.type} ${name}`));
      on.create(place.things.selector, ({ name }) => void calls.push(`create ${name}`));
      on.resume(place.things.selector, ({ name }) => void calls.push(`resume ${name}`));
      daemon(place.things.selector, async ({ name, stopped }) => {
        calls.push(`daemon ${name}`);
        await new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve()));
        calls.push(`daemon ${name} stops`);
      });
      timer(place.things.selector, { interval: 600 }, ({ name }) => void calls.push(`timer ${name}`));
    };
    const names = { namespaces: [place.namespace], peeringName: place.peering, identity };
    const connection = { server, ca, token };
    const operator = await startOperator({ connection }, declare, { ...common, ...names, priority: 5, ...options });
    return Object.assign(operator, { calls });
  };
  const create = (name: string) => place.things.create(place.namespace, name, { spec: { size: 1 } });
  /** As a person does it. */
  const manually = () => ({
    client: place.client,
    clock: systemClock,
    name: place.peering,
    namespaces: [place.namespace],
    identity: 'somebody@home',
  });

  it('from the very beginning, because of another one of the same priority, handles nothing at all', async () => {
    const one = await start('one');
    for (const name of ['a', 'b', 'c', 'd', 'e']) await create(name);
    await eventually(() => expect(one.calls.filter((call) => call.startsWith('timer'))).toHaveLength(5));
    const two = await start('two');
    await eventually(() => expect(two.logger.find(/same priority.*<Peer one:/)).toBeDefined());
    await eventually(() => expect(one.logger.find(/same priority.*<Peer two:/)).toBeDefined());
    await create('f');
    // Enough for several keep-alives of both.
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(two.calls).toEqual([]);
    expect(one.calls.filter((call) => call.endsWith(' f'))).toEqual([]);

    await one.stop();
    await eventually(() => expect(two.calls).toContain('create f'));
    expect(two.calls).not.toContain('create a');
  });

  it('by freezing, stops its daemons, handles nothing, and goes on without handling anything again', async () => {
    const operator = await start('operator');
    await create('a');
    await eventually(() => expect(operator.calls).toEqual(expect.arrayContaining(['create a', 'daemon a', 'timer a'])));

    const { peerings } = await freeze({ ...manually(), lifetime: 60, message: 'Gone for lunch' });
    expect(peerings).toEqual([`'${place.peering}' in '${place.namespace}'`]);
    await eventually(() => expect(operator.logger.find(/somebody@home.*Gone for lunch/)).toBeDefined());
    await eventually(() => expect(operator.calls).toContain('daemon a stops'));
    const before = [...operator.calls];
    await create('b');
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(operator.calls).toEqual(before);

    await resume(manually());
    await eventually(() => expect(operator.calls).toContain('create b'));
    await eventually(() => expect(operator.calls.slice(before.length)).toContain('daemon a'));
    expect(operator.logger.find('Resuming operations after the pause')).toBeDefined();
    const after = operator.calls.slice(before.length);
    expect(after.filter((call) => /^(create|resume) a$/.test(call))).toEqual([]);
  });

  it('by freezing for some time, goes on by itself after it', async () => {
    const operator = await start('operator');
    await freeze({ ...manually(), lifetime: 3 });
    await eventually(() => expect(operator.logger.find('Pausing operations')).toBeDefined());
    await create('a');
    await eventually(() => expect(operator.calls).toContain('create a'));
    expect(operator.logger.find('Resuming operations')).toBeDefined();
  });

  it('aborts at once the request that waits for its headers', async () => {
    const line = await newLine(realCluster());
    const gate = await silentGate(line.connection.server, pathOf(place.things.plural));
    const operator = await start('operator', { connection: { ...line.connection, server: gate.url } });
    await eventually(() => expect(gate.waiting).toBe(1));
    const frozenAt = performance.now();
    await freeze({ ...manually(), lifetime: 60 });
    // At once, or as soon as a busy machine permits; left alone, it would wait for half a minute.
    await eventually(() => expect(gate.waiting).toBe(0), 5);
    expect(performance.now() - frozenAt).toBeLessThan(5000);
    await eventually(() => expect(operator.logger.find('Pausing operations')).toBeDefined());
    expect(gate.silenced).toBe(1);

    gate.open();
    await create('a');
    await resume(manually());
    await eventually(() => expect(operator.calls).toContain('create a'));
    expect(gate.silenced).toBe(1);
  });
});

interface SilentGate {
  readonly url: string;
  /** How many requests have got no answer and are still waiting for it. */
  readonly waiting: number;
  /** How many there have been. */
  readonly silenced: number;
  /** From now on, all requests are answered. */
  open(): void;
}

/** In front of the server: watches of these paths get neither headers nor anything else. */
async function silentGate(target: string, path: RegExp): Promise<SilentGate> {
  let [waiting, silenced, isOpen] = [0, 0, false];
  const isSilenced = ({ url = '' }: IncomingMessage): boolean =>
    !isOpen && path.test(url.split('?')[0] ?? '') && url.includes('watch=true');
  const server: Server = createServer((incoming, outgoing) => {
    if (isSilenced(incoming)) {
      waiting += 1;
      silenced += 1;
      outgoing.once('close', () => {
        waiting -= 1;
      });
      return;
    }
    const options = { method: incoming.method ?? 'GET', headers: incoming.headers };
    const forwarded = httpRequest(new URL(incoming.url ?? '/', target), options, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    outgoing.once('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
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
    get waiting() {
      return waiting;
    },
    get silenced() {
      return silenced;
    },
    open() {
      isOpen = true;
    },
  };
}
