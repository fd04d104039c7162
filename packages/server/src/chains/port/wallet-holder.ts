import type { Network } from '@florin/contract/money';

/**
 * The holder of the keys of a merchant's wallets: the simulated chain's own tables, or a signer process. It does not trust
 * our database: it keeps the name of the history that it signs for, and what it has signed. The first history that requests
 * a signature is the one it signs for; only `claim` replaces it.
 */
export interface WalletHolder {
  /** @returns undefined before the first request for a signature */
  current(): Promise<HeldFor | undefined>;
  /**
   * Makes the holder sign for that history alone and increments the generation, by compare-and-set.
   *
   * @param over the generation that the caller has read; 0: none
   * @returns false where the holder's generation is another one: nothing was changed
   */
  claim(history: string, over: bigint): Promise<boolean>;
  /**
   * When it wants people's signatures before it signs; undefined where it never does.
   *
   * @throws SignerUnavailable
   */
  approvalRules(): Promise<ApprovalRules | undefined>;
  /**
   * What its policy allows beside payments, as of some seconds ago; undefined where it has no policy.
   *
   * @throws SignerUnavailable
   */
  limits(): Promise<HolderLimits | undefined>;
  /** As `limits`: whose charges it signs on a network. @throws SignerUnavailable */
  chargesOn(network: Network): Promise<HolderCharges | undefined>;
  /** The signer's journal of its signatures; the holder of a simulated chain keeps none. */
  readonly journal?: HolderJournal;
}

export interface HolderLimits extends TopUpLimits {
  /** The contract whose charges it signs; null: none. */
  collector: string | null;
}

export interface HolderCharges {
  /** The contract, or on spl the delegate, that payers' wallets allow to pull; null: nobody's. */
  by: string | null;
  /** The most units of one charge; null: as much as the payer has signed for. */
  atMost: bigint | null;
}

/** Of the network's own coin, which the gas tank gives to other wallets, in its smallest unit. */
export interface TopUpLimits {
  /** The most of one top-up. */
  gasTopUp: bigint;
  /** What is left of a day's. */
  gasTopUpsLeft: bigint;
}

export interface HolderJournal {
  /** That of the newest signature which this process has got, once. */
  takeNewest(): JournalHead | undefined;
  /** Whether the journal has a head that we know, and the one it has now. @throws SignerUnavailable */
  check(known: JournalHead): Promise<{ isKnown: boolean; current: JournalHead }>;
}

export interface JournalHead {
  entries: number;
  /** SHA-256, hex. */
  head: string;
}

/** Of payouts and refunds apart, for all merchants of the holder together, tokens added up. */
export interface ApprovalRules extends Record<'payouts' | 'refunds', ApprovalRule> {
  /** Whose signatures count. */
  approvers: readonly PolicyApprover[];
}

/** A person, by one of their keys: several of one name are one person. */
export type PolicyApprover = { name: string } & (
  | {
      kind: 'ed25519' | 'ethereum';
      /** Of Ed25519 the public key, hex; of Ethereum the address. */
      key: string;
    }
  | {
      kind: 'passkey';
      /** Its public key, SubjectPublicKeyInfo as DER, hex. */
      key: string;
      rpId: string;
      origin: string;
    }
);

export interface ApprovalRule {
  /** A batch or refund above it needs `approvals` signatures. */
  approveAbove: bigint;
  approvals: number;
  /** What it signs without people in 24 hours, and what of it is used up. */
  unapprovedPerDay: bigint;
  unapprovedUsed: bigint;
}

export interface HeldFor {
  history: string;
  /** 1, and one more with each `claim`. */
  generation: bigint;
}

/** The attempt for which a signature is requested. */
export interface SigningRequest {
  /** The name of the history of the caller's database. Copies of a database have the same one. */
  history: string;
  /** The caller's id of this transaction. */
  attemptId: string;
  /** The number of the attempt among those of this wallet, from 0; assigned before any signature is requested. */
  ordinal: bigint;
  /** The attempt with the ordinal before it; null where the caller has not read it. */
  previous: string | null;
  /** The newest head of the holder's journal that the caller's database knows. */
  journal?: JournalHead | undefined;
  /**
   * The ids of the attempts with smaller ordinals, in order: from `from` on, or with null, where the holder knows none of
   * the history, from its first one. The holder calls it only where it does not know the attempt before, as attempts are
   * not always signed in the order of their ordinals.
   */
  before(from: bigint | null): Promise<readonly string[]>;
}

/**
 * The holder signs for another history, or has signed another attempt under this ordinal: the caller's database is a copy,
 * was restored to an earlier time, or another copy of it sends.
 */
export class SigningRefused extends Error {
  readonly network: Network;
  /** The history of the request. */
  readonly history: string;

  constructor(network: Network, history: string, detail: string) {
    super(`${network}: ${detail}`);
    this.network = network;
    this.history = history;
  }
}
