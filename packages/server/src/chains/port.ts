import type { Asset, Network } from '@florin/contract/money';
import type { SigningRequest } from './wallet-holder.ts';

export { ChainUnavailable, UnbuildableTransfer } from './port-errors.ts';

/** A key of ours: of the wallet that pays out, or of the deposit address with that number. */
export type KeyRef = 'hot' | `deposit:${number}`;

/**
 * The port through which everything above reaches a chain. One adapter per network implements it; the simulated chain
 * was the first. Amounts are bigint in the token's smallest unit (6 digits); heights are block numbers (slots count as
 * blocks on spl); `native` amounts are the network's own coin in its smallest unit.
 *
 * Every call but `validateAddress`, `sender`, `ownWallets`, `depositAddress`, `cursorAt`, `mandateSetup` and `health`
 * throws `ChainUnavailable` when the network cannot be asked. After a throw from `broadcast` nothing is known: the
 * transaction may have been accepted.
 */
export interface Chain {
  readonly network: Network;
  readonly caps: ChainCaps;

  /** The offline rules of the network (see `checkAddress`), and what the chain knows of it where `online` is set. */
  validateAddress(address: string, options?: ValidateOptions): Promise<AddressCheck>;

  /** The address that a key of ours sends from, in canonical form; a deposit's is its `depositAddress`. Needs no node. */
  sender(keyRef: KeyRef): Promise<string>;

  /** Our canonical addresses but the deposit ones, those that merchants share (payers of fees) included. Needs no node. */
  ownWallets(): Promise<readonly string[]>;

  /**
   * The lowest sequence that no transaction of the sender has used, as decimal digits; null where the network has none
   * (trc20, spl). What waits in the mempool is not counted.
   */
  nextSequence(sender: string): Promise<string | null>;

  head(): Promise<Head>;

  /**
   * The hashes of those of these blocks that the node shows as final. A hash changes when its block or any block before
   * it was replaced, which is how a reorganisation deeper than finality is noticed.
   */
  blockHashes(heights: readonly bigint[]): Promise<ReadonlyMap<bigint, string>>;

  /** `final` counts only what no reorganisation can take away; `tip` is the newest block's view. */
  balance(address: string, asset: Asset, at: BalanceView): Promise<bigint>;

  /** As `balance`, of many addresses as of one block; thousands at once are cheap. */
  balances(addresses: readonly string[], asset: Asset, at: BalanceView): Promise<BalancesAnswer>;

  /**
   * The address of that number that payers send to: the same at every call, in canonical form, and no other address
   * that this port uses. Needs no node.
   *
   * @throws RangeError when the number is not an integer from 0 to `DEPOSIT_INDEX_MAX`.
   */
  depositAddress(request: { index: number }): Promise<DepositAddress>;

  /**
   * What arrived at the watched addresses, in any token, in the order of blocks; transfers of nothing are left out.
   *
   * `final` moves ahead through final blocks and misses nothing while every address in `watch` was given out after the
   * blocks up to the cursor; for one that joined late, scan again from `cursorAt`. `tip` looks once at all blocks after
   * the cursor, those that became final since too. A transfer is known by (`txId`, `index`), which stay when a
   * reorganisation moves it to another block.
   *
   * @throws RangeError for a cursor that is none.
   */
  scan(query: ScanQuery): Promise<ScanAnswer>;

  /** Just behind the block of that height: a scan from here begins with the next one. Needs no node. */
  cursorAt(height: bigint): Promise<string>;

  /**
   * Builds and signs, and sends nothing. On trc20 and spl the bytes carry their own end of validity, counted from now.
   * Asked again for the same attempt, whoever holds the wallet gives the bytes of the first time.
   *
   * @throws UnbuildableTransfer when the spec can never become one: a bug of the caller; SigningRefused
   */
  buildTransfer(spec: TransferSpec): Promise<SignedTx>;

  /** What a payer's wallet must sign so that it can be charged, and the mandate that this makes. Needs no node. */
  mandateSetup(request: MandateRequest): Promise<MandateSetup>;

  /** What a final block shows of mandates and of their wallets; thousands at once are cheap. */
  mandateStates(mandates: readonly Mandate[]): Promise<MandateStatesAnswer>;

  /**
   * As `buildTransfer`, for a transaction of ours that pulls from a payer's wallet into `Mandate.recipient`. It is sent
   * and watched like any other; on erc20 the network itself takes no second charge of one id. Where it fails,
   * `TxStatus.reason` is a `ChargeFault`, or the network's own word.
   *
   * @throws UnbuildableTransfer, SigningRefused
   */
  buildCharge(spec: ChargeSpec): Promise<SignedTx>;

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
  /** True: the network holds charges to the cap of each window. False: it knows the allowance alone. */
  readonly windowCap: boolean;
  /** Calls that its nodes bear at once. */
  readonly callsAtOnce: number;
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

export interface BalancesAnswer {
  /** The block they are as of. */
  height: bigint;
  /** Address → units, as the address was asked for; one that holds nothing is absent. */
  balances: ReadonlyMap<string, bigint>;
}

/** BIP 32: the highest number of an address that a public key alone can derive. */
export const DEPOSIT_INDEX_MAX = 2 ** 31 - 1;

export interface DepositAddress {
  /** What the payer is shown, canonical. */
  address: string;
  /** What `ScanQuery.watch` takes for it: opaque, store it beside the address. */
  watch: string;
}

export interface ScanQuery {
  level: 'final' | 'tip';
  /**
   * Where a `final` scan or `cursorAt` ended. Null: for `final` the beginning of the chain, for `tip` the newest final
   * block. A `tip` scan from the cursor of the `final` scan before it leaves no gap between the two.
   */
  cursor: string | null;
  /** `DepositAddress.watch` of any number of addresses; or who knows them, where there may be too many to hand over. */
  watch: readonly string[] | WatchSet;
  /**
   * For `final`: goes no further than the block of that height. With a list, read `head`, then the addresses, then scan
   * up to that head's `finalHeight`: an address that was given out meanwhile is then not passed over. A `WatchSet` is
   * asked late enough by itself.
   */
  upTo?: bigint;
  /** Most transfers in the answer; by default what the adapter can bear. */
  limit?: number;
}

/**
 * Addresses that are asked about instead of listed. A network that is read by blocks asks `among` whom they name, so
 * that a look costs what has happened, however many addresses there are. One that can only be asked address by address
 * takes `all`, in parts that its nodes bear. Nobody sends to an address before it is in here.
 */
export interface WatchSet {
  /** Which of these, in the form of `DepositAddress.watch`, are watched. Asked after their blocks were read. */
  among(candidates: readonly string[]): Promise<ReadonlySet<string>>;
  /** Every one. Asked after the head up to which is then read. */
  all(): Promise<readonly string[]>;
}

export interface ScanAnswer {
  transfers: ChainTransfer[];
  /**
   * Durable and opaque; store it in the transaction that stores the transfers. It never moves back, whatever the node
   * says. After `tip` it is the one that was given: nothing that is not final moves it.
   */
  cursor: string;
  /**
   * False after `final`: there is more, scan on from `cursor`. False after `tip`: this is a part of it; ask for fewer
   * addresses at once.
   */
  complete: boolean;
  /**
   * The node's, as of this answer. What was seen before and is absent from a complete `tip` answer is gone only if
   * `head.height` has reached the block it was seen in: a node that lags has not seen it yet.
   */
  head: Head;
}

export interface ChainTransfer {
  txId: string;
  /** Its place in the transaction. */
  index: number;
  /** Null: a token that is not listed, whatever it calls itself. */
  asset: Asset | null;
  /** Who lost the tokens, in canonical form: not always who signed. */
  from: string;
  /** `DepositAddress.address`. */
  to: string;
  /** What arrived, above 0; in units of that token. */
  amount: bigint;
  height: bigint;
  /** Unix seconds of its block. */
  time: number;
}

export interface TransferItem {
  /** The caller's id of this movement; it comes back in `SignedTx.itemIds` in the same order. */
  itemId: string;
  to: string;
  amount: bigint;
  /** Carried where the network has memos (spl), else ignored. */
  memo?: string;
}

export interface TransferSpec {
  signing: SigningRequest;
  /** Who pays the network's fee for a deposit address, which has none of the network's own coin, is the adapter's matter. */
  keyRef: KeyRef;
  asset: Asset;
  batchId: string;
  items: TransferItem[];
  /** Decimal digits; required on erc20, ignored elsewhere. */
  sequence?: string;
  /** Where `caps.replaceByFee` holds: bids enough for nodes that hold these bytes to take the new ones instead. */
  replaces?: SignedTx;
}

export type MandatePeriod = 'day' | 'week' | 'month' | 'year';

/** What a payer allows: up to `cap` units in each window of a subscription, into one wallet of ours and no other. */
export interface Mandate {
  /** Its name on the network, which follows from all the rest. */
  mandateId: string;
  asset: Asset;
  /** The wallet that is charged, canonical. */
  payer: string;
  recipient: string;
  cap: bigint;
  /** How long a window is. */
  period: MandatePeriod;
  /** Unix seconds between which it may be charged; null: without end. */
  startsAt: number;
  endsAt: number | null;
  /** Sets mandates apart that are equal otherwise. */
  salt: string;
}

export interface MandateRequest extends Omit<Mandate, 'mandateId' | 'recipient'> {
  /**
   * What the wallet lets be pulled altogether, by all its mandates of that asset: an approval replaces the one before
   * it. On spl it replaces another spender's too, as a token account has one delegate.
   */
  allowance: bigint;
}

export interface MandateSetup {
  mandate: Mandate;
  /** Who pulls: the collector's address on erc20, a wallet of ours where the network has no collector. */
  spender: string;
  /** In this order, each a signature of the payer's. */
  steps: MandateStep[];
}

export type MandateStep =
  | { kind: 'approve'; asset: Asset; spender: string; amount: bigint }
  /** Tells the collector what it may pull; absent where there is none. */
  | { kind: 'activate'; mandateId: string };

export interface MandateState {
  /** `missing`: not on the chain, or not there any more. `revoked`: the payer has taken it back. */
  state: 'active' | 'revoked' | 'missing';
  /** What the wallet holds, and what it still lets us pull, by all its mandates of that asset. */
  balance: bigint;
  allowance: bigint;
}

export interface MandateStatesAnswer {
  /** The final block that they are as of. */
  height: bigint;
  /** In the order in which they were asked for. */
  states: MandateState[];
}

export interface ChargeSpec {
  signing: SigningRequest;
  /** Whose transaction it is. */
  keyRef: KeyRef;
  mandate: Mandate;
  /** The caller's id of this charge; it comes back as the one of `SignedTx.itemIds`. */
  chargeId: string;
  amount: bigint;
  /** The cap counts for each subscription and window (Unix seconds); windows that overlap count together. */
  subscriptionId: string;
  windowStart: number;
  windowEnd: number;
  /** As in `TransferSpec`. */
  sequence?: string;
}

/** Why the network has refused a charge. */
export type ChargeFault = (typeof CHARGE_FAULTS)[number];
export const CHARGE_FAULTS = [
  'insufficient_balance',
  'insufficient_allowance',
  'cap_exceeded',
  'mandate_revoked',
] as const;

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
  /** `finalAt`: as in `TxStatus`, where the network tells and it is a matter of seconds. */
  | { result: 'accepted' | 'known'; finalAt?: number }
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
  /** Its block; of one that is `dead`, the final block that proves it. */
  height?: bigint;
  /**
   * Of one that is not final: when that is expected, in Unix seconds of the merchant's clock. Undefined where the network
   * does not tell. Nothing is promised by it.
   */
  finalAt?: number;
  /** Native coin spent. */
  fee?: bigint;
  /** One for each of `SignedTx.itemIds`; set once the transaction is in a block. */
  itemOk?: boolean[];
  reason?: string;
}

export type FeeKind = 'transfer' | 'charge';

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
