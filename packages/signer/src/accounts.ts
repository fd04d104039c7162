import { HDKey } from '@scure/bip32';
import { addressOfKey } from './address.ts';
import { Recent } from './recent.ts';

/** BIP 32: the highest index that is not hardened, of accounts and addresses alike. */
export const INDEX_MAX = 2 ** 31 - 1;

const ETHEREUM = 60;
/** A server may ask for any account. */
export const KEPT_MAX = 10_000;
const DEPOSITS = 0;
const WALLETS = 1;
/** Keys that own accounts at the collector. No request of a server is signed with them. */
const OWNERS = 2;

export interface Key {
  address: string;
  privateKey: Uint8Array;
}

/**
 * The keys of one seed. Account 0 is the installation's, whose hot wallet is the gas tank; the others are merchants'.
 * What was derived once is kept: a derivation takes a millisecond.
 */
export class Accounts {
  readonly #root: HDKey;
  readonly #nodes = new Recent<number, HDKey>(KEPT_MAX);
  readonly #hot = new Recent<string, Key>(KEPT_MAX);

  readonly #coin: number;

  /**
   * @param seed of BIP 39, 64 bytes
   * @param coin of SLIP-0044: paths begin with `m/44'/coin'`
   */
  constructor(seed: Uint8Array, coin = ETHEREUM) {
    this.#root = HDKey.fromMasterSeed(seed);
    this.#coin = coin;
  }

  /** The first four bytes of the master key's identifier (BIP 32), hex: it names the seed and tells nothing of it. */
  get fingerprint(): string {
    return this.#root.fingerprint.toString(16).padStart(8, '0');
  }

  /** BIP 32, of `m/44'/60'/a'`. */
  extendedPublicKey(account: number): string {
    return this.#node(account).publicExtendedKey;
  }

  /** The key of `m/44'/60'/a'/1/epoch`: each epoch of an account has a hot wallet of its own. */
  hot(account: number, epoch = 0): Key {
    return this.#hot.get(`${account} ${epoch}`, () =>
      keyOf(this.#node(account).deriveChild(WALLETS).deriveChild(checked(epoch))),
    );
  }

  /** The key of `m/44'/60'/a'/2/0`, which `makeOwnerCall` alone signs with. */
  owner(account: number): Key {
    return keyOf(this.#node(account).deriveChild(OWNERS).deriveChild(0));
  }

  /** The key of `m/44'/60'/a'/0/i`. */
  deposit(account: number, index: number): Key {
    return keyOf(this.#node(account).deriveChild(DEPOSITS).deriveChild(checked(index)));
  }

  #node(account: number): HDKey {
    return this.#nodes.get(account, () => this.#root.derive(`m/44'/${this.#coin}'/${checked(account)}'`));
  }
}

function checked(index: number): number {
  if (!Number.isInteger(index) || index < 0 || index > INDEX_MAX)
    throw new RangeError(`an account, epoch or address has a number from 0 to ${INDEX_MAX}`);
  return index;
}

function keyOf({ publicKey, privateKey }: HDKey): Key {
  if (publicKey === null || privateKey === null) throw new Error('a seed has private keys');
  return { address: addressOfKey(publicKey), privateKey };
}

/** The addresses by which a person compares a backup with the machine's keys. */
export function firstAddresses(accounts: Accounts): { fingerprint: string; tank: string; first: string } {
  return {
    fingerprint: accounts.fingerprint,
    tank: accounts.hot(0).address,
    first: accounts.hot(1).address,
  };
}
