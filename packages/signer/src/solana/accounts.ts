import { ed25519 } from '@noble/curves/ed25519.js';
import { KEPT_MAX, type Key } from '../accounts.ts';
import { Recent } from '../recent.ts';
import { solanaAddressOf } from './address.ts';
import { deriveChild, deriveEd25519 } from './keys.ts';

const BIP_44 = 44;
const SOLANA = 501;
const DEPOSITS = 0;
const WALLETS = 1;
const DELEGATES = 3;

/**
 * The keys of one seed on Solana, below `m/44'/501'`, each step hardened: nobody derives their addresses without the seed.
 * Account 0 is the installation's: its hot wallet pays fees and rent of all transactions.
 */
export class SolanaAccounts {
  readonly #root: ReturnType<typeof deriveEd25519>;
  readonly #hot = new Recent<number, Key>(KEPT_MAX);

  /** @param seed of BIP 39, 64 bytes */
  constructor(seed: Uint8Array) {
    this.#root = deriveEd25519(seed, [BIP_44, SOLANA]);
  }

  /** The key of `m/44'/501'/a'/1'/0'`. */
  hot(account: number): Key {
    return this.#hot.get(account, () => this.#key(account, WALLETS, 0));
  }

  /** The key of `m/44'/501'/a'/0'/i'`. */
  deposit(account: number, index: number): Key {
    return this.#key(account, DEPOSITS, index);
  }

  /** The key of `m/44'/501'/0'/3'/0'`, to which payers' wallets give an allowance: one for all merchants. */
  delegate(): Key {
    return this.#key(0, DELEGATES, 0);
  }

  #key(...path: number[]): Key {
    const { privateKey } = path.reduce(deriveChild, this.#root);
    return { address: solanaAddressOf(ed25519.getPublicKey(privateKey)), privateKey };
  }
}
