/** One command in a container, in messages: the first byte of each says what it is of. */
import type { ExecAnswer } from '../contracts/simulated-containers.js';

/** The best first. Only the first one can tell that the input is at its end. */
export const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const;
export type ExecProtocol = (typeof PROTOCOLS)[number];

const [STDIN, STDOUT, STDERR, STATUS, CLOSE] = [0, 1, 2, 3, 255] as const;

/** A command that waits to be run. */
export interface ExecCommand {
  /** Whether it is to read before it answers. */
  readonly hasStdin: boolean;
  run(stdin: string): Promise<ExecAnswer>;
}

export interface ExecSession {
  /** A message of the client. */
  accept(message: Uint8Array): void;
  /** The client has left. */
  leave(): void;
}

/** Runs the command when its input has come, and says what becomes of it; then it is over. */
export function execSession(
  command: ExecCommand,
  protocol: ExecProtocol,
  send: (message: Uint8Array) => void,
  close: () => void,
): ExecSession {
  const input: Uint8Array[] = [];
  let isBegun = false;
  let isLeft = false;
  const say = (channel: number, text: string): void => {
    if (!isLeft && text !== '') send(Buffer.concat([Buffer.from([channel]), Buffer.from(text)]));
  };
  const begin = async (): Promise<void> => {
    if (isBegun) return;
    isBegun = true;
    let status: object;
    try {
      const { stdout = '', stderr = '', exitCode = 0 } = await command.run(Buffer.concat(input).toString('utf8'));
      say(STDOUT, stdout);
      say(STDERR, stderr);
      status = exitCode === 0 ? SUCCESS : exitStatus(exitCode);
    } catch (error) {
      status = { ...FAILURE, reason: 'InternalError', message: (error as Error).message, code: 500 };
    }
    say(STATUS, JSON.stringify(status));
    if (!isLeft) close();
  };
  // In the old protocol, nobody says when the input ends: then what comes with the first message is all.
  if (!command.hasStdin) void begin();
  return {
    accept(message) {
      const [channel, ...rest] = message;
      if (channel === STDIN) input.push(message.subarray(1));
      const isEnd = channel === CLOSE && rest[0] === STDIN;
      if (isEnd || (channel === STDIN && protocol === 'v4.channel.k8s.io')) void begin();
    },
    leave() {
      isLeft = true;
    },
  };
}

const SUCCESS = { metadata: {}, status: 'Success' };
const FAILURE = { metadata: {}, status: 'Failure' };

function exitStatus(code: number): object {
  return {
    ...FAILURE,
    message: `command terminated with non-zero exit code: exit status ${code}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  };
}
