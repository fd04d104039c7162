import type { Asset, Network } from '@florin/contract/money';
import type { Authority } from './authority.ts';
import type { KeyRef } from './key-refs.ts';
import type { AddressCheck, DepositAddress, ValidateOptions } from './port-addresses.ts';
import type {
  ChargeTerms,
  Mandate,
  MandateRequest,
  MandateSetup,
  MandateStatesAnswer,
} from './port-mandates.ts';
import type { Movement } from './port-movements.ts';
import type {
  ChargesPrecheck,
  ChargesRequest,
  CheckedMandate,
  Precheck,
  PrecheckRequest,
  SignedMandate,
} from './port-precheck.ts';
import type { RotationFacts } from './port-rotation.ts';
import type { Freshness, Head, ScanAnswer, ScanQuery } from './port-scan.ts';
import type { SigningRequest } from './wallet-holder.ts';

export type { Authority, SignedApproval } from './authority.ts';
export {
  type DepositKeyRef,
  depositIndexOf,
  type KeyRef,
  type RotatedKeyRef,
  rotatedEpochOf,
} from './key-refs.ts';
export type { AddressCheck, AddressFault, DepositAddress, ValidateOptions } from './port-addresses.ts';
export { DEPOSIT_INDEX_MAX } from './port-addresses.ts';
export {
  AddressPoolEmpty,
  type BlockReason,
  ChainUnavailable,
  FeeCeilingReached,
  SignerUnavailable,
  SigningBlocked,
  UnbuildableTransfer,
} from './port-errors.ts';
export type {
  ChargeFault,
  ChargeTerms,
  Mandate,
  MandatePeriod,
  MandateRequest,
  MandateSetup,
  MandateState,
  MandateStatesAnswer,
  MandateStep,
  PayersFault,
  PermitState,
  SignedPermit,
} from './port-mandates.ts';
export { CHARGE_FAULTS, PERMIT_SECONDS } from './port-mandates.ts';
export type { Movement } from './port-movements.ts';
export type {
  ChargesPrecheck,
  ChargesRequest,
  CheckedMandate,
  Lending,
  PaidByTank,
  Precheck,
  PrecheckRequest,
  SignedMandate,
} from './port-precheck.ts';
export type { CollectorAccount, RotatedWallet, RotationFacts } from './port-rotation.ts';
export type { ChainTransfer, Freshness, Head, ScanAnswer, ScanQuery, WatchSet } from './port-scan.ts';

/**
 * The port through which everything above reaches a chain. One adapter per network implements it; the simulated chain
 * was the first. Amounts are bigint in the token's smallest unit (6 digits); heights are block numbers (slots count as
 * blocks on spl); `native` amounts are the network's own coin in its smallest unit.
 *
 * Every call but `validateAddress`, `sender`, `hotWallets`, `unpayableAddresses`, `depositAddress`, `cursorAt` and `health` throws
 * `ChainUnavailable` when the network cannot be reached. After a throw from `broadcast` the outcome is unknown: the
 * transaction may have been accepted.
 */
export interface Chain {
  readonly network: Network;
  readonly capabilities: ChainCapabilities;

  /** Checks an address by the network's offline rules (see `checkAddress`); with `online` also by the chain. */
  validateAddress(address: string, options?: ValidateOptions): Promise<AddressCheck>;

  /** The canonical address that a key sends from; for a deposit key its `depositAddress`. Needs no node. */
  sender(keyRef: KeyRef): Promise<string>;

  /** The merchant's hot wallets by epoch. The last one is the present one, which `hot` names; the others were rotated. */
  hotWallets(): Promise<readonly string[]>;

  /**
   * Canonical addresses to which nobody may be paid: our wallets (with those that merchants share, without deposit addresses)
   * and contracts that keep what they get. Needs no node.
   */
  unpayableAddresses(): Promise<readonly string[]>;

  /**
   * The lowest sequence that no transaction of the sender has used, as decimal digits; null where the network has none
   * (trc20, spl). Transactions in the mempool are not counted.
   */
  nextSequence(sender: string): Promise<string | null>;

  /** @param freshness `recent` by default */
  head(freshness?: Freshness): Promise<Head>;

  /**
   * The hashes of these blocks, of those that the node reports as final. A hash changes when its block or any block before
   * it is replaced, which is how a reorganisation deeper than finality is detected. Null: the chain ends so far below the
   * block that no node which merely lags would; one that was final there is gone.
   *
   * @param freshness `recent` by default
   */
  blockHashes(heights: readonly bigint[], freshness?: Freshness): Promise<ReadonlyMap<bigint, string | null>>;

  /** `final`: as of the newest final block, which no reorganisation can take away; `tip`: as of the newest block. */
  balance(address: string, asset: Asset, at: BalanceView): Promise<bigint>;

  /** As `balance`, for many addresses as of one block; thousands at once are cheap. */
  balances(addresses: readonly string[], asset: Asset, at: BalanceView): Promise<BalancesAnswer>;

  /**
   * The canonical deposit address with that number, which payers send to: the same at every call, and never an address
   * that this port uses otherwise. Needs no node.
   *
   * @throws RangeError when the number is not an integer from 0 to `DEPOSIT_INDEX_MAX`; AddressPoolEmpty where `nameAddresses`
   *   names them, and not this one yet
   */
  depositAddress(request: { index: number }): Promise<DepositAddress>;

  /**
   * Asks the holder of the keys for the deposit addresses with these numbers: the same ones at each call, and those that `depositAddress`
   * then has. They are stored before they are given out (`chains/pool`). Absent where `depositAddress` derives them.
   *
   * @param count 1 to 200
   * @throws SignerUnavailable
   */
  nameAddresses?(request: { from: number; count: number }): Promise<readonly DepositAddress[]>;

  /**
   * Transfers to the watched addresses, in any token, in the order of blocks; transfers of zero are left out.
   *
   * `final` advances through final blocks and misses nothing as long as every address in `watch` was given out after the
   * blocks up to the cursor; for an address that joined late, scan again from `cursorAt`. `tip` reads all blocks after the
   * cursor once, including those that became final since. A transfer's identity is (`txId`, `index`), which stays the same
   * when a reorganisation moves it to another block.
   *
   * @throws RangeError for an invalid cursor.
   */
  scan(query: ScanQuery): Promise<ScanAnswer>;

  /** The cursor after the block of that height: a scan from it begins with the next block. Needs no node. */
  cursorAt(height: bigint): Promise<string>;

  /**
   * Builds and signs a transaction without sending it. On trc20 and spl the bytes expire, counted from now. For the same
   * attempt the holder of the wallet returns the same bytes again.
   *
   * @throws UnbuildableTransfer when the spec breaks a rule of the network, which is a bug of the caller; SigningRefused;
   * SigningBlocked, of which FeeCeilingReached is one; SignerUnavailable
   */
  buildTransfer(spec: TransferSpec): Promise<SignedTx>;

  /**
   * As `buildTransfer`, for a sweep of many deposit addresses at once that `sweeper` sends; each succeeds or fails by itself.
   *
   * @throws UnbuildableTransfer where `capabilities.sweepsPerTx` is 0, SigningRefused
   */
  buildSweep(spec: SweepSpec): Promise<SignedTx>;

  /**
   * As `buildTransfer`, for a movement that pays nobody.
   *
   * @throws UnbuildableTransfer where the network has no such movement, SigningRefused
   */
  buildMovement(spec: MovementSpec): Promise<SignedTx>;

  /**
   * The steps that a payer's wallet must sign so that it can be charged, and the mandate they make. Needs a node for `permitUntil`, and
   * where wallets are handed transactions.
   */
  mandateSetup(request: MandateRequest): Promise<MandateSetup>;

  /**
   * The state of a mandate that its payer has signed, as of the newest block, or of a final one where the payer alone brings anything to
   * the chain; null: on this network none is signed for.
   */
  checkMandate(signed: SignedMandate): Promise<CheckedMandate | null>;

  /** The state of mandates and of their wallets as of a final block; thousands at once are cheap. */
  mandateStates(mandates: readonly Mandate[]): Promise<MandateStatesAnswer>;

  /**
   * As `buildTransfer`, for a transaction of ours that pulls from a payer's wallet into `Mandate.recipient`. It is sent
   * and watched like any other; on erc20 the network itself refuses a second charge with the same id. Where it fails,
   * `TxStatus.reason` is a `ChargeFault`, or the network's own reason.
   *
   * @throws UnbuildableTransfer, SigningRefused
   */
  buildCharge(spec: ChargeSpec): Promise<SignedTx>;

  /** Idempotent: the same bytes may be sent any number of times. Its answer proves nothing. */
  broadcast(tx: SignedTx): Promise<Broadcast>;

  /** The transaction's status on the chain. Only `final: true` and `dead` are decisions. */
  status(tx: SignedTx): Promise<TxStatus>;

  /** The present cost of one transaction with `items` transfers. */
  estimateFee(kind: FeeKind, items: number): Promise<FeeEstimate>;

  /**
   * What payments need before they are signed, and what stands in their way; as of the newest block, read after the
   * sequence of the caller's `nextSequence`.
   *
   * @returns null where the network wants nothing beforehand
   * @throws UnbuildableTransfer, FeeCeilingReached
   */
  precheck(request: PrecheckRequest): Promise<Precheck | null>;

  /** As `precheck`, for charges and what prepares them. */
  precheckCharges(request: ChargesRequest): Promise<ChargesPrecheck | null>;

  /** What a rotation of hot wallets goes by, as of the newest block; null where hot wallets are not rotated. */
  readRotation(): Promise<RotationFacts | null>;

  /** The native coins of an address, as of the newest block. */
  nativeBalance(address: string): Promise<bigint>;

  /** Never throws: an outage is an answer. */
  health(): Promise<ChainHealth>;
}

export interface ChainCapabilities {
  readonly confirmations: Confirmations;
  readonly maxItemsPerTx: number;
  /** True: each item of a transaction succeeds or fails by itself. False: one bad item fails all of them. */
  readonly partialBatch: boolean;
  /** True: a stuck transaction may be replaced by one with the same sequence and a higher fee. */
  readonly replaceByFee: boolean;
  /** True: the network enforces the cap of each window. False: it enforces the allowance alone, and the cap is our word. */
  readonly windowCap: boolean;
  /** True: charges need what `precheckCharges` reads. False: nothing comes before them, and it may answer null. */
  readonly prechecksCharges: boolean;
  /** Deposit addresses of one sweep that a wallet of ours sends; 0: each deposit address sends its own, as a transfer. */
  readonly sweepsPerTx: number;
  /** True: the gas tank may lend deposit addresses what it has staked, in place of coins for their fees. */
  readonly lendsStake: boolean;
  /** Concurrent calls that its nodes allow. */
  readonly callsAtOnce: number;
}

export interface Confirmations {
  /** Confirmations of a block that is final, as people are shown; `Head.finalHeight` decides. */
  readonly final: number;
  /** Where finality takes minutes: confirmations from which small deposits may be credited; else null. */
  readonly early: number | null;
}

export type BalanceView = 'tip' | 'final';

export interface BalancesAnswer {
  /** The block that the balances are as of; with `upTo` the lowest of them. */
  height: bigint;
  /** The highest, where the network shows many balances as of different blocks. */
  upTo?: bigint;
  /** Address as in the request → units; an address that holds nothing is absent. */
  balances: ReadonlyMap<string, bigint>;
}

export interface TransferItem {
  /** The caller's id of this item; `SignedTx.itemIds` has it in the same order. */
  itemId: string;
  /** Its place in its group, from 0. Where the network pays each place of a group once, it never changes. */
  place: number;
  to: string;
  amount: bigint;
  /** Sent where the network has memos (spl), else ignored. */
  memo?: string;
}

export interface TransferSpec {
  signing: SigningRequest;
  /** A deposit address has no native coin: the adapter decides which wallet pays its network fee. */
  keyRef: KeyRef;
  asset: Asset;
  /** The id of the items' group: the same in each attempt to pay an item. */
  groupId: string;
  items: TransferItem[];
  /** Why the holder of the wallet may sign it; a simulated chain's asks for nothing. */
  authority?: Authority;
  /** Decimal digits; required on erc20, ignored elsewhere. */
  sequence?: string;
  /** With `capabilities.replaceByFee`: pays the same as these bytes, at a fee for which nodes take the new ones in their place. */
  replaces?: SignedTx;
}

/** One deposit address that a sweep empties. */
export interface SweepItem {
  itemId: string;
  /** The number of the deposit address. */
  index: number;
  asset: Asset;
  amount: bigint;
}

/** Moves coins from deposit addresses to the hot wallet of their merchant; another wallet of ours sends it. */
export interface SweepSpec {
  signing: SigningRequest;
  items: SweepItem[];
  sequence: string;
  replaces?: SignedTx;
}

export interface MovementSpec {
  signing: SigningRequest;
  keyRef: KeyRef;
  movement: Movement;
  /** As in `TransferSpec`. */
  sequence?: string;
  replaces?: SignedTx;
}

export interface ChargeSpec extends ChargeTerms {
  signing: SigningRequest;
  /** The key that sends the transaction. */
  keyRef: KeyRef;
  /** As in `TransferSpec`. */
  sequence?: string;
  replaces?: SignedTx;
}

/** A signed transaction. Store it before sending it, and send only these bytes. */
export interface SignedTx {
  network: Network;
  txId: string;
  raw: string;
  sender: string;
  /** The `itemId`s of its items, in their order; the id of its attempt where it pays nobody. */
  itemIds: string[];
  /** EVM nonce: two transactions with the same one exclude each other. */
  sequence?: string;
  /** The most native coin that it can cost, in its smallest unit; absent where that is fixed by the network. */
  feeLimit?: bigint;
  /** Provably dead once the final block has passed it: a height (spl) or Unix milliseconds (trc20). */
  validUntil?: { height?: string; timeMs?: number };
}

export type Broadcast =
  /** `finalAt`: as in `TxStatus`, where the network knows it and it is a matter of seconds. */
  | { result: 'accepted' | 'known'; finalAt?: number }
  /** A node's answer. `retryable: false` still proves nothing: read `status`. */
  | { result: 'rejected'; code: string; retryable: boolean };

export interface TxStatus {
  /**
   * `unknown`: no node knows it, send the same bytes again. `pending`: in a mempool. `included`, `final`: in a block.
   * `failed`: in a block and nothing moved. `dead`: it can never be in a block. Only `dead`, and `failed` with
   * `final: true`, allow another attempt.
   */
  state: 'unknown' | 'pending' | 'included' | 'final' | 'failed' | 'dead';
  final: boolean;
  /** Its block; for `dead` the final block that proves it. */
  height?: bigint;
  /**
   * When a transaction that is not final should be, in Unix seconds of the merchant's clock; an estimate. Undefined where
   * the network gives none.
   */
  finalAt?: number;
  /** Native coin spent. */
  fee?: bigint;
  /** One for each of `SignedTx.itemIds`; set once the transaction is in a block. */
  itemOk?: boolean[];
  /** Those of `itemOk` that an earlier transaction had paid: the network paid them once, and not by this one. */
  paidBefore?: boolean[];
  reason?: string;
}

/** `permit`: the movement `activate` with a signed approval. */
export type FeeKind = 'transfer' | 'charge' | 'sweep' | 'permit' | Movement['kind'];

export interface FeeEstimate {
  native: bigint;
  /** The same in the terms of `SignedTx.feeLimit`, where transactions have room to use less than they may. */
  atLimit?: bigint;
  unit: 'wei' | 'sun' | 'lamport';
}

export interface ChainHealth {
  ok: boolean;
  height: bigint;
  /** Age of the newest block in milliseconds. */
  lagMs: number;
  detail?: string;
}
