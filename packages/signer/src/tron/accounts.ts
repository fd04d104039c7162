import { Accounts, type Key } from '../accounts.ts';
import { tronOfAccount } from './address.ts';

const TRON = 195;

const onTron = ({ address, privateKey }: Key): Key => ({ address: tronOfAccount(address), privateKey });

/**
 * The keys of one seed on Tron, below `m/44'/195'`, as on Ethereum: account 0 is the installation's, and its hot wallet gives TRX
 * and energy to the others.
 */
export class TronAccounts {
  readonly #keys: Accounts;

  /** @param seed of BIP 39, 64 bytes */
  constructor(seed: Uint8Array) {
    this.#keys = new Accounts(seed, TRON);
  }

  /** BIP 32, of `m/44'/195'/a'`: deposit addresses follow from it. */
  extendedPublicKey(account: number): string {
    return this.#keys.extendedPublicKey(account);
  }

  hot(account: number): Key {
    return onTron(this.#keys.hot(account));
  }

  /** The owner of the merchant's account at the collector. */
  owner(account: number): Key {
    return onTron(this.#keys.owner(account));
  }

  deposit(account: number, index: number): Key {
    return onTron(this.#keys.deposit(account, index));
  }
}
