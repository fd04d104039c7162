import { createHash, createHmac } from 'node:crypto';
import { base58 } from '@scure/base';
import { isPoint, pointAddScalar } from 'tiny-secp256k1';
import { formatErc20Address } from '../addresses/erc20.ts';
import { accountOfPublicKey } from '../addresses/evm-account.ts';
import { DEPOSIT_INDEX_MAX } from '../port.ts';

const VERSION_XPUB = 0x0488b21e;
const KEY_BYTES = 78;
const CHECKSUM_BYTES = 4;
/** Of `m/44'/60'/a'`. */
const ACCOUNT_DEPTH = 3;
const DEPOSITS = 0;
const WALLETS = 1;
/** A thousand times the addresses of a page; what falls out is derived again. */
const CACHED_MAX = 20_000;

interface PublicNode {
  key: Uint8Array;
  chainCode: Uint8Array;
}

/**
 * The addresses of one merchant's account, derived from the extended public key of `m/44'/60'/a'` alone: deposits at `0/i`,
 * the hot wallet at `1/0`. WebAssembly: 0.1 ms each.
 *
 * @throws RangeError where the text is no extended public key of an account
 */
export class AccountAddresses {
  readonly hot: string;
  readonly #deposits: PublicNode;
  readonly #cached = new Map<number, string>();

  constructor(extendedPublicKey: string) {
    const account = readExtendedKey(extendedPublicKey);
    this.#deposits = childOf(account, DEPOSITS);
    this.hot = addressOf(childOf(childOf(account, WALLETS), 0));
  }

  /** @throws RangeError when the number is not an integer from 0 to `DEPOSIT_INDEX_MAX` */
  deposit(index: number): string {
    if (!Number.isSafeInteger(index) || index < 0 || index > DEPOSIT_INDEX_MAX)
      throw new RangeError(`a deposit address has a number from 0 to ${DEPOSIT_INDEX_MAX}`);
    const known = this.#cached.get(index);
    if (known !== undefined) return known;
    const address = addressOf(childOf(this.#deposits, index));
    if (this.#cached.size >= CACHED_MAX) this.#cached.clear();
    this.#cached.set(index, address);
    return address;
  }
}

function readExtendedKey(text: string): PublicNode {
  const bytes = decodeBase58(text);
  const body = bytes.subarray(0, KEY_BYTES);
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const isXpub = view.getUint32(0) === VERSION_XPUB && body[4] === ACCOUNT_DEPTH;
  const key = body.subarray(45);
  if (!isXpub || !isPoint(key))
    throw new RangeError("must be the extended public key (xpub…) of an account m/44'/60'/a'");
  return { key, chainCode: body.subarray(13, 45) };
}

function decodeBase58(text: string): Uint8Array {
  const wrong = () => new RangeError('is no extended public key: a letter is wrong, or some are missing');
  let bytes: Uint8Array;
  try {
    bytes = base58.decode(text);
  } catch {
    throw wrong();
  }
  if (bytes.length !== KEY_BYTES + CHECKSUM_BYTES) throw wrong();
  const once = createHash('sha256').update(bytes.subarray(0, KEY_BYTES)).digest();
  const checksum = createHash('sha256').update(once).digest().subarray(0, CHECKSUM_BYTES);
  if (!checksum.equals(bytes.subarray(KEY_BYTES))) throw wrong();
  return bytes;
}

/** BIP 32, public parent to public child. */
function childOf({ key, chainCode }: PublicNode, index: number): PublicNode {
  const data = Buffer.alloc(key.length + 4);
  data.set(key);
  data.writeUInt32BE(index, key.length);
  const hmac = createHmac('sha512', chainCode).update(data).digest();
  const child = pointAddScalar(key, hmac.subarray(0, 32), true);
  // One in 2^127: the standard says to take the next number, which no number of ours does.
  if (child === null) throw new RangeError(`the key has no child ${index}`);
  return { key: child, chainCode: hmac.subarray(32) };
}

function addressOf({ key }: PublicNode): string {
  return formatErc20Address(accountOfPublicKey(key));
}
