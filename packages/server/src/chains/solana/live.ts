import type { Db } from '../../platform/db/index.ts';
import type { Logger } from '../../platform/observability/index.ts';
import type { AccountSource, ChainAccount, SignersAccount } from '../accounts.ts';
import type { NetworkFacts, SignedText, Tank } from '../live-chains.ts';
import { type NetworkState, readNetworkState } from '../network-state.ts';
import type {
  ApprovalTransaction,
  LostApproval,
  PayerApproval,
  PayerCalls,
  PayerTransaction,
  PayerTransfer,
} from '../payer-wallets.ts';
import { plainFacts } from '../plain-facts.ts';
import { findPooled } from '../pool/index.ts';
import { SignerUnavailable } from '../port/port-errors.ts';
import { TokenAccountTable } from './account-table.ts';
import { CheckedSolana } from './checked-solana.ts';
import { SolanaEndpoints } from './endpoints.ts';
import { HeadFeed, headOf } from './heads.ts';
import { MarkTable } from './mark-table.ts';
import { chainNameOf, type SolanaNetwork } from './network.ts';
import { buildPayerApproval, readLostApproval } from './payer-approval.ts';
import { buildPayerTransfer, type PayerContext } from './payer-transfer.ts';
import { isSignedText } from './signed-text.ts';
import type { SolanaSigner } from './signing.ts';
import { SolanaChain } from './solana-chain.ts';

/** A test network makes blocks as people ask for them. */
const TEST_REFRESH_MS = 250;

/** What the signer says beside its signatures. */
export interface AddressSigner extends SolanaSigner {
  /** The hot wallet of an account; of account 0 the fee payer. @throws SignerUnavailable */
  readSolanaWallet(account: number): Promise<string>;
  /** Of mandates; null: its policy has no charges. @throws SignerUnavailable */
  readSolanaDelegate(): Promise<string | null>;
  /** @throws SignerUnavailable */
  nameAddresses(request: { account: number; from: number; count: number }): Promise<readonly string[]>;
}

interface LiveSolanaOptions {
  network: SolanaNetwork;
  signer: AddressSigner;
  db: Db;
  /** The installation's own account; undefined before it is opened: then nobody has a chain. */
  tankAccount: () => ChainAccount | undefined;
  /** Unix milliseconds. */
  nowMs: () => number;
  log: Logger;
  /** Certificate authorities (PEM) to trust beside the built-in ones. */
  ca?: string | undefined;
}

/**
 * Solana as all live merchants of this process share it. No public key derives keys here: what an account has in the place of an extended
 * public key is the address of its hot wallet, and deposit addresses are those that the signer has named.
 */
export class LiveSolana implements AccountSource, PayerCalls {
  readonly #options: LiveSolanaOptions;
  readonly #rpc: SolanaEndpoints;
  readonly #node: CheckedSolana;
  readonly #feed: HeadFeed;
  readonly #chains = new Map<string, SolanaChain>();
  #delegate: string | null | undefined;

  constructor(options: LiveSolanaOptions) {
    const { network, log, ca } = options;
    this.#options = options;
    this.#rpc = new SolanaEndpoints(network, { log, ca });
    this.#node = new CheckedSolana(this.#rpc, network, log);
    this.#feed = new HeadFeed(this.#node, network.isTest ? TEST_REFRESH_MS : undefined);
  }

  of({ merchantId, account, extendedPublicKey: hot, beginsAt }: ChainAccount): SolanaChain | undefined {
    const { network, signer, db, nowMs, log, tankAccount } = this.#options;
    const feePayer = tankAccount()?.extendedPublicKey;
    if (feePayer === undefined) return undefined;
    // All that a chain keeps: a row that was wrong is put right under the eyes of a process that goes on.
    const named = `${merchantId} ${account} ${beginsAt} ${hot} ${feePayer}`;
    const opened = this.#chains.get(named);
    if (opened !== undefined) return opened;
    const place = { merchantId, network: 'spl' } as const;
    const chain = new SolanaChain({
      network,
      node: this.#node,
      feed: this.#feed,
      wallets: {
        hot,
        feePayer,
        delegate: () => this.spender(),
        deposit: async (index) => (await findPooled(db, place, BigInt(index))).address?.address,
        name: (range) => this.#name({ account, hot }, range),
      },
      marks: new MarkTable(db, merchantId),
      tokenAccounts: new TokenAccountTable(db, merchantId),
      log,
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
    const wallets = { kind: 'solana', chain: chainNameOf(network) } as const;
    return plainFacts(network, (asset) => network.tokens[asset]?.mint, wallets);
  }

  async isSignedText(signed: SignedText): Promise<boolean> {
    return isSignedText(signed);
  }

  /** @throws ChainUnavailable */
  async payerTransfer(transfer: PayerTransfer): Promise<PayerTransaction | undefined> {
    return await buildPayerTransfer(this.#payerContext(), transfer);
  }

  /** @throws ChainUnavailable, SignerUnavailable */
  async payerApproval(approval: PayerApproval): Promise<ApprovalTransaction | undefined> {
    const delegate = await this.spender();
    return delegate === null ? undefined : await buildPayerApproval(this.#payerContext(), delegate, approval);
  }

  /** @throws ChainUnavailable, SignerUnavailable */
  async lostApproval(wallet: Pick<PayerApproval, 'from' | 'asset'>): Promise<LostApproval | null> {
    const delegate = await this.spender();
    return delegate === null ? null : await readLostApproval(this.#payerContext(), delegate, wallet);
  }

  #payerContext(): PayerContext {
    return { network: this.#options.network, node: this.#node, feed: this.#feed };
  }

  /** While the signer is away: what it said before. @throws SignerUnavailable */
  async spender(): Promise<string | null> {
    try {
      this.#delegate = await this.#options.signer.readSolanaDelegate();
    } catch (error) {
      if (!(error instanceof SignerUnavailable) || this.#delegate === undefined) throw error;
    }
    return this.#delegate;
  }

  /** The fee payer. @throws ChainUnavailable */
  async readTank(): Promise<Tank | undefined> {
    const account = this.#options.tankAccount();
    const address = account?.extendedPublicKey;
    if (account === undefined || address === undefined) return undefined;
    const native = await this.of(account)?.nativeBalance(address);
    return native === undefined ? undefined : { address, native };
  }

  /** @throws SignerUnavailable */
  async readAccount(account: number): Promise<SignersAccount> {
    const hot = await this.#options.signer.readSolanaWallet(account);
    return { extendedPublicKey: hot, epoch: 0, coldOwner: null };
  }

  readState(): Promise<NetworkState> {
    return readNetworkState(this.#options.network.name, {
      readHead: async () => headOf(await this.#feed.heads()),
      readEndpoints: () => this.#rpc.states(),
    });
  }

  /** @throws ChainUnavailable */
  async height(): Promise<bigint> {
    const { final } = await this.#feed.heads();
    return final.slot;
  }

  close(): Promise<void> {
    return this.#rpc.close();
  }

  /** Coins at addresses of another seed would be out of reach. */
  async #name(
    { account, hot }: { account: number; hot: string },
    range: { from: number; count: number },
  ): Promise<readonly string[]> {
    const { signer } = this.#options;
    if ((await signer.readSolanaWallet(account)) !== hot)
      throw new SignerUnavailable(
        'spl',
        `the signer has other keys for account ${account} than it was opened with`,
      );
    return await signer.nameAddresses({ account, ...range });
  }
}
