/** The lines of a journal: what each of them says, and how it is known to be whole. */
import { crc32 } from 'node:zlib';
import type { KeptChange, Revision } from '../contracts/store.js';

/** Grows when the lines become something that older programs would misunderstand. */
const FORMAT = '1';

/** What the first line says: the version of the whole, and how many objects follow before the changes begin. */
interface Beginning {
  readonly kind: 'beginning';
  readonly version: number;
  readonly objects: number;
}

export type Line = Beginning | KeptChange;

export const beginningLine = (version: number, objects: number): string =>
  sealed(`beginning ${FORMAT} ${version} ${objects}`);

export const putLine = ({ version, collection, json }: Revision): string =>
  sealed(`put ${version} ${collection} ${json}`);

export const removalLine = ({ version, collection, namespace, name }: Revision): string =>
  sealed(`remove ${version} ${collection} ${JSON.stringify([namespace, name])}`);

const SEAL_LENGTH = 8;

const sealOf = (content: string | Uint8Array): string => crc32(content).toString(16).padStart(SEAL_LENGTH, '0');

/** JSON has no line breaks but escaped ones, and neither versions nor collections have spaces. */
const sealed = (content: string): string => `${sealOf(content)} ${content}\n`;

/** Why a line cannot be read. */
export class LineProblem extends Error {}

/** What the line says, without the line break. The texts of objects are copied out of the bytes. */
export function parseLine(bytes: Buffer): Line {
  const content = bytes.subarray(SEAL_LENGTH + 1);
  const isWhole = bytes.toString('latin1', 0, SEAL_LENGTH + 1) === `${sealOf(content)} `;
  if (!isWhole) throw new LineProblem('its checksum is wrong');
  const [word, first = '', second = '', rest] = split(content);
  if (word === 'beginning' && first !== FORMAT) throw new LineProblem('it was written by a newer version of kopf-ts');
  switch (word) {
    case 'beginning':
      return { kind: 'beginning', version: Number(second), objects: Number(rest) };
    case 'put':
      return { kind: 'put', version: Number(first), collection: second, json: rest };
    case 'remove': {
      const [namespace, name] = JSON.parse(rest) as [string, string];
      return { kind: 'remove', version: Number(first), collection: second, namespace, name };
    }
    default:
      throw new LineProblem('it says nothing that is known');
  }
}

const SPACE = 0x20;

/** Three words, and all the rest. */
function split(content: Buffer): readonly [string, string, string, string] {
  const ends: number[] = [];
  for (let at = content.indexOf(SPACE); at >= 0 && ends.length < 3; at = content.indexOf(SPACE, at + 1)) ends.push(at);
  const [one = content.length, two = content.length, three = content.length] = ends;
  return [
    content.toString('latin1', 0, one),
    content.toString('latin1', one + 1, two),
    content.toString('latin1', two + 1, three),
    content.toString('utf8', three + 1),
  ];
}
