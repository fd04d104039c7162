import {
  type Broadcast,
  type Chain,
  type ChainCaps,
  type FeeEstimate,
  type FeeKind,
  type MandateSetup,
  type MandateStatesAnswer,
  type MovementSpec,
  type Precheck,
  type PrecheckRequest,
  type SignedTx,
  type SweepSpec,
  type TransferSpec,
  type TxStatus,
  UnbuildableTransfer,
} from '../port/port.ts';
import { EvmReader, type ReaderOptions } from './reader.ts';
import { EvmSender, NO_MANDATES } from './sender.ts';
import type { TransactionSigner } from './signing.ts';

/** Two epochs: `finalized` is 64 to 95 blocks behind the newest block. Shown to people; the node's tag decides. */
const FINAL_CONFIRMATIONS = 64;
const CALLS_AT_ONCE = 8;

export interface EvmChainOptions extends ReaderOptions {
  signer: TransactionSigner;
  merchantId: string;
  /** Account number of the merchant, from 1. */
  account: number;
}

/** Ethereum for one live merchant: it reads by public keys alone, and sends what the signer signs. */
export class EvmChain extends EvmReader implements Chain {
  readonly caps: ChainCaps;
  readonly #sender: EvmSender;

  constructor(options: EvmChainOptions) {
    super(options);
    const { network, node, signer, merchantId, account, addresses, tank } = options;
    const deposit = async (index: number) => addresses.deposit(index);
    const wallets = { account, hot: addresses.hot, tank, deposit };
    const sender = new EvmSender({ network, node, signer, merchantId, wallets, head: () => this.head() });
    this.#sender = sender;
    this.caps = {
      confirmations: { final: FINAL_CONFIRMATIONS, early: network.finality.earlyConfirmations },
      maxItemsPerTx: sender.maxItemsPerTx,
      partialBatch: true,
      replaceByFee: true,
      windowCap: true,
      sweepsPerTx: sender.sweepsPerTx,
      callsAtOnce: CALLS_AT_ONCE,
    };
  }

  precheck(request: PrecheckRequest): Promise<Precheck> {
    return this.#sender.precheck(request);
  }

  nativeBalance(address: string): Promise<bigint> {
    return this.#sender.nativeBalance(address);
  }

  buildTransfer(spec: TransferSpec): Promise<SignedTx> {
    return this.#sender.buildTransfer(spec);
  }

  buildSweep(spec: SweepSpec): Promise<SignedTx> {
    return this.#sender.buildSweep(spec);
  }

  buildMovement(spec: MovementSpec): Promise<SignedTx> {
    return this.#sender.buildMovement(spec);
  }

  broadcast(tx: SignedTx): Promise<Broadcast> {
    return this.#sender.broadcast(tx);
  }

  status(tx: SignedTx): Promise<TxStatus> {
    return this.#sender.status(tx);
  }

  estimateFee(kind: FeeKind, items: number): Promise<FeeEstimate> {
    return this.#sender.estimateFee(kind, items);
  }

  async mandateSetup(): Promise<MandateSetup> {
    throw new UnbuildableTransfer(NO_MANDATES);
  }

  async mandateStates(): Promise<MandateStatesAnswer> {
    throw new UnbuildableTransfer(NO_MANDATES);
  }

  async buildCharge(): Promise<SignedTx> {
    throw new UnbuildableTransfer(NO_MANDATES);
  }
}
