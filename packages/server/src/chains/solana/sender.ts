import { ASSETS, type Asset } from '@florin/contract/money';
import { type SolanaMessage, signersOf, tokenAccountOf } from '@florin/signer/solana';
import type { Logger } from '../../platform/observability/index.ts';
import {
  type Broadcast,
  type ChargeSpec,
  type FeeEstimate,
  type FeeKind,
  type MandateRequest,
  type MandateSetup,
  type Precheck,
  type PrecheckRequest,
  type SignedTx,
  SigningBlocked,
  type SweepSpec,
  type TransferSpec,
  type TxStatus,
  UnbuildableTransfer,
} from '../port/port.ts';
import type { AskedPurpose } from '../signing/ask-signer.ts';
import { transferPurpose } from '../signing/transfer-purpose.ts';
import { buildChargeDraft } from './build-charge.ts';
import { buildPayment, type Draft, withLifetime } from './build-payment.ts';
import { buildSweepDraft, sweepPurpose, sweptAccounts } from './build-sweep.ts';
import { explainCharge } from './charge-faults.ts';
import type { TokenAccounts } from './derive-accounts.ts';
import { computeUnits, costOf, priceOf, readRecentFees, type Steps } from './fees.ts';
import { type HeadFeed, isFresh } from './heads.ts';
import { Lifetimes } from './lifetimes.ts';
import { mandateSetup } from './mandates.ts';
import type { Marks } from './marks.ts';
import type { SolanaNetwork } from './network.ts';
import type { SolanaNode } from './node.ts';
import { orUnavailable, readContext, unusable } from './node-answers.ts';
import { OpenAccounts } from './open-accounts.ts';
import { precheck, readLamports, spendableOf } from './precheck.ts';
import type { SolanaWallets } from './reader.ts';
import { Accepted, sendSigned } from './send.ts';
import { placeOf } from './signed-terms.ts';
import { requestSignature, type SolanaSigner } from './signing.ts';
import { readStatus } from './status.ts';
import { readAmounts } from './token-accounts.ts';

export interface SenderOptions {
  network: SolanaNetwork;
  node: SolanaNode;
  feed: HeadFeed;
  signer: SolanaSigner;
  wallets: SolanaWallets;
  marks: Marks;
  tokenAccounts: TokenAccounts;
  log: Logger;
  merchantId: string;
  /** Account number of the merchant, from 1. */
  account: number;
  /** Unix milliseconds. */
  nowMs: () => number;
}

const MEMO_BYTES = 25;

/** The part of `Chain` that builds, sends and watches, for one live merchant. */
export class SolanaSender {
  readonly #options: SenderOptions;
  readonly #lifetimes = new Lifetimes();
  readonly #accepted = new Accepted();
  readonly #open: OpenAccounts;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#open = new OpenAccounts(options);
  }

  async buildTransfer(spec: TransferSpec): Promise<SignedTx> {
    const { network, wallets, account } = this.#options;
    // Deposits are swept by transactions that the fee payer sends.
    if (spec.keyRef !== 'hot') throw new UnbuildableTransfer('the hot wallet alone pays');
    const draft = buildPayment(network, { ...wallets, delegate: await wallets.delegate() }, spec);
    const purpose = transferPurpose(spec);
    assertMemos(spec);
    return await this.#sign(draft, { spec, purpose, account, sender: wallets.hot });
  }

  async buildSweep(spec: SweepSpec): Promise<SignedTx> {
    const { network, node, feed, wallets, marks } = this.#options;
    const swept = await sweptAccounts(network, wallets, spec.items);
    const accounts = swept.map(({ account }) => account);
    const opened = await this.#openAmong(spec.items.map(({ asset }) => asset));
    const { tip } = await feed.heads('now');
    // Before there are bytes that anybody could send.
    const closable = await marks.noteLeaving(accounts, { slot: tip.slot, by: spec.signing.attemptId });
    const reads = { commitment: 'confirmed', minSlot: tip.slot, endpoints: 'one' } as const;
    const { amounts } = await readAmounts(node, { accounts: swept, ...reads });
    const draft = buildSweepDraft(network, wallets, swept, { held: amounts, closable, opened });
    const purpose = sweepPurpose(this.#options, spec.items);
    return await this.#sign(draft, { spec, purpose, account: 0, sender: wallets.feePayer });
  }

  async buildCharge(spec: ChargeSpec): Promise<SignedTx> {
    const { wallets, account } = this.#options;
    const place = await placeOf(this.#options);
    if (place === undefined)
      throw new SigningBlocked('spl', 'policy', "the signer's policy has no charges for spl");
    const opened = await this.#openAmong([spec.mandate.asset]);
    const { draft, purpose } = buildChargeDraft(place, { spec, opened });
    const items = [{ itemId: spec.chargeId }];
    return await this.#sign(draft, { spec: { ...spec, items }, purpose, account, sender: wallets.hot });
  }

  /** The hot wallet's accounts of these tokens that are there. */
  async #openAmong(assets: readonly Asset[]): Promise<ReadonlySet<string>> {
    const { network, wallets } = this.#options;
    const mints = new Set(assets.flatMap((asset) => network.tokens[asset]?.mint ?? []));
    const owner = wallets.hot;
    return await this.#open.among(
      [...mints].map((mint) => ({ account: tokenAccountOf(owner, mint), owner, mint })),
    );
  }

  /** As `Chain.mandateSetup`. */
  async mandateSetup(request: MandateRequest): Promise<MandateSetup> {
    return await mandateSetup(this.#options, request, () => this.#newBlockhash());
  }

  async broadcast(tx: SignedTx): Promise<Broadcast> {
    const { node, feed } = this.#options;
    return await sendSigned({ node, feed, accepted: this.#accepted }, tx);
  }

  async status(tx: SignedTx): Promise<TxStatus> {
    const { node, feed } = this.#options;
    const found = await readStatus({ node, feed, acceptedAt: (txId) => this.#accepted.at(txId) }, tx);
    const told = await explainCharge({ node, feed }, tx, found);
    if (told.final && told.reason === 'our_fault')
      this.#options.log.error({ txId: tx.txId, failure: found.reason }, 'a charge failed, not by its payer');
    return told;
  }

  /** At the present price, with recipients that are new to the token. */
  async estimateFee(kind: FeeKind, items: number): Promise<FeeEstimate> {
    const { network, node, wallets } = this.#options;
    const steps = stepsOf(kind, items);
    const units = computeUnits(steps);
    const sources = Object.values(network.tokens).map(({ mint }) => tokenAccountOf(wallets.hot, mint));
    const recent = await readRecentFees(node, [wallets.feePayer, ...sources]);
    const microLamports = priceOf(recent, units, network.feeCeilings);
    const signatures = kind === 'sweep' ? items + 1 : 2;
    // Our own accounts are there.
    const created = kind === 'transfer' ? steps.created : 0;
    return { native: costOf({ signatures, units, microLamports, created }), unit: 'lamport' };
  }

  async nativeBalance(address: string): Promise<bigint> {
    return await readLamports(this.#options.node, address);
  }

  precheck(request: PrecheckRequest): Promise<Precheck> {
    return precheck(this.#options, request);
  }

  /**
   * One that two endpoints know, or the operator's own, of a chain that is of now: so its block is not above the newest one, and it can
   * be in no block 150 behind that.
   */
  async #newBlockhash(): Promise<string> {
    const { node, feed, nowMs } = this.#options;
    const { blockhash, lastValid, slot } = await node.newestBlockhash();
    const config = { commitment: 'confirmed', minContextSlot: Number(slot) };
    const known = await orUnavailable(node.agreed('isBlockhashValid', [blockhash, config]));
    if (readContext(known, 'isBlockhashValid').value !== true)
      throw unusable('a blockhash that no other answer knows');
    const heads = await feed.heads('now');
    if (heads.tip.slot < slot || !isFresh(heads, nowMs()))
      throw unusable(`its newest block, of slot ${heads.tip.slot}, is not of now`);
    this.#lifetimes.note(blockhash, lastValid, heads.tip);
    return blockhash;
  }

  async #sign(draft: Draft, { spec, purpose, account, sender }: Order): Promise<SignedTx> {
    const { network, node, signer, feed } = this.#options;
    const changed = draft.steps.flatMap((step) =>
      step.kind === 'transfer' ? [step.destination, step.source] : [],
    );
    const [blockhash, recent] = await Promise.all([
      this.#newBlockhash(),
      readRecentFees(node, [...new Set([draft.feePayer, ...changed])]),
    ]);
    const built = withLifetime(draft, blockhash, priceOf(recent, draft.units, network.feeCeilings));
    await this.#assertPaid(costIn(built));
    const { signing, items } = spec;
    const order = { signing, account, message: built, optional: draft.optional ?? [], purpose, network };
    const { raw, txId, message } = await requestSignature(signer, order);
    const { tip } = await feed.heads();
    return {
      network: 'spl',
      txId,
      raw,
      sender,
      itemIds: items.map(({ itemId }) => itemId),
      feeLimit: costIn(message),
      validUntil: { height: String(this.#lifetimes.of(message.blockhash, tip)) },
    };
  }

  /**
   * What was reserved while the tank was full may be signed when it is empty. No block takes it then: it would expire, and count among
   * the transactions that the signer signs for its items.
   *
   * @throws SigningBlocked
   */
  async #assertPaid(cost: bigint): Promise<void> {
    const { wallets } = this.#options;
    const held = await this.nativeBalance(wallets.feePayer);
    if (spendableOf(held) >= cost) return;
    const detail = `the fee payer ${wallets.feePayer} holds ${held} lamports, a transaction may cost ${cost}`;
    throw new SigningBlocked('spl', 'tank', detail);
  }
}

/** The most lamports that a message takes from its fee payer. */
function costIn(message: SolanaMessage): bigint {
  const [limit, price] = message.instructions;
  const created = message.instructions.filter(({ kind }) => kind === 'createTokenAccount').length;
  return costOf({
    signatures: signersOf(message).length,
    units: limit?.kind === 'computeLimit' ? limit.units : 0,
    microLamports: price?.kind === 'computePrice' ? price.microLamports : 0n,
    created,
  });
}

interface Order {
  spec: Pick<TransferSpec, 'signing'> & { items: readonly { itemId: string }[] };
  purpose: AskedPurpose;
  /** Of the wallet that sends. */
  account: number;
  sender: string;
}

/** @throws UnbuildableTransfer */
function stepsOf(kind: FeeKind, items: number): Steps {
  if (kind === 'transfer') return { memoBytes: [MEMO_BYTES], created: items, transfers: items };
  if (kind === 'charge') return { memoBytes: [MEMO_BYTES], created: 1, transfers: 1 };
  // Each is closed as well, and the accounts of the hot wallet are there.
  if (kind === 'sweep') return { memoBytes: [], created: ASSETS.length, transfers: 2 * items };
  throw new UnbuildableTransfer(`nothing is sent here as ${kind}`);
}

/** People approved the memo of an item with it. */
function assertMemos({ authority, items }: TransferSpec): void {
  for (const { itemId, place, memo = null } of items)
    if (authority?.items[place]?.memo !== memo)
      throw new UnbuildableTransfer(`item ${itemId}: its memo is not the one that was approved`);
}
