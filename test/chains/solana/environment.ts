import { ASSETS, type Asset } from '@florin/contract/money';
import {
  type Address,
  address,
  appendTransactionMessageInstructions,
  blockhash,
  createKeyPairSignerFromPrivateKeyBytes,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import {
  getApproveCheckedInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getRevokeInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token';
import type { Mandate } from '../../../packages/server/src/chains/port/port.ts';
import { slicesOf } from '../../../packages/server/src/chains/rpc/slices.ts';
import type { TokenAccounts } from '../../../packages/server/src/chains/solana/derive-accounts.ts';
import { SolanaEndpoints } from '../../../packages/server/src/chains/solana/endpoints.ts';
import { HeadFeed } from '../../../packages/server/src/chains/solana/heads.ts';
import { type Mark, type Marks, NO_MARK } from '../../../packages/server/src/chains/solana/marks.ts';
import type { SolanaNetwork } from '../../../packages/server/src/chains/solana/network.ts';
import type { SolanaNode as RpcSolanaNode } from '../../../packages/server/src/chains/solana/node.ts';
import type { SolanaSigner } from '../../../packages/server/src/chains/solana/signing.ts';
import { SolanaChain } from '../../../packages/server/src/chains/solana/solana-chain.ts';
import { createLogger } from '../../../packages/server/src/platform/observability/index.ts';
import { toHex } from '../../../packages/signer/src/bytes.ts';
import {
  decodeSolanaMessage,
  encodeSignedSolana,
  signSolanaMessage,
} from '../../../packages/signer/src/solana/message.ts';
import { publicTestKey } from '../../nodes/solana/controls.ts';
import { type SolanaNode, startSolanaNode } from '../../nodes/solana/node.ts';
import { readTransaction, type WireTransaction } from '../../nodes/solana/wire.ts';
import { tokenAddress } from '../../nodes/solana-client.ts';
import type { PayerTransfer, WalletOfPayer } from '../conformance-environment.ts';
import { KEYS, SolanaKeySigner } from './key-signer.ts';
import { MemoryAccounts } from './memory-accounts.ts';
import { signAs, signedBy, walletOf } from './named-wallets.ts';

/** Confirmations of a final block. */
export const FINAL_BLOCKS = 4;
const SOL = 1_000_000_000n;
const SOME = 10n ** 15n;
const OLD_BLOCKS = 5;
/** Payments with their accounts that fit into a transaction. */
const TOGETHER = 6;

/** Marks in memory, as a table keeps them. */
export class MemoryMarks implements Marks {
  readonly known = new Map<string, Mark>();
  /** Account → owner, as the table of token accounts has it. */
  readonly ownerOf = new Map<string, string>();
  #saved = 0;

  get saved(): number {
    return this.#saved;
  }

  async find(accounts: readonly string[]): Promise<ReadonlyMap<string, Mark>> {
    return new Map([...this.known].filter(([account]) => accounts.includes(account)));
  }

  async reportedBehind(cursor: bigint): Promise<string[]> {
    const accounts = [...this.known].flatMap(([account, mark]) =>
      mark.reportedAt > cursor ? [account] : [],
    );
    return accounts.flatMap((account) => this.ownerOf.get(account) ?? []);
  }

  async noteLeaving(accounts: readonly string[], { slot, by }: { slot: bigint; by: string }) {
    for (const account of accounts) {
      const mark = this.known.get(account) ?? NO_MARK;
      this.known.set(account, { ...mark, leavingSince: slot, sweptBy: mark.sweptBy ?? by });
    }
    return new Set(accounts.filter((account) => this.known.get(account)?.sweptBy === by));
  }

  async save(marks: ReadonlyMap<string, Mark>, _found: ReadonlyMap<string, Mark>): Promise<void> {
    for (const [account, mark] of marks) this.known.set(account, mark);
    this.#saved += marks.size;
  }
}

/** As the port offers it, or as a page hands it on. */
interface OfferedMandate {
  mandate: Pick<Mandate, 'payer' | 'mandateId'>;
  steps: readonly { kind: string; transaction?: string; message?: string }[];
}

/** A local Solana, and people on it who pay. */
export class SolanaEnvironment {
  readonly node: SolanaNode;
  readonly network: SolanaNetwork;
  readonly signer = new SolanaKeySigner();
  readonly unlisted: Address;
  readonly #stocked = new Set<string>();
  readonly #paid = new Map<string, WireTransaction>();

  private constructor(node: SolanaNode, network: SolanaNetwork, unlisted: Address) {
    this.node = node;
    this.network = network;
    this.unlisted = unlisted;
  }

  static async start(): Promise<SolanaEnvironment> {
    const node = await startSolanaNode({
      blocks: 'byHand',
      confirmedDepth: 0,
      finalizedDepth: FINAL_BLOCKS - 1,
    });
    const network: SolanaNetwork = {
      name: 'Solana for tests',
      isTest: true,
      endpoints: [{ url: node.url, isOwn: true }],
      genesisHash: node.chain.genesisHash,
      tokens: {
        USDT: { mint: await node.controls.createToken('USDT') },
        USDC: { mint: await node.controls.createToken('USDC') },
      },
      feeCeilings: { computeUnits: 600_000, priorityFee: 1_000_000n },
      explorer: null,
    };
    const unlisted = await node.controls.createToken('a token that calls itself USDT');
    node.controls.fund(address(KEYS.hot(0).address), 1_000n * SOL);
    const environment = new SolanaEnvironment(node, network, unlisted);
    // Its tests look back on blocks that were there before them.
    environment.mine(100);
    return environment;
  }

  mint(asset: Asset | null): Address {
    return asset === null ? this.unlisted : address(this.network.tokens[asset]?.mint ?? '');
  }

  mine(blocks: number): void {
    for (let made = 0; made < blocks; made += 1) this.node.chain.produce();
  }

  endpoints(network = this.network): SolanaEndpoints {
    return new SolanaEndpoints(network, { log: createLogger('silent'), timeoutMs: 5_000, restMs: 0 });
  }

  /** A merchant's chain as this node shows it. */
  open(
    node: RpcSolanaNode,
    {
      account = 1,
      marks = new MemoryMarks() as Marks,
      tokenAccounts = new MemoryAccounts() as TokenAccounts,
      network = this.network,
      signer = this.signer as SolanaSigner,
      merchantId = 'merchant',
      delegate = KEYS.delegate().address as string | null,
      nowMs = () => Date.now(),
      name = async (from: number, count: number) =>
        Array.from({ length: count }, (_, i) => KEYS.deposit(account, from + i).address),
    } = {},
  ) {
    return new SolanaChain({
      network,
      node,
      feed: new HeadFeed(node, 0),
      wallets: {
        hot: KEYS.hot(account).address,
        feePayer: KEYS.hot(0).address,
        delegate: async () => delegate,
        deposit: async (index) => KEYS.deposit(account, index).address,
        name: ({ from, count }) => name(from, count),
      },
      marks,
      tokenAccounts,
      log: createLogger('silent'),
      nowMs,
      signer,
      merchantId,
      account,
    });
  }

  /** Coins out of nothing, in a block of their own. */
  async give(asset: Asset, owner: string, amount: bigint): Promise<void> {
    await this.node.controls.mint(this.mint(asset), address(owner), amount);
  }

  /** All in one transaction, in the newest block; the accounts of the recipients are opened in it. @returns its id */
  async pay(transfers: readonly PayerTransfer[]): Promise<string> {
    const payer = await this.#feePayer();
    const opening = new Map<string, Instruction>();
    const moves: Instruction[] = [];
    for (const { from, to, asset, amount } of transfers) {
      const mint = this.mint(asset);
      await this.#stock(from);
      const source = await tokenAddress(address(from), mint);
      const destination = await tokenAddress(address(to), mint);
      const shape = { payer, ata: destination, owner: address(to), mint };
      opening.set(destination, getCreateAssociatedTokenIdempotentInstruction(shape));
      const authority = await this.#signerOf(from);
      moves.push(
        getTransferCheckedInstruction({ source, mint, destination, authority, amount, decimals: 6 }),
      );
    }
    if (transfers.length <= TOGETHER) return await this.#put(payer, [...opening.values(), ...moves], 'mined');
    // Together they would be too large.
    const missing = [...opening].filter(([account]) => !this.node.chain.account(address(account)).exists);
    const parts = slicesOf(missing, TOGETHER);
    for (const part of parts)
      await this.#put(
        payer,
        part.map(([, instruction]) => instruction),
      );
    if (parts.length > 0) this.mine(1);
    return await this.#put(payer, moves, 'mined');
  }

  readonly #signatures = new Map<string, string>();

  /** The payer's wallet sends the approval, and signs the message. */
  async authorize({ mandate, steps }: OfferedMandate): Promise<void> {
    const name = this.#nameOf(mandate.payer);
    for (const step of steps) {
      if (step.kind === 'activate')
        this.#signatures.set(mandate.mandateId, toHex(signAs(name, Buffer.from(step.message ?? ''))));
      if (step.kind !== 'approve') continue;
      this.node.controls.fund(address(mandate.payer), SOL);
      const message = decodeSolanaMessage(
        Uint8Array.from(Buffer.from(step.transaction?.slice(2) ?? '', 'hex')),
      );
      const bytes = encodeSignedSolana(signSolanaMessage(message, () => publicTestKey(name)));
      this.#send(Buffer.from(bytes).toString('base64'), 'mined');
    }
  }

  /** Of a mandate that was authorised. */
  signatureOf({ mandateId }: Pick<Mandate, 'mandateId'>): string | undefined {
    return this.#signatures.get(mandateId);
  }

  /** @param spender our delegate by default */
  async approve(
    { owner, asset }: WalletOfPayer,
    amount: bigint,
    spender = KEYS.delegate().address,
  ): Promise<void> {
    const mint = this.mint(asset);
    const source = await tokenAddress(address(owner), mint);
    const by = { source, mint, delegate: address(spender), owner: await this.#signerOf(owner) };
    await this.#put(
      await this.#feePayer(),
      [getApproveCheckedInstruction({ ...by, amount, decimals: 6 })],
      'mined',
    );
  }

  async revoke({ payer, asset }: Pick<Mandate, 'payer' | 'asset'>): Promise<void> {
    const source = await tokenAddress(address(payer), this.mint(asset));
    const owner = await this.#signerOf(payer);
    await this.#put(await this.#feePayer(), [getRevokeInstruction({ source, owner })], 'mined');
  }

  /** Sets what a payer's wallet holds. */
  async hold({ owner, asset }: WalletOfPayer, balance: bigint): Promise<void> {
    const mint = this.mint(asset);
    const source = await tokenAddress(address(owner), mint);
    const account = this.node.chain.account(source);
    const held = account.exists ? Buffer.from(account.data).readBigUInt64LE(64) : 0n;
    if (balance > held) await this.give(asset, owner, balance - held);
    if (balance >= held) return;
    const elsewhere = this.wallet('where payers put what they do not need');
    await this.give(asset, elsewhere, 1n);
    const destination = await tokenAddress(address(elsewhere), mint);
    const authority = await this.#signerOf(owner);
    const amount = held - balance;
    const transfer = { source, mint, destination, authority, amount, decimals: 6 };
    await this.#put(await this.#feePayer(), [getTransferCheckedInstruction(transfer)], 'mined');
  }

  async #feePayer(): Promise<KeyPairSigner> {
    const payer = await this.#keyOf('whoever pays the fee of payers');
    this.node.controls.fund(payer.address, SOL);
    return payer;
  }

  async #put(payer: KeyPairSigner, instructions: readonly Instruction[], mined?: 'mined'): Promise<string> {
    const { chain } = this.node;
    // Of a block that forks of these tests leave alone.
    const { hash, height } = chain.blockAt(chain.blocks.length - OLD_BLOCKS - FINAL_BLOCKS);
    const lifetime = { blockhash: blockhash(hash), lastValidBlockHeight: BigInt(height + 150) };
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (empty) => setTransactionMessageFeePayerSigner(payer, empty),
      (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
      (dated) => appendTransactionMessageInstructions(instructions, dated),
    );
    const signed = await signTransactionMessageWithSigners(message);
    return this.#send(getBase64EncodedWireTransaction(signed), mined);
  }

  #send(base64: string, mined?: 'mined'): string {
    const { chain } = this.node;
    const wire = readTransaction(base64, 'base64');
    this.#paid.set(wire.signature, wire);
    chain.pool.set(wire.signature, wire);
    if (mined === undefined) return wire.signature;
    chain.produce();
    const err = chain.transactions.get(wire.signature)?.err;
    if (err !== null) throw new Error(`the payment failed: ${JSON.stringify(err)}`);
    return wire.signature;
  }

  /** As many blocks come in the place of those that vanish; payers' transactions are in the last of them, or in none. */
  reorg(depth: number, { remine }: { remine: boolean } = { remine: false }): void {
    const { chain } = this.node;
    const undone = chain.fork(depth).filter(({ signature }) => this.#paid.has(signature));
    this.mine(depth - 1);
    if (remine) for (const wire of undone) chain.pool.set(wire.signature, wire);
    chain.produce();
  }

  readonly #names = new Map<string, string>();

  /** A wallet that anybody can pay from. */
  wallet(name: string): string {
    const known = walletOf(name);
    this.#names.set(known, name);
    return known;
  }

  /** Signs a transaction of one signer and sends it to the node; it lies in no block yet. @returns its id */
  async sendAs(name: string, transaction: Uint8Array): Promise<string> {
    return String(await this.endpoints().call('sendTransaction', signedBy(name, transaction)));
  }

  async #signerOf(owner: string): Promise<KeyPairSigner> {
    return await this.#keyOf(this.#nameOf(owner));
  }

  #nameOf(owner: string): string {
    const name = this.#names.get(owner);
    if (name === undefined) throw new Error(`nobody has the key of ${owner}`);
    return name;
  }

  readonly #signers = new Map<string, KeyPairSigner>();

  async #keyOf(name: string): Promise<KeyPairSigner> {
    const signer =
      this.#signers.get(name) ?? (await createKeyPairSignerFromPrivateKeyBytes(publicTestKey(name)));
    this.#signers.set(name, signer);
    return signer;
  }

  async #stock(owner: string): Promise<void> {
    if (this.#stocked.has(owner)) return;
    this.#stocked.add(owner);
    for (const asset of [...ASSETS, null])
      await this.node.controls.mint(this.mint(asset), address(owner), SOME);
    // What a payer has is older than any fork.
    this.mine(2 * FINAL_BLOCKS + OLD_BLOCKS);
  }
}
