import {
  type Broadcast,
  type Chain,
  type ChainCapabilities,
  type ChargeSpec,
  type ChargesPrecheck,
  type ChargesRequest,
  type CheckedMandate,
  type FeeEstimate,
  type FeeKind,
  type Mandate,
  type MandateRequest,
  type MandateSetup,
  type MandateStatesAnswer,
  type MovementSpec,
  type Precheck,
  type PrecheckRequest,
  type SignedMandate,
  type SignedTx,
  type TransferSpec,
  type TxStatus,
  UnbuildableTransfer,
} from '../port/port.ts';
import { type ReaderOptions, TronReader } from './reader.ts';
import { TronSender } from './sender.ts';
import type { TronSigner } from './signing.ts';

/** Shown to people; the solid view decides. */
const FINAL_CONFIRMATIONS = 20;
const CALLS_AT_ONCE = 8;

export interface TronChainOptions extends ReaderOptions {
  signer: TronSigner;
  merchantId: string;
  /** Account number of the merchant, from 1. */
  account: number;
}

/** Tron for one live merchant: it reads by public keys alone, and sends what the signer signs. */
export class TronChain extends TronReader implements Chain {
  readonly capabilities: ChainCapabilities = {
    confirmations: { final: FINAL_CONFIRMATIONS, early: null },
    maxItemsPerTx: 1,
    partialBatch: false,
    replaceByFee: false,
    windowCap: true,
    prechecksCharges: true,
    sweepsPerTx: 0,
    lendsStake: true,
    callsAtOnce: CALLS_AT_ONCE,
  };
  readonly #sender: TronSender;

  constructor(options: TronChainOptions) {
    super(options);
    this.#sender = new TronSender(options);
  }

  buildTransfer(spec: TransferSpec): Promise<SignedTx> {
    return this.#sender.buildTransfer(spec);
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

  nativeBalance(address: string): Promise<bigint> {
    return this.#sender.nativeBalance(address);
  }

  async buildSweep(): Promise<SignedTx> {
    throw new UnbuildableTransfer('each deposit address sends its own coins on this network');
  }

  buildMovement(spec: MovementSpec): Promise<SignedTx> {
    return this.#sender.buildMovement(spec);
  }

  precheck(request: PrecheckRequest): Promise<Precheck> {
    return this.#sender.precheck(request);
  }

  mandateSetup(request: MandateRequest): Promise<MandateSetup> {
    return this.#sender.mandateSetup(request);
  }

  checkMandate(signed: SignedMandate): Promise<CheckedMandate> {
    return this.#sender.checkMandate(signed);
  }

  mandateStates(mandates: readonly Mandate[]): Promise<MandateStatesAnswer> {
    return this.#sender.mandateStates(mandates);
  }

  precheckCharges(request: ChargesRequest): Promise<ChargesPrecheck> {
    return this.#sender.precheckCharges(request);
  }

  buildCharge(spec: ChargeSpec): Promise<SignedTx> {
    return this.#sender.buildCharge(spec);
  }
}
