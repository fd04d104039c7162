import { HDKey } from 'viem/accounts';
import { formatErc20Address } from '../addresses/erc20.ts';
import { accountOfPublicKey } from '../addresses/evm-account.ts';
import { DEPOSIT_INDEX_MAX } from '../port/port.ts';

/** Of `m/44'/60'/a'`. */
const ACCOUNT_DEPTH = 3;
const DEPOSITS = 0;
const WALLETS = 1;
const OWNERS = 2;
/** A thousand times the addresses of a page; what falls out is derived again. */
const CACHED_MAX = 20_000;

/**
 * The addresses of one merchant's account, derived from the extended public key of `m/44'/60'/a'` alone: deposits at `0/i`,
 * the hot wallet of each epoch at `1/epoch`, the owner of its account at the collector at `2/0`. A derivation takes about a millisecond.
 *
 * @throws RangeError where the text is no extended public key of an account
 */
export class AccountAddresses {
  /** The first hot wallet. */
  readonly hot: string;
  /** Owner of the merchant's account at the collector. */
  readonly owner: string;
  readonly #deposits: HDKey;
  readonly #wallets: HDKey;
  readonly #cached = new Map<number, string>();

  constructor(extendedPublicKey: string) {
    const account = readExtendedKey(extendedPublicKey);
    this.#deposits = account.deriveChild(DEPOSITS);
    this.#wallets = account.deriveChild(WALLETS);
    this.hot = this.hotAt(0);
    this.owner = addressOf(account.deriveChild(OWNERS).deriveChild(0));
  }

  /** The hot wallet of an epoch. */
  hotAt(epoch: number): string {
    return addressOf(this.#wallets.deriveChild(epoch));
  }

  /** @throws RangeError when the number is not an integer from 0 to `DEPOSIT_INDEX_MAX` */
  deposit(index: number): string {
    if (!Number.isSafeInteger(index) || index < 0 || index > DEPOSIT_INDEX_MAX)
      throw new RangeError(`a deposit address has a number from 0 to ${DEPOSIT_INDEX_MAX}`);
    const known = this.#cached.get(index);
    if (known !== undefined) return known;
    const address = addressOf(this.#deposits.deriveChild(index));
    if (this.#cached.size >= CACHED_MAX) this.#cached.clear();
    this.#cached.set(index, address);
    return address;
  }
}

function readExtendedKey(text: string): HDKey {
  let key: HDKey;
  try {
    key = HDKey.fromExtendedKey(text);
  } catch {
    throw new RangeError('is no extended public key: a letter is wrong, or some are missing');
  }
  if (key.privateKey !== null || key.depth !== ACCOUNT_DEPTH)
    throw new RangeError("must be the extended public key (xpub…) of an account m/44'/60'/a'");
  return key;
}

function addressOf({ publicKey }: HDKey): string {
  if (publicKey === null) throw new Error('a derived key has a public key');
  return formatErc20Address(accountOfPublicKey(publicKey));
}
