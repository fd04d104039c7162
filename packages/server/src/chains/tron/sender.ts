import {
  type Broadcast,
  type FeeEstimate,
  type FeeKind,
  type SignedTx,
  type TransferSpec,
  type TxStatus,
  UnbuildableTransfer,
} from '../port/port.ts';
import { buildPayment, type Draft } from './build-payment.ts';
import type { TronFeed } from './feed.ts';
import { feeLimitOf, PriceList, TRANSFER_BANDWIDTH, TRANSFER_ENERGY } from './fees.ts';
import { readHeader } from './headers.ts';
import type { TronNetwork } from './network.ts';
import type { TronNode } from './node.ts';
import { isNothing, orUnavailable, readNumber, readRecord, unusable } from './node-answers.ts';
import type { TronWallets } from './reader.ts';
import { sendSigned } from './send.ts';
import { requestSignature, type TronSigner } from './signing.ts';
import { readStatus } from './status.ts';

export interface SenderOptions {
  network: TronNetwork;
  node: TronNode;
  feed: TronFeed;
  signer: TronSigner;
  wallets: TronWallets;
  merchantId: string;
  /** Account number of the merchant, from 1. */
  account: number;
}

/** From the newest block on: what has not been in a block until then never is. */
const VALID_MS = 60_000n;
const SECOND_MS = 1_000n;
/** The newest block is less than a minute later than the solid one, as a rule. */
const HEAD_MS_MAX = 600_000n;

/** The part of `Chain` that builds, sends and watches, for one live merchant. */
export class TronSender {
  readonly #options: SenderOptions;
  readonly #prices: PriceList;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#prices = new PriceList(options.node);
  }

  async buildTransfer(spec: TransferSpec): Promise<SignedTx> {
    const { signer, network, account } = this.#options;
    const { purpose, sender, contract } = buildPayment(this.#options, spec);
    const transaction = await this.#dated(contract, spec.signing.ordinal);
    const order = { signing: spec.signing, account, transaction, purpose, network };
    const signed = await requestSignature(signer, order);
    const { feeLimit, expiration } = signed.transaction;
    const { bandwidth } = await this.#prices.read();
    return {
      network: 'trc20',
      txId: signed.txId,
      raw: signed.raw,
      sender,
      itemIds: spec.items.map(({ itemId }) => itemId),
      feeLimit: feeLimit + TRANSFER_BANDWIDTH * bandwidth,
      validUntil: { timeMs: Number(expiration) },
    };
  }

  async broadcast(tx: SignedTx): Promise<Broadcast> {
    return await sendSigned(this.#options.node, tx);
  }

  async status(tx: SignedTx): Promise<TxStatus> {
    return await readStatus(this.#options, tx);
  }

  /** At the present prices, to recipients that never held the token, without energy of our own. */
  async estimateFee(kind: FeeKind, items: number): Promise<FeeEstimate> {
    if (kind !== 'transfer' && kind !== 'sweep')
      throw new UnbuildableTransfer(`nothing is sent here as ${kind}`);
    const { energy, bandwidth } = await this.#prices.read();
    const one = TRANSFER_ENERGY * energy + TRANSFER_BANDWIDTH * bandwidth;
    return { native: BigInt(items) * one, unit: 'sun' };
  }

  async nativeBalance(address: string): Promise<bigint> {
    const call = this.#options.node.call('wallet/getaccount', [{ address, visible: true }]);
    const answer = await orUnavailable(call);
    if (isNothing(answer)) return 0n;
    const account = readRecord(answer, 'an account');
    if (account.address !== address) throw unusable('a node answers with another account');
    return readNumber(account.balance, 'a balance');
  }

  /**
   * Refers to a solid block, which no fork takes away. Two equal payments are two transactions by the milliseconds of their
   * times, which come from the number of the attempt: times are of whole seconds otherwise.
   */
  async #dated(contract: Draft['contract'], ordinal: bigint) {
    const { node, network, feed } = this.#options;
    const { final } = await feed.snapshot();
    const head = readHeader(await orUnavailable(node.newest('head')));
    if (head === undefined) throw unusable('there is no newest block');
    if (head.timeMs < final.timeMs || head.timeMs > final.timeMs + HEAD_MS_MAX)
      throw unusable('the time of the newest block is not a little later than that of the solid one');
    const second = head.timeMs - (head.timeMs % SECOND_MS);
    return {
      refBlockBytes: Uint8Array.from(Buffer.from(final.hash.slice(12, 16), 'hex')),
      refBlockHash: Uint8Array.from(Buffer.from(final.hash.slice(16, 32), 'hex')),
      expiration: second + VALID_MS + ((ordinal / SECOND_MS) % SECOND_MS),
      timestamp: second + (ordinal % SECOND_MS),
      contract,
      feeLimit: await feeLimitOf({ node, network, prices: this.#prices }, contract),
    };
  }
}
