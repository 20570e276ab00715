/** The server's side of a WebSocket, as far as API servers need it: whole binary messages. */
import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const [TEXT, BINARY, CLOSING, PING, PONG] = [0x1, 0x2, 0x8, 0x9, 0xa] as const;
/** Of one message: longer ones are mistakes. */
const MAX_MESSAGE = 16 * 1024 * 1024;

export interface ServerSocket {
  send(message: Uint8Array): void;
  /** Says goodbye, and ends the connection. */
  close(): void;
}

export interface SocketEvents {
  onMessage(message: Buffer): void;
  /** The other side has left, in order or not. Called once. */
  onClose(): void;
}

/** The last words in HTTP. */
export function acceptWebSocket(client: Duplex, key: string, protocol: string): void {
  const accept = createHash('sha1').update(`${key}${MAGIC}`).digest('base64');
  client.write(
    ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`]
      .concat(`Sec-WebSocket-Protocol: ${protocol}`, '', '')
      .join('\r\n'),
  );
}

export function serverSocket(client: Duplex, first: Buffer, events: SocketEvents): ServerSocket {
  let pending: Buffer = first;
  let message: Buffer[] = [];
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    events.onClose();
  };
  const write = (opcode: number, content: Uint8Array): void => {
    if (!client.writable) return;
    client.write(Buffer.concat([headerOf(opcode, content.length), content]));
  };
  const accept = ({ opcode, isLast, content }: Frame): void => {
    if (opcode === PING) write(PONG, content);
    else if (opcode === CLOSING) {
      write(CLOSING, content);
      client.end();
      end();
    } else if (opcode !== PONG) {
      message.push(content);
      if (!isLast) return;
      const whole = Buffer.concat(message);
      message = [];
      if (!isOver) events.onMessage(whole);
    }
  };
  const read = (): void => {
    for (;;) {
      const frame = frameOf(pending);
      if (frame === 'incomplete') return;
      if (frame === 'wrong') {
        client.destroy();
        return;
      }
      pending = pending.subarray(frame.size);
      accept(frame);
    }
  };
  client.on('data', (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    read();
  });
  client.on('close', end);
  client.on('error', () => client.destroy());
  read();
  return {
    send: (content) => write(BINARY, content),
    close() {
      write(CLOSING, Buffer.from([0x03, 0xe8]));
      client.end();
    },
  };
}

interface Frame {
  readonly opcode: number;
  readonly isLast: boolean;
  readonly content: Buffer;
  /** With its header. */
  readonly size: number;
}

const OPCODES: ReadonlySet<number> = new Set([0, TEXT, BINARY, CLOSING, PING, PONG]);

/** What clients send is masked always. */
function frameOf(bytes: Buffer): Frame | 'incomplete' | 'wrong' {
  if (bytes.length < 2) return 'incomplete';
  const [one, two] = [bytes.readUInt8(0), bytes.readUInt8(1)];
  const opcode = one & 0x0f;
  const short = two & 0x7f;
  if (!OPCODES.has(opcode) || (two & 0x80) === 0) return 'wrong';
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const start = 2 + lengthBytes + 4;
  if (bytes.length < start) return 'incomplete';
  const length =
    lengthBytes === 0 ? short : lengthBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (length > MAX_MESSAGE) return 'wrong';
  if (bytes.length < start + length) return 'incomplete';
  const mask = bytes.subarray(start - 4, start);
  const content = Buffer.from(bytes.subarray(start, start + length));
  for (let index = 0; index < length; index++)
    content[index] = (content[index] as number) ^ (mask[index % 4] as number);
  return { opcode, isLast: (one & 0x80) !== 0, content, size: start + length };
}

function headerOf(opcode: number, length: number): Buffer {
  const first = 0x80 | opcode;
  if (length < 126) return Buffer.from([first, length]);
  if (length < 65_536) {
    const header = Buffer.from([first, 126, 0, 0]);
    header.writeUInt16BE(length, 2);
    return header;
  }
  const header = Buffer.alloc(10);
  header.writeUInt8(first, 0);
  header.writeUInt8(127, 1);
  header.writeBigUInt64BE(BigInt(length), 2);
  return header;
}
