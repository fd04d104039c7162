import { createHmac } from 'node:crypto';
import { concat } from '../bytes.ts';

const HARDENED = 0x8000_0000;
const MASTER = 'ed25519 seed';

/** A node of SLIP-0010: Ed25519 has hardened children alone, so that no public key leads to another one. */
interface Node {
  privateKey: Uint8Array;
  chainCode: Uint8Array;
}

function nodeOf(key: string | Uint8Array, data: Uint8Array): Node {
  const digest = Uint8Array.from(createHmac('sha512', key).update(data).digest());
  return { privateKey: digest.slice(0, 32), chainCode: digest.slice(32) };
}

/**
 * The private key at a path of SLIP-0010, each of whose steps is hardened: `[44, 501, 0]` is `m/44'/501'/0'`.
 *
 * @param seed of BIP 39
 */
export function deriveEd25519(seed: Uint8Array, path: readonly number[]): Node {
  return path.reduce(deriveChild, nodeOf(MASTER, seed));
}

/** @throws RangeError */
export function deriveChild({ privateKey, chainCode }: Node, index: number): Node {
  if (!Number.isInteger(index) || index < 0 || index >= HARDENED)
    throw new RangeError(`a step of a path is from 0 to ${HARDENED - 1}`);
  const data = Buffer.alloc(37);
  data.set(privateKey, 1);
  data.writeUInt32BE(HARDENED + index, 33);
  return nodeOf(chainCode, concat(data));
}
