import {
  type Broadcast,
  type Chain,
  type ChainCapabilities,
  type ChargeSpec,
  type CheckedMandate,
  type FeeEstimate,
  type FeeKind,
  type Mandate,
  type MandateRequest,
  type MandateSetup,
  type MandateStatesAnswer,
  type Precheck,
  type PrecheckRequest,
  type SignedMandate,
  type SignedTx,
  type SweepSpec,
  type TransferSpec,
  type TxStatus,
  UnbuildableTransfer,
} from '../port/port.ts';
import { UNCHARGED } from '../port/uncharged.ts';
import { ITEMS_MAX } from './build-payment.ts';
import { SWEEPS_MAX } from './build-sweep.ts';
import { checkMandate, mandateStates } from './mandates.ts';
import { type ReaderOptions, SolanaReader } from './reader.ts';
import { SolanaSender } from './sender.ts';
import type { SolanaSigner } from './signing.ts';

/** Shown to people; the node's `finalized` decides. */
const FINAL_CONFIRMATIONS = 32;
const CALLS_AT_ONCE = 8;

export interface SolanaChainOptions extends ReaderOptions {
  signer: SolanaSigner;
  merchantId: string;
  /** Account number of the merchant, from 1. */
  account: number;
}

/** Solana for one live merchant: it reads addresses that the signer has named, and sends what the signer signs. */
export class SolanaChain extends SolanaReader implements Chain {
  readonly capabilities: ChainCapabilities = {
    confirmations: { final: FINAL_CONFIRMATIONS, early: null },
    maxItemsPerTx: ITEMS_MAX,
    partialBatch: false,
    replaceByFee: false,
    windowCap: false,
    prechecksCharges: false,
    sweepsPerTx: SWEEPS_MAX,
    lendsStake: false,
    callsAtOnce: CALLS_AT_ONCE,
  };
  readonly precheckCharges = UNCHARGED.precheckCharges;
  readonly #options: SolanaChainOptions;
  readonly #sender: SolanaSender;

  constructor(options: SolanaChainOptions) {
    super(options);
    this.#options = options;
    this.#sender = new SolanaSender(options);
  }

  buildTransfer(spec: TransferSpec): Promise<SignedTx> {
    return this.#sender.buildTransfer(spec);
  }

  buildSweep(spec: SweepSpec): Promise<SignedTx> {
    return this.#sender.buildSweep(spec);
  }

  buildCharge(spec: ChargeSpec): Promise<SignedTx> {
    return this.#sender.buildCharge(spec);
  }

  mandateSetup(request: MandateRequest): Promise<MandateSetup> {
    return this.#sender.mandateSetup(request);
  }

  checkMandate(signed: SignedMandate): Promise<CheckedMandate> {
    return checkMandate(this.#options, signed);
  }

  mandateStates(mandates: readonly Mandate[]): Promise<MandateStatesAnswer> {
    return mandateStates(this.#options, mandates);
  }

  broadcast(tx: SignedTx): Promise<Broadcast> {
    return this.#sender.broadcast(tx);
  }

  status(tx: SignedTx): Promise<TxStatus> {
    return this.#sender.status(tx);
  }

  precheck(request: PrecheckRequest): Promise<Precheck> {
    return this.#sender.precheck(request);
  }

  estimateFee(kind: FeeKind, items: number): Promise<FeeEstimate> {
    return this.#sender.estimateFee(kind, items);
  }

  nativeBalance(address: string): Promise<bigint> {
    return this.#sender.nativeBalance(address);
  }

  async buildMovement(): Promise<SignedTx> {
    throw new UnbuildableTransfer('this network needs no movements');
  }
}
