/** A real browser: found, or taken from Debian's package without installing it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';
import { onPath } from '../controlplane/binaries.js';
import { unpackedFromDebian } from '../support/debian.js';

export type Chromium =
  | { readonly kind: 'found'; launch(): Promise<Browser> }
  | { readonly kind: 'unavailable'; readonly reason: string };

const run = promisify(execFile);

/** From the PATH, or from the cache; what is not there is fetched by apt, which is there on Debian and its like. */
export async function findChromium(): Promise<Chromium> {
  try {
    const { program, libraries } = (await installed()) ?? (await fetched());
    const paths = [...libraries, ...(process.env['LD_LIBRARY_PATH'] ?? '').split(':')].filter((path) => path !== '');
    const env = { ...process.env, ...(libraries.length > 0 && { LD_LIBRARY_PATH: paths.join(':') }) };
    await run(program, ['--version'], { env });
    return {
      kind: 'found',
      launch: () =>
        // Its sandbox does not work for root, nor in most containers; it sees nothing but our own page here.
        chromium.launch({
          executablePath: program,
          args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
          env: env as Record<string, string>,
        }),
    };
  } catch (error) {
    const [line = ''] = String(error instanceof Error ? error.message : error).split('\n');
    return { kind: 'unavailable', reason: `Chromium is not there, and cannot be fetched: ${line}` };
  }
}

interface Program {
  readonly program: string;
  readonly libraries: readonly string[];
}

async function installed(): Promise<Program | undefined> {
  for (const name of ['chromium-headless-shell', 'chromium']) {
    // Playwright takes paths only.
    const program = onPath(name, process.env);
    const works = program !== undefined && (await run(program, ['--version']).catch(() => undefined)) !== undefined;
    if (works) return { program, libraries: [] };
  }
  return undefined;
}

async function fetched(): Promise<Program> {
  const root = await unpackedFromDebian({
    title: 'chromium',
    names: ['chromium-headless-shell', 'fonts-dejavu-core'],
    hasDependencies: true,
  });
  const { stdout } = await run('dpkg', ['--print-architecture']);
  const triplets: Readonly<Record<string, string>> = { amd64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' };
  const triplet = triplets[stdout.trim()] ?? stdout.trim();
  const libraries = [join(root, 'usr', 'lib', triplet), join(root, 'lib', triplet)];
  // Some keep their libraries one folder further down.
  return {
    program: join(root, 'usr', 'lib', 'chromium', 'chromium-headless-shell'),
    libraries: [...libraries, join(root, 'usr', 'lib', triplet, 'pulseaudio')],
  };
}
