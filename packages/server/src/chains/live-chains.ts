import type { Asset, Network } from '@florin/contract/money';
import type { Accounts, ChainAccount } from './accounts.ts';
import type { PayerCalls, PayerWallets } from './payer-wallets.ts';
import type { Chain } from './port/port.ts';
import type { WalletHolder } from './port/wallet-holder.ts';

/** The wallet that pays for sweeps and tops hot wallets up, for all live merchants. */
export interface Tank {
  address: string;
  /** In the smallest unit of the network's own coin. */
  native: bigint;
  /** Where it lends what it has staked. */
  stake?: Stake;
}

/** In the smallest unit of the network's own coin. */
interface Stake {
  /** At its own disposal. */
  free: bigint;
  lent: bigint;
  /** The addresses to which it is delegated; null where no endpoint lists them. */
  borrowers: readonly string[] | null;
}

/** What payers' wallets need to know of a network. */
export interface NetworkFacts {
  /** Its coins have no value. */
  isTest: boolean;
  /** Which wallets in payers' browsers pay on it; null: none. */
  wallets: PayerWallets | null;
  /** As the operator named it, and the node that payers' wallets may add it with; null where there is none. */
  name: string;
  publicEndpoint: string | null;
  /** The contract that charges wallets; null: none is charged. */
  collector: string | null;
  /** Contracts (mints on spl); an asset that is absent is not taken on this network. */
  tokens: Readonly<Partial<Record<Asset, string>>>;
  /** Links with `{tx_id}` and `{address}` to pages of the network's explorer; null: there is none. */
  explorer: { transaction: string; address: string } | null;
}

/** A text that a payer's wallet has signed. */
export interface SignedText {
  /** Canonical. */
  address: string;
  text: string;
  /** Hex. */
  signature: string;
}

/** Networks with real money. All merchants share each of them; what is a merchant's own are the keys of its account. */
export interface LiveChains {
  /** The network with the wallets of that account. @returns undefined where this installation has no node for it */
  of(account: ChainAccount): Chain | undefined;
  /** @returns undefined where this installation has no node for the network */
  facts(network: Network): NetworkFacts | undefined;
  /**
   * The gas tank of a network and what it holds, as of the newest block; undefined where there is none.
   *
   * @throws ChainUnavailable
   */
  readTank(network: Network): Promise<Tank | undefined>;
  /** @throws ChainUnavailable */
  isSignedText(network: Network, signed: SignedText): Promise<boolean>;
  /** Undefined where the network's wallets make their transactions themselves. */
  payerCalls(network: Network): PayerCalls | undefined;
  /** The signer, which holds the keys of all accounts. */
  readonly holder: WalletHolder;
}

/** Live chains, and who has which account on them. */
export interface LiveNetworks {
  chains: LiveChains;
  accounts: Pick<Accounts, 'find' | 'findNow' | 'load'>;
}

/** @returns undefined where the network is not set up, or the merchant has no account on it */
export function findLiveChain(
  live: LiveNetworks | undefined,
  merchantId: string,
  network: Network,
): Chain | undefined {
  const account = live?.accounts.find(merchantId, network);
  return account && live?.chains.of(account);
}
