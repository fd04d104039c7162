import { ASSETS, type Asset, type Network } from '@florin/contract/money';
import { SignerClient } from '@florin/signer/client';
import type { OwnerCallAnswer } from '@florin/signer/protocol';
import type { SignerAddress } from '../../platform/config.ts';
import type { Logger } from '../../platform/observability/index.ts';
import { ownerFault } from '../account-keys.ts';
import type { AccountSource, ChainAccount, SignersAccount } from '../accounts.ts';
import { headOf } from '../blocks/scan.ts';
import type { LiveChains, NetworkFacts, SignedText, Tank } from '../live-chains.ts';
import { type NetworkState, readNetworkState } from '../network-state.ts';
import type { Broadcast } from '../port/port.ts';
import { SigningBlocked } from '../port/port-errors.ts';
import { BlockFeed } from './blocks.ts';
import {
  type DeploymentQuote,
  type MissingContract,
  openDeployer,
  quoteDeployments,
  readOpenDeployments,
  type SentDeployment,
  sendDeployments,
} from './deploy-contracts.ts';
import { EvmEndpoints } from './endpoints.ts';
import { EvmChain } from './evm-chain.ts';
import { AccountAddresses } from './extended-key.ts';
import { priceOf } from './fees.ts';
import type { EvmNetwork } from './network.ts';
import { CheckedNode } from './network-check.ts';
import { readFeeHistory, readsOf } from './node-answers.ts';
import { readNative } from './precheck.ts';
import { RemoteSigner } from './remote-signer.ts';
import { sendSigned } from './send.ts';
import { isSignedText } from './signed-text.ts';
import { type ContractReport, verifyContracts } from './verify-contracts.ts';

const TEST_REFRESH_MS = 500;

/** A call that a wallet outside of the signer sends. */
export type UnsignedOwnerCall = Extract<OwnerCallAnswer, { unsigned: object }>;

export interface LiveOptions {
  network: EvmNetwork;
  signer: SignerAddress;
  /** The installation's own account; undefined before it is opened: then nobody has a chain. */
  tankAccount: () => ChainAccount | undefined;
  /** Unix milliseconds. */
  nowMs: () => number;
  log: Logger;
  /** Certificate authorities (PEM) to trust beside the built-in ones. */
  ca?: string | undefined;
}

/** Ethereum as all live merchants of this process share it: the endpoints, one reading of blocks and the signer. */
export class LiveEthereum implements LiveChains, AccountSource {
  readonly holder: RemoteSigner;
  readonly #options: LiveOptions;
  readonly #rpc: EvmEndpoints;
  readonly #node: CheckedNode;
  readonly #feed: BlockFeed;
  readonly #chains = new Map<string, EvmChain>();

  constructor(options: LiveOptions) {
    const { network, signer, nowMs, log, ca } = options;
    this.#options = options;
    this.holder = new RemoteSigner(new SignerClient(signer), nowMs);
    this.#rpc = new EvmEndpoints(network, { log, ca });
    this.#node = new CheckedNode(this.#rpc, network, log);
    // A test network makes blocks as people ask for them.
    this.#feed = new BlockFeed(this.#node, network, network.isTest ? { refreshMs: TEST_REFRESH_MS } : {});
  }

  of({ merchantId, network, account, ...known }: ChainAccount): EvmChain | undefined {
    const tank = this.#options.tankAccount();
    if (network !== 'erc20' || tank === undefined) return undefined;
    const { extendedPublicKey, beginsAt, epoch, coldOwner } = known;
    // All that a chain keeps: a row that was wrong is put right under the eyes of a process that goes on.
    const keys = `${extendedPublicKey} ${tank.extendedPublicKey}`;
    const name = `${merchantId} ${account} ${epoch} ${coldOwner} ${beginsAt} ${keys}`;
    const opened = this.#chains.get(name);
    if (opened !== undefined) return opened;
    const chain = new EvmChain({
      network: this.#options.network,
      node: this.#node,
      feed: this.#feed,
      addresses: new AccountAddresses(extendedPublicKey),
      tank: new AccountAddresses(tank.extendedPublicKey).hot,
      beginsAt,
      epoch,
      coldOwner,
      nowMs: this.#options.nowMs,
      signer: this.holder,
      merchantId,
      account,
    });
    this.#chains.set(name, chain);
    return chain;
  }

  facts(network: Network): NetworkFacts | undefined {
    if (network !== 'erc20') return undefined;
    const { isTest, chainId, name, publicEndpoint, collector, tokens, explorer } = this.#options.network;
    const addresses: Partial<Record<Asset, string>> = {};
    for (const asset of ASSETS) {
      const address = tokens[asset]?.address;
      if (address !== undefined) addresses[asset] = address;
    }
    const wallets = { kind: 'ethereum', chainId } as const;
    return { isTest, wallets, name, publicEndpoint, collector, tokens: addresses, explorer };
  }

  async readTank(network: Network): Promise<Tank | undefined> {
    const account = this.#options.tankAccount();
    if (network !== 'erc20' || account === undefined) return undefined;
    const address = new AccountAddresses(account.extendedPublicKey).hot;
    return { address, native: await readNative(readsOf(this.#node), address) };
  }

  async isSignedText(network: Network, signed: SignedText): Promise<boolean> {
    return network === 'erc20' && (await isSignedText(this.#node, signed));
  }

  /** Wallets make their transactions themselves here. */
  payerCalls(): undefined {
    return undefined;
  }

  /**
   * Our contracts on the chain, the delegates of these accounts among them. The check of the
   * network that every other call makes first is left out: it stops at the first contract that is missing.
   *
   * @throws ChainUnavailable, SignerUnavailable
   */
  async verifyContracts(accounts: readonly ChainAccount[]): Promise<ContractReport[]> {
    const { network, tankAccount } = this.#options;
    const tankKey = tankAccount()?.extendedPublicKey ?? (await this.readAccount(0)).extendedPublicKey;
    const merchants = accounts.map(({ merchantId, extendedPublicKey, epoch }) => ({
      merchantId,
      hot: new AccountAddresses(extendedPublicKey).hotAt(epoch),
    }));
    return await verifyContracts(this.#rpc, {
      network,
      tank: new AccountAddresses(tankKey).hot,
      merchants,
    });
  }

  /**
   * What it costs to deploy these with the ether of that private key.
   *
   * @throws UnbuildableTransfer where it cannot be done now; FeeCeilingReached, ChainUnavailable
   */
  async quoteDeployments(key: string, missing: readonly MissingContract[]): Promise<DeploymentQuote> {
    const { network } = this.#options;
    return await quoteDeployments({ node: this.#rpc, network }, openDeployer(key).address, missing);
  }

  /** @throws UnbuildableTransfer where a node refuses one; ChainUnavailable, after which it may have been sent */
  async sendDeployments(key: string, quote: DeploymentQuote): Promise<SentDeployment[]> {
    const { network } = this.#options;
    return await sendDeployments({ node: this.#rpc, network }, openDeployer(key), quote);
  }

  /** Those that are not on the chain yet. @throws UnbuildableTransfer where one failed; ChainUnavailable */
  async readOpenDeployments(sent: readonly SentDeployment[]): Promise<SentDeployment[]> {
    return await readOpenDeployments(this.#rpc, sent);
  }

  /** The hot wallet of an account in an epoch, which need not have begun. */
  hotWallet({ extendedPublicKey }: ChainAccount, epoch: number): string {
    return new AccountAddresses(extendedPublicKey).hotAt(epoch);
  }

  /**
   * Sends a transaction of the owner of a merchant's account at the collector, a key of the signer, which names its present hot
   * wallet.
   *
   * @param call `raise`: how often its fees are raised by a quarter, as no block took it before
   * @returns what the node answered; what the chain has later decides
   * @throws SigningBlocked, FeeCeilingReached, ChainUnavailable
   */
  async sendOwnerCall(
    { account, epoch, coldOwner }: ChainAccount,
    call: { what: 'operator' | 'home'; nonce: bigint; raise: number; passphrase: string },
  ): Promise<Broadcast> {
    const { network } = this.#options;
    const price = priceOf(await readFeeHistory(readsOf(this.#node)), network.feeCeilings);
    const raised = (fee: bigint, most: bigint) => {
      const wanted = (fee * BigInt(4 + call.raise)) / 4n;
      return wanted < most ? wanted : most;
    };
    const { maxFeePerGas: most, maxPriorityFeePerGas: mostTip } = network.feeCeilings;
    const { what, nonce, passphrase } = call;
    const signed = await this.holder.ownerCall({
      account,
      epoch,
      what,
      nonce: String(nonce),
      maxFeePerGas: String(raised(price.maxFeePerGas, most)),
      maxPriorityFeePerGas: String(raised(price.maxPriorityFeePerGas, mostTip)),
      passphrase,
    });
    if (!('raw' in signed))
      throw new SigningBlocked('erc20', 'policy', ownerFault({ account, coldOwner }, signed.owner));
    const { raw, txId, owner: sender } = signed;
    return await sendSigned(this.#node, network, {
      network: 'erc20',
      raw,
      txId,
      sender,
      itemIds: [],
      sequence: String(nonce),
    });
  }

  /**
   * What the wallet of an account's cold owner has to send, to name the present hot wallet.
   *
   * @throws SigningBlocked, SignerUnavailable
   */
  async ownerCallOf(
    { account, epoch, coldOwner }: ChainAccount,
    call: { what: 'operator' | 'home'; passphrase: string },
  ): Promise<UnsignedOwnerCall> {
    const answer = await this.holder.ownerCall({ account, epoch, ...call });
    if (!('raw' in answer) && answer.owner === coldOwner) return answer;
    const signers = 'raw' in answer ? null : answer.owner;
    throw new SigningBlocked('erc20', 'policy', ownerFault({ account, coldOwner }, signers));
  }

  /** @throws SignerUnavailable */
  readAccount(account: number): Promise<SignersAccount> {
    return this.holder.readAccount(account);
  }

  readState(): Promise<NetworkState> {
    return readNetworkState(this.#options.network.name, {
      readHead: async () => headOf(await this.#feed.snapshot()),
      readEndpoints: () => this.#rpc.states(),
    });
  }

  /** @throws ChainUnavailable */
  async height(): Promise<bigint> {
    const { final } = await this.#feed.snapshot();
    return final.height;
  }

  /** Reads blocks on by itself, for a process that serves or works. */
  start(): void {
    this.#feed.start(this.#options.log);
  }

  async close(): Promise<void> {
    this.#feed.stop();
    this.holder.close();
    await this.#rpc.close();
  }
}
