import { ASSETS } from '@florin/contract/money';
import type {
  Broadcast,
  Chain,
  ChainCapabilities,
  ChargeSpec,
  ChargesPrecheck,
  ChargesRequest,
  CheckedMandate,
  FeeEstimate,
  FeeKind,
  Mandate,
  MandateRequest,
  MandateSetup,
  MandateStatesAnswer,
  MovementSpec,
  Precheck,
  PrecheckRequest,
  RotationFacts,
  SignedMandate,
  SignedTx,
  SweepSpec,
  TransferSpec,
  TxStatus,
} from '../port/port.ts';
import { EvmReader, type ReaderOptions } from './reader.ts';
import { EvmSender } from './sender.ts';
import type { TransactionSigner } from './signing.ts';

/** Two epochs: `finalized` is 64 to 95 blocks behind the newest block. Shown to people; the node's tag decides. */
const FINAL_CONFIRMATIONS = 64;
const CALLS_AT_ONCE = 8;

export interface EvmChainOptions extends ReaderOptions {
  signer: TransactionSigner;
  merchantId: string;
  /** Account number of the merchant, from 1. */
  account: number;
  /** Owner of its account at the collector; null, or by default: a key of the signer. */
  coldOwner?: string | null;
}

/** Ethereum for one live merchant: it reads by public keys alone, and sends what the signer signs. */
export class EvmChain extends EvmReader implements Chain {
  readonly capabilities: ChainCapabilities;
  readonly #sender: EvmSender;
  readonly #feed: ReaderOptions['feed'];

  constructor(options: EvmChainOptions) {
    super(options);
    this.#feed = options.feed;
    const {
      network,
      node,
      signer,
      merchantId,
      account,
      addresses,
      tank,
      epoch = 0,
      coldOwner = null,
    } = options;
    const deposit = async (index: number) => addresses.deposit(index);
    const rotated = Array.from({ length: epoch }, (_, n) => addresses.hotAt(n));
    const owner = coldOwner ?? addresses.owner;
    const isOwnerCold = coldOwner !== null;
    const wallets = { account, hot: addresses.hotAt(epoch), rotated, owner, isOwnerCold, tank, deposit };
    const sender = new EvmSender({ network, node, signer, merchantId, wallets, head: () => this.head() });
    this.#sender = sender;
    this.capabilities = {
      confirmations: { final: FINAL_CONFIRMATIONS, early: network.finality.earlyConfirmations },
      maxItemsPerTx: sender.maxItemsPerTx,
      partialBatch: true,
      replaceByFee: true,
      windowCap: true,
      prechecksCharges: true,
      sweepsPerTx: sender.sweepsPerTx,
      lendsStake: false,
      callsAtOnce: CALLS_AT_ONCE,
    };
  }

  precheck(request: PrecheckRequest): Promise<Precheck> {
    return this.#sender.precheck(request);
  }

  precheckCharges(request: ChargesRequest): Promise<ChargesPrecheck> {
    return this.#sender.precheckCharges(request);
  }

  async readRotation(): Promise<RotationFacts> {
    // Before the balances, so that these are of no older block.
    const { final } = await this.#feed.snapshot();
    const facts = await this.#sender.readRotation(async (address) => {
      const held = ASSETS.map(async (asset) => [asset, await this.balance(address, asset, 'final')] as const);
      return new Map(await Promise.all(held));
    });
    return { ...facts, finalTime: final.time };
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

  mandateSetup(request: MandateRequest): Promise<MandateSetup> {
    return this.#sender.mandateSetup(request);
  }

  checkMandate(signed: SignedMandate): Promise<CheckedMandate> {
    return this.#sender.checkMandate(signed);
  }

  mandateStates(mandates: readonly Mandate[]): Promise<MandateStatesAnswer> {
    return this.#sender.mandateStates(mandates);
  }

  buildCharge(spec: ChargeSpec): Promise<SignedTx> {
    return this.#sender.buildCharge(spec);
  }
}
