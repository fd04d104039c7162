import { tronOfAccount } from '@florin/signer/tron';
import type { Logger } from '../../platform/observability/index.ts';
import type { AccountSource, ChainAccount, SignersAccount } from '../accounts.ts';
import { headOf } from '../blocks/scan.ts';
import { AccountAddresses } from '../evm/extended-key.ts';
import type { NetworkFacts, SignedText, Tank } from '../live-chains.ts';
import { type NetworkState, readNetworkState } from '../network-state.ts';
import type {
  ApprovalTransaction,
  PayerApproval,
  PayerCalls,
  PayerTransaction,
  PayerTransfer,
} from '../payer-wallets.ts';
import { plainFacts } from '../plain-facts.ts';
import { CheckedTron } from './checked-tron.ts';
import { TronEndpoints } from './endpoints.ts';
import { TronFeed } from './feed.ts';
import { PriceList } from './fees.ts';
import { readBorrowers } from './lending.ts';
import { chainIdOf, type TronNetwork } from './network.ts';
import { buildPayerApproval } from './payer-approval.ts';
import { buildPayerTransfer, type PayerContext } from './payer-transfer.ts';
import { readHoldings } from './resources.ts';
import { isSignedText } from './signed-text.ts';
import type { TronSigner } from './signing.ts';
import { TronChain } from './tron-chain.ts';

/** A test network makes blocks as people ask for them. */
const TEST_REFRESH_MS = 250;

/** What the signer says beside its signatures. */
export interface TronAccountSigner extends TronSigner {
  /** @throws SignerUnavailable */
  readTronAccount(account: number): Promise<SignersAccount>;
}

interface LiveTronOptions {
  network: TronNetwork;
  signer: TronAccountSigner;
  /** The installation's own account; undefined before it is opened: then nobody has a chain. */
  tankAccount: () => ChainAccount | undefined;
  /** Unix milliseconds. */
  nowMs: () => number;
  log: Logger;
  /** Certificate authorities (PEM) to trust beside the built-in ones. */
  ca?: string | undefined;
}

/** Tron as all live merchants of this process share it. Keys are derived as on Ethereum; addresses are spelled otherwise. */
export class LiveTron implements AccountSource, PayerCalls {
  readonly #options: LiveTronOptions;
  readonly #rpc: TronEndpoints;
  readonly #node: CheckedTron;
  readonly #feed: TronFeed;
  readonly #prices: PriceList;
  readonly #chains = new Map<string, TronChain>();

  constructor(options: LiveTronOptions) {
    const { network, log, ca } = options;
    this.#options = options;
    this.#rpc = new TronEndpoints(network, { log, ca });
    this.#node = new CheckedTron(this.#rpc, network, log);
    this.#prices = new PriceList(this.#node);
    this.#feed = new TronFeed(this.#node, network, network.isTest ? { refreshMs: TEST_REFRESH_MS } : {});
  }

  of({ merchantId, account, extendedPublicKey, beginsAt }: ChainAccount): TronChain | undefined {
    const { network, signer, nowMs, tankAccount } = this.#options;
    const resource = tankAccount()?.extendedPublicKey;
    if (resource === undefined) return undefined;
    // All that a chain keeps: a row that was wrong is put right under the eyes of a process that goes on.
    const named = `${merchantId} ${account} ${beginsAt} ${extendedPublicKey} ${resource}`;
    const opened = this.#chains.get(named);
    if (opened !== undefined) return opened;
    const addresses = new AccountAddresses(extendedPublicKey);
    const chain = new TronChain({
      network,
      node: this.#node,
      feed: this.#feed,
      wallets: {
        hot: tronOfAccount(addresses.hot),
        owner: tronOfAccount(addresses.owner),
        resource: hotOf(resource),
        deposit: (index) => tronOfAccount(addresses.deposit(index)),
      },
      beginsAt,
      nowMs,
      signer,
      merchantId,
      account,
    });
    this.#chains.set(named, chain);
    return chain;
  }

  facts(): NetworkFacts {
    const { network } = this.#options;
    const wallets = { kind: 'tron', chainId: chainIdOf(network) } as const;
    const facts = plainFacts(network, (asset) => network.tokens[asset]?.contract, wallets);
    return { ...facts, collector: network.collector };
  }

  async isSignedText(signed: SignedText): Promise<boolean> {
    return isSignedText(signed);
  }

  /** @throws ChainUnavailable */
  async payerTransfer(transfer: PayerTransfer): Promise<PayerTransaction | undefined> {
    return await buildPayerTransfer(this.#payerContext(), transfer);
  }

  /** @throws ChainUnavailable */
  async payerApproval(approval: PayerApproval): Promise<ApprovalTransaction | undefined> {
    return await buildPayerApproval(this.#payerContext(), approval);
  }

  #payerContext(): PayerContext {
    const { network } = this.#options;
    return { network, node: this.#node, feed: this.#feed, prices: this.#prices };
  }

  async spender(): Promise<string | null> {
    return this.#options.network.collector;
  }

  /** The wallet that gives the others TRX. @throws ChainUnavailable */
  async readTank(): Promise<Tank | undefined> {
    const account = this.#options.tankAccount();
    if (account === undefined) return undefined;
    const address = hotOf(account.extendedPublicKey);
    const { trx: native, staked: free, lent } = await readHoldings(this.#node, address);
    if (free === 0n && lent === 0n) return { address, native };
    const borrowers = lent === 0n ? [] : await readBorrowers(this.#node, address);
    return { address, native, stake: { free, lent, borrowers } };
  }

  /** @throws SignerUnavailable */
  readAccount(account: number): Promise<SignersAccount> {
    return this.#options.signer.readTronAccount(account);
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

  close(): Promise<void> {
    return this.#rpc.close();
  }
}

const hotOf = (extendedPublicKey: string): string =>
  tronOfAccount(new AccountAddresses(extendedPublicKey).hot);
