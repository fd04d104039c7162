import type { Asset, Network } from '@florin/contract/money';

/**
 * The port through which everything above reaches a chain. One adapter per network implements it; the simulated chain
 * was the first. Amounts are bigint in the token's smallest unit (6 digits); heights are block numbers (slots count as
 * blocks on spl); `native` amounts are the network's own coin in its smallest unit.
 *
 * Every call but `validateAddress`, `sender` and `health` throws `ChainUnavailable` when the network cannot be asked.
 * After a throw from `broadcast` nothing is known: the transaction may have been accepted.
 *
 * Deposits (`depositAddress`, `scan`) and mandates (`mandateState`, `buildCharge`) join this interface together with
 * the features that use them, each as a method of its own with its request and answer types below the others.
 */
export interface Chain {
  readonly network: Network;
  readonly caps: ChainCaps;

  /** The offline rules of the network (see `checkAddress`), and what the chain knows of it where `online` is set. */
  validateAddress(address: string, options?: ValidateOptions): Promise<AddressCheck>;

  /** The address that a key of ours sends from, in canonical form. Needs no node. */
  sender(keyRef: string): Promise<string>;

  /**
   * The lowest sequence that no transaction of the sender has used, as decimal digits; null where the network has none
   * (trc20, spl). What waits in the mempool is not counted.
   */
  nextSequence(sender: string): Promise<string | null>;

  head(): Promise<Head>;

  /** `final` counts only what no reorganisation can take away; `tip` is the newest block's view. */
  balance(address: string, asset: Asset, at: BalanceView): Promise<bigint>;

  /**
   * Builds and signs, and sends nothing. On erc20 the same spec gives the same bytes for ever; on trc20 and spl the
   * bytes carry their own end of validity, counted from now.
   *
   * @throws UnbuildableTransfer when the spec can never become a transaction: a bug of the caller, never transient.
   */
  buildTransfer(spec: TransferSpec): Promise<SignedTx>;

  /** Idempotent: the same bytes may be sent any number of times. No answer of it is proof of anything. */
  broadcast(tx: SignedTx): Promise<Broadcast>;

  /** What the chain itself says. Only `final: true` and `dead` are decisions. */
  status(tx: SignedTx): Promise<TxStatus>;

  /** What `items` transfers in one transaction would cost now. */
  estimateFee(kind: FeeKind, items: number): Promise<FeeEstimate>;

  /** Never throws for an outage: that is its answer. */
  health(): Promise<ChainHealth>;
}

export interface ChainCaps {
  readonly maxItemsPerTx: number;
  /** True: items of one transaction succeed or fail alone. False: one bad item fails all of them. */
  readonly partialBatch: boolean;
  /** True: a stuck transaction may be replaced by one with the same sequence and a higher fee. */
  readonly replaceByFee: boolean;
}

export interface ValidateOptions {
  /** Accept addresses that no private key controls (multisig vaults on spl). */
  allowProgramOwned?: boolean;
  /** Ask the chain too, for warnings that the text alone cannot give. */
  online?: boolean;
}

export type AddressFault =
  | 'format'
  | 'checksum'
  | 'zero'
  | 'token_contract'
  | 'token_account'
  | 'program'
  | 'unsupported';

export interface AddressCheck {
  ok: boolean;
  /** The one spelling under which the address is compared and stored; the text as given when it is refused. */
  canonical: string;
  /** Why it is refused; absent when it is accepted. */
  code?: AddressFault;
  /** For people only: `no_checksum`, `program_owned`, `contract`. */
  warnings: string[];
}

export interface Head {
  height: bigint;
  /** The newest block that is final. */
  finalHeight: bigint;
  /** Unix seconds of the newest block. */
  time: number;
}

export type BalanceView = 'tip' | 'final';

export interface TransferItem {
  /** The caller's id of this movement; it comes back in `SignedTx.itemIds` in the same order. */
  itemId: string;
  to: string;
  amount: bigint;
  /** Carried where the network has memos (spl), else ignored. */
  memo?: string;
}

export interface TransferSpec {
  keyRef: string;
  asset: Asset;
  batchId: string;
  items: TransferItem[];
  /** Decimal digits; required on erc20, ignored elsewhere. */
  sequence?: string;
  /** 1 by default; a replacement needs at least 1.125 times its predecessor's. */
  feeMultiplier?: number;
}

/** Store it before it is sent; only these bytes are ever sent. */
export interface SignedTx {
  network: Network;
  txId: string;
  raw: string;
  sender: string;
  itemIds: string[];
  /** EVM nonce: two transactions with the same one exclude each other. */
  sequence?: string;
  /** Provably dead once the final block has passed it: a height (spl) or Unix milliseconds (trc20). */
  validUntil?: { height?: string; timeMs?: number };
}

export type Broadcast =
  | { result: 'accepted' | 'known' }
  /** A node's word. `retryable: false` still proves nothing: ask `status`. */
  | { result: 'rejected'; code: string; retryable: boolean };

export interface TxStatus {
  /**
   * `unknown`: nobody saw it, send the same bytes again. `pending`: a node holds it. `included`, `final`: in a block.
   * `failed`: in a block and nothing moved. `dead`: it can never be in a block. Only `dead`, and `failed` with
   * `final: true`, allow another attempt.
   */
  state: 'unknown' | 'pending' | 'included' | 'final' | 'failed' | 'dead';
  final: boolean;
  height?: bigint;
  /** Native coin spent. */
  fee?: bigint;
  /** One for each of `SignedTx.itemIds`; set once the transaction is in a block. */
  itemOk?: boolean[];
  reason?: string;
}

export type FeeKind = 'transfer';

export interface FeeEstimate {
  native: bigint;
  unit: 'wei' | 'sun' | 'lamport';
}

export interface ChainHealth {
  ok: boolean;
  height: bigint;
  /** How far the newest block lies behind now, in milliseconds. */
  lagMs: number;
  detail?: string;
}

/** The network could not be asked, or its answer was none. The outcome of a call that sent something is unknown. */
export class ChainUnavailable extends Error {
  readonly network: Network;

  constructor(network: Network, detail: string, cause?: unknown) {
    super(`${network}: ${detail}`, { cause });
    this.network = network;
  }
}

/** The spec breaks a rule of the network: too many items, a bad address, no sequence. */
export class UnbuildableTransfer extends Error {}
