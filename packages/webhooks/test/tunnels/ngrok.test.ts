import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { testWebhookServer } from '@kopf-ts/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { autoTunnel, type NgrokPackage, ngrokTunnel } from '../../src/index.js';
import { ask, NO_CLIENT, served } from '../servers/support.js';

const runner = { describe, it };

/** The package, as far as it is used: it remembers what was asked of it, and leads nowhere. */
function fakePackage(url: string | null = 'https://nowhere'): NgrokPackage & { configs: object[]; closed: number } {
  const fake = {
    configs: [] as object[],
    closed: 0,
    forward: (config: object) => {
      fake.configs.push(config);
      const close = () => {
        fake.closed += 1;
        return Promise.resolve();
      };
      return Promise.resolve({ url: () => url, close });
    },
  };
  return fake;
}

const targetOf = (fake: { configs: object[] }): string => (fake.configs.at(-1) as { addr: string }).addr;

describe('a tunnel by the package', () => {
  testWebhookServer(() => {
    const ngrok = fakePackage();
    return { server: ngrokTunnel({ ngrok, path: '/p1' }), reach: () => ({ url: `${targetOf(ngrok)}/p1` }) };
  }, runner);

  it('begins at the public address, with the path and without an authority', async () => {
    const ngrok = fakePackage('https://nowhere/');
    await using server = await served(ngrokTunnel({ ngrok, path: '/p1/p2', token: 'secret', region: 'eu' }));
    expect(server.config).toEqual({ url: 'https://nowhere/p1/p2' });
    expect(ngrok.configs).toEqual([
      {
        addr: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        schemes: ['https'],
        authtoken: 'secret',
        region: 'eu',
      },
    ]);
    expect((await ask(`${targetOf(ngrok)}/p1/p2/fn`)).status).toBe(200);
    expect(server.logger.messages().join()).not.toContain('secret');
  });

  it('takes the token from the environment, if it is not given', async () => {
    const ngrok = fakePackage();
    await using _server = await served(ngrokTunnel({ ngrok }));
    expect(ngrok.configs).toEqual([{ addr: expect.any(String), schemes: ['https'], authtoken_from_env: true }]);
  });

  it('is closed once when it ends', async () => {
    const ngrok = fakePackage();
    const server = await served(ngrokTunnel({ ngrok }));
    expect(ngrok.closed).toBe(0);
    await server.end();
    expect(ngrok.closed).toBe(1);
  });

  it('ends also if it cannot be closed', async () => {
    const close = () => Promise.reject(new Error('The session is over.'));
    const ngrok: NgrokPackage = { forward: () => Promise.resolve({ url: () => 'https://nowhere', close }) };
    const server = await served(ngrokTunnel({ ngrok }));
    await server.end();
    expect(server.logger.find('The session is over.')?.level).toBe('debug');
  });

  it('that cannot be opened fails with the reason', async () => {
    const ngrok: NgrokPackage = { forward: () => Promise.reject(new Error('Your account is limited.')) };
    const starting = served(ngrokTunnel({ ngrok }));
    await expect(starting).rejects.toThrow(/ngrok tunnel cannot be opened: Your account is limited/);
  });

  it('that cannot be opened does not tell the token', async () => {
    const ngrok: NgrokPackage = { forward: () => Promise.reject(new Error('It is wrong. Your authtoken: t0p-secret')) };
    const error = await served(ngrokTunnel({ ngrok, token: 't0p-secret' })).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: expect.stringMatching(/It is wrong. Your authtoken: \*\*\*$/) });
    expect(inspect(error)).not.toContain('t0p-secret');
  });

  it('without an address fails, and is closed', async () => {
    const ngrok = fakePackage(null);
    await expect(served(ngrokTunnel({ ngrok }))).rejects.toThrow(/has no address/);
    expect(ngrok.closed).toBe(1);
  });

  it('that is opened too late is closed', async () => {
    const ngrok = fakePackage();
    const aborting = new AbortController();
    const late: NgrokPackage = {
      forward: async (config) => {
        aborting.abort(new Error('Enough.'));
        await new Promise((resolve) => setImmediate(resolve));
        return ngrok.forward(config);
      },
    };
    const starting = served(ngrokTunnel({ ngrok: late }), { signal: aborting.signal });
    await expect(starting).rejects.toThrow('The server has ended.');
    await expect.poll(() => ngrok.closed).toBe(1);
  });

  it('fails with a hint if the package is not installed', async () => {
    const starting = served(ngrokTunnel());
    await expect(starting).rejects.toThrow(/npm install @ngrok\/ngrok.*binary: 'ngrok'/);
  });
});

describe('a tunnel by the program', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kopf-ngrok-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** A program that says what it is told to, and writes down how it was called. */
  async function program(name: string, script: string): Promise<string> {
    const file = join(folder, name);
    const called = `JSON.stringify({ args: process.argv.slice(2), token: process.env.NGROK_AUTHTOKEN })`;
    const text = `#!${process.execPath}\nconst say = (it) => console.log(JSON.stringify(it));\nrequire('node:fs').writeFileSync(__filename + '.called', ${called});\n${script}`;
    await writeFile(file, text);
    await chmod(file, 0o755);
    return file;
  }
  const calledWith = async (file: string) => JSON.parse(await readFile(`${file}.called`, 'utf8'));
  const OPEN = `console.log('not a line of JSON'); say({ lvl: 'info', msg: 'starting web service' });
    say({ msg: 'started tunnel', url: 'http://nowhere' }); say({ msg: 'started tunnel', url: 'https://nowhere', err: '<nil>' });`;
  const STAY = 'setInterval(() => {}, 1000);';

  it('begins where the program says', async () => {
    const binary = await program('right', `${OPEN}${STAY}`);
    await using server = await served(ngrokTunnel({ binary, path: '/p1/p2', token: 'secret', region: 'eu' }));
    expect(server.config).toEqual({ url: 'https://nowhere/p1/p2' });
    const { args, token } = await calledWith(binary);
    expect(args).toEqual([
      'http',
      expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      '--log=stdout',
      '--log-format=json',
      '--region',
      'eu',
    ]);
    expect(token).toBe('secret');
    expect((await ask(`http://${args[1]}/p1/p2/fn`)).status).toBe(200);
  });

  it('ends with the program, also if that one does not want to', async () => {
    const binary = await program('stubborn', `process.on('SIGTERM', () => {}); ${OPEN}${STAY}`);
    const server = await served(ngrokTunnel({ binary }));
    const end = server.end();
    await expect.poll(() => server.clock.sleepers).toBe(1);
    await server.clock.advance(5);
    await end;
  });

  it('that breaks ends the server with the reason', async () => {
    const binary = await program(
      'breaking',
      `${OPEN} say({ lvl: 'crit', err: 'the session is over' }); setTimeout(() => process.exit(7), 10);`,
    );
    const server = await served(ngrokTunnel({ binary }));
    await expect(server.next()).rejects.toThrow(
      /has not kept the tunnel open: it has ended with code 7: the session is over/,
    );
  });

  it.each([
    ['ends at once', `say({ err: 'no token' }); process.exitCode = 1;`, /ended with code 1: no token/],
    ['does not exist', undefined, /cannot be started: .*ENOENT/],
  ])('fails if the program %s', async (what, script, message) => {
    const name = what.replaceAll(' ', '-');
    const binary = script === undefined ? join(folder, name) : await program(name, script);
    await expect(served(ngrokTunnel({ binary }))).rejects.toThrow(message);
  });

  it('does not tell the token with the complaints of the program', async () => {
    const binary = await program('wrong-token', `say({ err: 'Your authtoken: t0p-secret' }); process.exitCode = 1;`);
    const starting = served(ngrokTunnel({ binary, token: 't0p-secret' }));
    await expect(starting).rejects.toThrow(/code 1: Your authtoken: \*\*\*\.$/);
  });

  it('fails if the program says nothing for long', async () => {
    const binary = await program('silent', STAY);
    const { manualClock } = await import('@kopf-ts/testing');
    const clock = manualClock();
    const starting = served(ngrokTunnel({ binary }), { clock });
    starting.catch(() => {});
    await expect.poll(() => clock.sleepers).toBe(1);
    await clock.advance(30);
    await expect(starting).rejects.toThrow(/not told the address of the tunnel within 30 seconds/);
  });
});

describe('the automatic tunnel', () => {
  it('is a tunnel of ngrok for unknown clusters, and says so', async () => {
    const ngrok = fakePackage();
    await using server = await served(autoTunnel({ ngrok, path: '/p1' }));
    expect(server.config).toEqual({ url: 'https://nowhere/p1' });
    expect(server.logger.messages('info').join()).toMatch(/ngrok tunnel is used/);
  });

  it('is a local server for local clusters, and says so', async () => {
    const client = { ...NO_CLIENT, request: () => Promise.resolve({ gitVersion: 'v1+k3s1' } as never) };
    await using server = await served(autoTunnel({ ngrok: fakePackage(), addr: '127.0.0.1', path: '/p1' }), { client });
    expect(server.url).toMatch(/^https:\/\/host\.k3d\.internal:\d+\/p1$/);
    expect(server.ca).toContain('BEGIN CERTIFICATE');
    expect(server.logger.messages('info').join()).toMatch(/need no tunnel/);
  });
});
