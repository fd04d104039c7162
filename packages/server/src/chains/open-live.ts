import type { Network } from '@florin/contract/money';
import type { SignerAddress } from '../platform/config.ts';
import { NIL_ID } from '../platform/db/ids/index.ts';
import type { Db } from '../platform/db/index.ts';
import type { Logger } from '../platform/observability/index.ts';
import type { AccountSource, Accounts, ChainAccount, SignersAccount } from './accounts.ts';
import type { LiveEthereum } from './evm/live.ts';
import type { EvmNetwork } from './evm/network.ts';
import type { LiveChains, NetworkFacts, SignedText, Tank } from './live-chains.ts';
import type { Chain } from './port/port.ts';
import type { WalletHolder } from './port/wallet-holder.ts';
import type { LiveSolana } from './solana/live.ts';
import type { SolanaNetwork } from './solana/network.ts';

/** Real money: the networks, and who signs on them. */
export interface LiveConfig {
  network: EvmNetwork;
  /** Beside Ethereum; undefined: live merchants have none. */
  solana?: SolanaNetwork | undefined;
  signer: SignerAddress;
  /** Additional certificate authorities (PEM) for endpoints. */
  ca?: string | undefined;
}

interface LiveDeps {
  db: Db;
  accounts: Pick<Accounts, 'find'>;
  /** Unix milliseconds. */
  nowMs: () => number;
  log: Logger;
}

/**
 * Opens the networks of live merchants. Their libraries are loaded here and not at the start of every process: they take 30 MB,
 * and a sandbox needs none of them.
 */
export async function openLive(config: LiveConfig, { db, accounts, ...deps }: LiveDeps): Promise<OpenedLive> {
  const { network, solana: named, signer, ca } = config;
  const tankOf = (of: Network) => () => accounts.find(NIL_ID, of);
  const { LiveEthereum } = await import('./evm/live.ts');
  const ethereum = new LiveEthereum({ ...deps, network, signer, ca, tankAccount: tankOf('erc20') });
  if (named === undefined) return new OpenedLive(ethereum, undefined);
  const { LiveSolana } = await import('./solana/live.ts');
  const { holder } = ethereum;
  const options = { ...deps, db, network: named, signer: holder, ca, tankAccount: tankOf('spl') };
  return new OpenedLive(ethereum, new LiveSolana(options));
}

/** The networks of live merchants, each by its name. One signer holds the keys of all. */
export class OpenedLive implements LiveChains {
  readonly ethereum: LiveEthereum;
  readonly holder: WalletHolder;
  readonly #solana: LiveSolana | undefined;

  constructor(ethereum: LiveEthereum, solana: LiveSolana | undefined) {
    this.ethereum = ethereum;
    this.holder = ethereum.holder;
    this.#solana = solana;
  }

  of(account: ChainAccount): Chain | undefined {
    return account.network === 'spl' ? this.#solana?.of(account) : this.ethereum.of(account);
  }

  facts(network: Network): NetworkFacts | undefined {
    return network === 'spl' ? this.#solana?.facts() : this.ethereum.facts(network);
  }

  async readTank(network: Network): Promise<Tank | undefined> {
    return network === 'spl' ? await this.#solana?.readTank() : await this.ethereum.readTank(network);
  }

  isSignedText(network: Network, signed: SignedText): Promise<boolean> {
    return this.ethereum.isSignedText(network, signed);
  }

  /** Where the facts of accounts on a network come from; undefined where live merchants have none there. */
  sourceOf(network: Network): AccountSource | undefined {
    if (network === 'spl') return this.#solana;
    return network === 'erc20' ? this.ethereum : undefined;
  }

  /** Undefined where the networks file no longer names the network. @throws SignerUnavailable */
  async readAccount(account: number, network: Network): Promise<SignersAccount | undefined> {
    return await this.sourceOf(network)?.readAccount(account);
  }

  /** Reads blocks on by itself, for a process that serves or works. */
  start(): void {
    this.ethereum.start();
  }

  async close(): Promise<void> {
    await this.ethereum.close();
    await this.#solana?.close();
  }
}
