import { Accounts } from './accounts.ts';
import { SolanaAccounts } from './solana/accounts.ts';
import { TronAccounts } from './tron/accounts.ts';

/** The keys of one seed on each network. */
export class Keys {
  readonly erc20: Accounts;
  readonly trc20: TronAccounts;
  readonly spl: SolanaAccounts;

  /** @param seed of BIP 39, 64 bytes */
  constructor(seed: Uint8Array) {
    this.erc20 = new Accounts(seed);
    this.trc20 = new TronAccounts(seed);
    this.spl = new SolanaAccounts(seed);
  }

  /** The first four bytes of the master key's identifier (BIP 32), hex: it names the seed and tells nothing of it. */
  get fingerprint(): string {
    return this.erc20.fingerprint;
  }
}
