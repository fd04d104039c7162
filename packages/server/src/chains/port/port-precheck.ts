import type { Asset } from '@florin/contract/money';
import type { DepositKeyRef, KeyRef } from './key-refs.ts';
import type {
  ChargeFault,
  ChargeTerms,
  Mandate,
  MandateState,
  PermitState,
  SignedPermit,
} from './port-mandates.ts';

/** Transactions that are to be sent: payments of one wallet, or sweeps that the gas tank sends. */
export type PrecheckRequest =
  /** `keyRef`: of the hot wallet by default. */
  | {
      kind: 'transfers';
      keyRef?: KeyRef;
      asset: Asset;
      transactions: readonly (readonly PrecheckedItem[])[];
    }
  /** Deposit addresses of each. */
  | { kind: 'sweeps'; asset: Asset; transactions: readonly number[] };

export interface PrecheckedItem {
  itemId: string;
  place: number;
  to: string;
  amount: bigint;
}

/** Why the token would refuse a payment. */
type UnpayableReason =
  | 'token_paused'
  | 'sender_blacklisted'
  | 'contract_blacklisted'
  | 'recipient_blacklisted';

/** `native` amounts are in the smallest unit of the network's own coin. */
export interface Precheck {
  /** Why nothing of the request can be paid now; null: nothing is known against it. */
  refused: Exclude<UnpayableReason, 'recipient_blacklisted'> | null;
  /** Items that the token refuses whatever else is paid. */
  unpayable: ReadonlySet<string>;
  /** Items whose call reverts now. Nodes give no reason. */
  reverting?: ReadonlySet<string>;
  /** The most that each transaction can cost, in the order of the request. */
  fees: readonly bigint[];
  /**
   * The most that one of them can cost where nothing but coins pays for it. Absent: as `fees` say. What the sender has staked or is lent is
   * taken off `fees`, and another transaction of it may use that up.
   */
  dearest?: bigint;
  /** What the sender holds. */
  native: bigint;
  /**
   * Where wallets have no sequence: a final block that all native amounts are as of, or of a later one. What was decided above it may be
   * missing in them.
   */
  asOf?: bigint;
  /** What the payout contract may pull from the sender; null where it needs nothing. */
  allowance: bigint | null;
  /** The sender's contract for sweeps is not on the chain yet. */
  isDelegateMissing: boolean;
  /** The most that each of the movements can cost that may have to come first. */
  movementFees: Readonly<Record<'gas' | 'approve' | 'deploy', bigint>>;
  /** The gas tank, what it holds, and what its holder gives in one top-up and has left of a day's, where that is known. */
  tank: {
    address: string;
    native: bigint;
    nextSequence: bigint | null;
    topUpMax?: bigint;
    topUpsLeft?: bigint;
    /** Its stake that is delegated to others, as of `asOf` or a later block; absent where it is 0. */
    lent?: bigint;
  };
  /** What the tank can lend the sender, a deposit address. Absent: it has neither staked nor lent anything, or that cannot be read. */
  lending?: Lending;
  /** Null: each wallet pays the fees of what it sends. */
  paidByTank: PaidByTank | null;
}

/** Stake of the gas tank, as an amount of native coin. It pays fees of the sender while that has it, and is the tank's all the time. */
export interface Lending {
  to: DepositKeyRef;
  /** With so much, `fees` would be `coins` together. */
  staked: bigint;
  /** What of all `fees` coins alone pay. */
  coins: bigint;
  /** What the tank can lend now. */
  available: bigint;
  /** What the sender has of it, as of `asOf` or a later block. */
  lent: bigint;
  /** The most that lending costs the tank. Taking back costs as much once more. */
  fee: bigint;
}

/** The gas tank pays for all transactions, and opens accounts for recipients, who keep what that costs. */
export interface PaidByTank {
  /** The most that one transaction can cost, without accounts that it opens. */
  fee: bigint;
  /** What one account costs. Any recipient may close theirs, so a transaction can cost that much for each of its own. */
  opening: bigint;
  /** Recipients of the request that have no account of the token now. */
  newRecipients: ReadonlySet<string>;
}

/** Charges of one token that are to be sent, or the mandate that is to be activated before any. */
export interface ChargesRequest {
  asset: Asset;
  charges: readonly ChargeTerms[];
  activation?: SignedMandate;
}

export interface SignedMandate {
  mandate: Mandate;
  /** The payer's, hex. */
  signature: string;
  /** The approval, where the payer has signed that too. */
  permit?: SignedPermit;
}

export interface CheckedMandate extends MandateState {
  isSignatureRefused: boolean;
  /** Whether the activation passes, with the gas that it will have; of a mandate that is not missing this says nothing. */
  isTaken: boolean;
  /** Null: the payer has signed no approval. */
  permit: PermitState | null;
}

/** As of the newest block, but for `native` where wallets have no sequence: that is as of `asOf`. */
export interface ChargesPrecheck extends Pick<Precheck, 'refused' | 'native' | 'tank' | 'asOf'> {
  /** The most that one charge can cost. */
  fee: bigint;
  /** The most that any transaction of the hot wallet for mandates and charges can cost. */
  dearest: bigint;
  /** The most that each of the movements can cost that may have to come first; `activate` with its permit, if it has one. */
  movementFees: Readonly<Record<'gas' | 'account' | 'activate', bigint>>;
  /** The merchant's account at the collector is not open yet. */
  isAccountMissing: boolean;
  /** Somebody else charges for the open account, or nobody: its owner has named another operator. */
  isOtherOperator: boolean;
  /** Ids of the request's mandates that are not on the chain. */
  missing: ReadonlySet<string>;
  /** Why charges would fail now, by their ids; those of missing mandates are not among them. */
  faults: ReadonlyMap<string, ChargeFault>;
  /** Ids of charges that would fail for a reason that is none of these, or of which two endpoints tell another one. */
  unclear: ReadonlySet<string>;
  /** Of the mandate that is to be activated; null: there is none. */
  activation: CheckedMandate | null;
}
