import type { Network } from '@florin/contract/money';
import type { SignerAddress } from '../platform/config.ts';
import { NIL_ID } from '../platform/db/ids/index.ts';
import type { Db } from '../platform/db/index.ts';
import type { Logger } from '../platform/observability/index.ts';
import type { AccountSource, Accounts, ChainAccount, SignersAccount } from './accounts.ts';
import type { LiveEthereum } from './evm/live.ts';
import type { EvmNetwork } from './evm/network.ts';
import type { LiveChains, NetworkFacts, SignedText, Tank } from './live-chains.ts';
import type { NetworkState } from './network-state.ts';
import type { PayerCalls } from './payer-wallets.ts';
import type { Chain } from './port/port.ts';
import type { WalletHolder } from './port/wallet-holder.ts';
import type { LiveSolana } from './solana/live.ts';
import type { SolanaNetwork } from './solana/network.ts';
import type { LiveTron } from './tron/live.ts';
import type { TronNetwork } from './tron/network.ts';

/** Real money: the networks, and who signs on them. */
export interface LiveConfig {
  network: EvmNetwork;
  /** Beside Ethereum, as Solana; undefined: live merchants have none. */
  tron?: TronNetwork | undefined;
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
  const { network, tron, solana, signer, ca } = config;
  const tankOf = (of: Network) => () => accounts.find(NIL_ID, of);
  const { LiveEthereum } = await import('./evm/live.ts');
  const ethereum = new LiveEthereum({ ...deps, network, signer, ca, tankAccount: tankOf('erc20') });
  const common = { ...deps, signer: ethereum.holder, ca };
  const others: LiveOthers = {};
  if (tron !== undefined) {
    const { LiveTron } = await import('./tron/live.ts');
    others.trc20 = new LiveTron({ ...common, network: tron, tankAccount: tankOf('trc20') });
  }
  if (solana !== undefined) {
    const { LiveSolana } = await import('./solana/live.ts');
    others.spl = new LiveSolana({ ...common, db, network: solana, tankAccount: tankOf('spl') });
  }
  return new OpenedLive(ethereum, others);
}

/** Networks beside Ethereum. */
interface LiveOthers {
  trc20?: LiveTron;
  spl?: LiveSolana;
}

/** The networks of live merchants, each by its name. One signer holds the keys of all. */
export class OpenedLive implements LiveChains {
  readonly ethereum: LiveEthereum;
  readonly holder: WalletHolder;
  readonly #others: LiveOthers;

  constructor(ethereum: LiveEthereum, others: LiveOthers) {
    this.ethereum = ethereum;
    this.holder = ethereum.holder;
    this.#others = others;
  }

  of(account: ChainAccount): Chain | undefined {
    const { network } = account;
    return network === 'erc20' ? this.ethereum.of(account) : this.#others[network]?.of(account);
  }

  facts(network: Network): NetworkFacts | undefined {
    return network === 'erc20' ? this.ethereum.facts(network) : this.#others[network]?.facts();
  }

  async readTank(network: Network): Promise<Tank | undefined> {
    return network === 'erc20'
      ? await this.ethereum.readTank(network)
      : await this.#others[network]?.readTank();
  }

  /** How a network and its endpoints are; undefined where the networks file does not name it. */
  async readState(network: Network): Promise<NetworkState | undefined> {
    return network === 'erc20' ? await this.ethereum.readState() : await this.#others[network]?.readState();
  }

  isSignedText(network: Network, signed: SignedText): Promise<boolean> {
    if (network === 'erc20') return this.ethereum.isSignedText(network, signed);
    return this.#others[network]?.isSignedText(signed) ?? Promise.resolve(false);
  }

  payerCalls(network: Network): PayerCalls | undefined {
    return network === 'erc20' ? undefined : this.#others[network];
  }

  /** Where the facts of accounts on a network come from; undefined where live merchants have none there. */
  sourceOf(network: Network): AccountSource | undefined {
    return network === 'erc20' ? this.ethereum : this.#others[network];
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
    await this.#others.trc20?.close();
    await this.#others.spl?.close();
  }
}
