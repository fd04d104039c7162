// What a server and the signer say to each other: JSON over HTTP on a Unix socket, or on TLS with certificates of both
// sides. Numbers that may exceed 2^53 are decimal digits; bytes are hex in lower case with 0x; ids of ours are UUIDs.
// Money leaves by `payout` and `refund` alone. Everything else moves coins between wallets of ours, or into them.

import type { Approver, PasskeyParts } from './approver-key.ts';
import type { MandatedCharge } from './mandate-terms.ts';

export type SignerNetwork = 'erc20' | 'trc20' | 'spl';
export type SignerAsset = 'USDT' | 'USDC';

/**
 * The keys of one merchant on a network, derived from one seed: `m/44'/60'/a'/1/e` is its hot wallet of epoch e, which is 0 on
 * other networks, `m/44'/60'/a'/0/i` its deposit addresses (195' on trc20; 501' on spl, each step hardened). Account 0 is the installation's: its
 * hot wallet is the gas tank, which tops hot wallets up and sends sweeps; on spl it pays the fee and the rent of all transactions.
 */
export interface AccountRequest {
  network: SignerNetwork;
  /** 0 to 2^31-1. */
  account: number;
}

interface PublicAccount<Network extends SignerNetwork> {
  /** Of the signer, in each of these answers: a server says by it which of the two is the older one. */
  version: string;
  network: Network;
  account: number;
  /** BIP 32, of `m/44'/60'/a'` or `m/44'/195'/a'`: deposit addresses are derived from it without the signer. */
  extendedPublicKey: string;
  /** Number of its present hot wallet: 0, and one more with each rotation. */
  epoch: number;
  /** Address of that wallet. */
  hot: string;
}

/** On spl no public key leads to another one: deposit addresses come from the signer, by `addresses`. */
export type AccountAnswer =
  | (PublicAccount<'erc20'> & {
      /** The owner of its account at the collector, where the policy names one outside of the signer. */
      coldOwner: string | null;
    })
  | PublicAccount<'trc20'>
  | { version: string; network: 'spl'; account: number; hot: string };

/** So many attempts come with another one at most. */
export const BEFORE_MAX = 20_000;

/** So many addresses are given at once. */
export const ADDRESSES_MAX = 200;

/** Deposit addresses of an account on spl, for the pool that a server fills ahead: those of `from` and of the indexes behind it. */
export interface AddressesRequest {
  network: 'spl';
  /** From 1: the installation has no deposits. */
  account: number;
  /** 0 to 2^31-1. */
  from: number;
  /** 1 to `ADDRESSES_MAX`. */
  count: number;
}

export interface AddressesAnswer {
  network: 'spl';
  account: number;
  from: number;
  /** In order of their indexes. The same request gives the same addresses. */
  addresses: readonly string[];
}

/** Begins an epoch of an account, or asks for the present one again. */
export interface EpochRequest {
  network: 'erc20';
  account: number;
  /** The present one, which changes nothing, or the one after it. */
  epoch: number;
  /** Of the key file. */
  passphrase: string;
}

export interface EpochAnswer {
  network: 'erc20';
  account: number;
  epoch: number;
  hot: string;
  /** Of the journal, which knows the epoch: the caller stores it. */
  journal: JournalHead;
}

/**
 * Wants a call of the owner of a merchant's account at the collector, which gives that account to the present hot wallet:
 * as `operator` at once, as `home` in two days. It names no other address.
 */
export interface OwnerCallRequest {
  network: 'erc20';
  account: number;
  epoch: number;
  what: 'operator' | 'home';
  /** Of the owner's wallet, decimal digits as the fees in wei: needed where the owner is a key of the signer. */
  nonce?: string;
  maxFeePerGas?: string;
  maxPriorityFeePerGas?: string;
  passphrase: string;
}

interface OwnerCall {
  owner: string;
  collector: string;
  /** Id of the account there. */
  collectorAccount: string;
}

/** Signed by a key of the signer; or what the wallet of a cold owner has to send, and what it does in words. */
export type OwnerCallAnswer =
  | (OwnerCall & {
      /** In wei. */
      costAtMost: string;
      raw: string;
      txId: string;
    })
  | (OwnerCall & {
      unsigned: { chainId: number; from: string; to: string; data: string; value: string };
      does: string;
    });

/** The attempt that a signature is for; see `WalletHolder` of the server. */
export interface AttemptRequest {
  /** The name of the database's history. */
  history: string;
  attemptId: string;
  /** Number among the attempts of this wallet, decimal digits. */
  ordinal: string;
  previous: string | null;
  /** Ids of the attempts with smaller ordinals in order, ending before `ordinal`, where the signer asked for them. */
  before?: readonly string[];
}

/** One payment of a batch or refund. */
export interface PurposeItem {
  /** From 0, without gaps. */
  place: number;
  to: string;
  /** Units of the token, decimal digits. */
  amount: string;
  memo: string | null;
}

/** Bytes of each part of a passkey's answer that are taken; browsers say some 200. */
export const PASSKEY_PART_BYTES = 4_095;

export interface SignedApproval {
  approver: string;
  /** Unix seconds. */
  validUntil: number;
  /** Hex: Ed25519 over the statement's bytes, EIP-712, or a passkey's over `passkey`. */
  signature: string;
  /** Of an answer by a passkey alone. */
  passkey?: PasskeyParts;
}

/** Why something is to be signed. The signer reads the transaction by itself and compares. */
export type Purpose =
  | {
      kind: 'payout' | 'refund';
      merchant: string;
      /** Of the batch or refund; as 32 bytes, left-aligned, it is the group at `BatchPayout`. */
      id: string;
      asset: SignerAsset;
      /** All of them, whichever of them this transaction pays. */
      items: readonly PurposeItem[];
      /** Places that this transaction pays. */
      places: readonly number[];
      approvals: readonly SignedApproval[];
    }
  /**
   * On erc20 sent by account 0 to `Sweeper`; the signer adds the authorizations of the addresses that `delegates` lists. On spl
   * account 0 pays and the deposit addresses sign, on trc20 one deposit address sends; `delegates` is empty on both.
   */
  | {
      kind: 'sweep';
      merchant: string;
      /** Of the merchant, whose deposit addresses are swept into its hot wallet. */
      account: number;
      /** Of that hot wallet; 0 where it is absent. */
      epoch?: number;
      deposits: readonly { index: number; asset: SignerAsset; amount: string }[];
      /** Deposit addresses that do not delegate yet, with the nonce of each. */
      delegates: readonly { index: number; nonce: string }[];
    }
  /**
   * Native coin from account 0 to the hot wallet of an account (on erc20 of that epoch, with `to` to its owner's wallet, if that is a key of the signer, or to a hot
   * wallet that was rotated), on trc20 with `index` to a deposit address, which sweeps itself.
   */
  | { kind: 'gas'; account: number; index?: number; epoch?: number; to?: 'owner' | 'rotated' }
  /** On erc20: from a hot wallet that was rotated to the present one. `asset` null: native coin, `amount` in wei. */
  | { kind: 'move'; asset: SignerAsset | null; amount: string }
  /** On trc20: energy of TRX that account 0 has staked, `staked` sun of it, is lent to such a wallet or taken back. */
  | { kind: 'energy'; account: number; index?: number; staked: string; isTakenBack: boolean }
  /** `approve` of the payout contract; USDT's goes through 0. */
  | { kind: 'approve'; asset: SignerAsset; amount: string }
  /** By the deterministic deployer, with salt 0 and constructor values that the signer computes. */
  | { kind: 'deploy'; contract: 'batch_payout' | 'collector' | 'sweeper' }
  | { kind: 'deploy'; contract: 'sweep_delegate'; account: number; epoch?: number }
  /** Sent by account 0: opens the merchant's account at the collector. Its operator and home are the hot wallet. */
  | { kind: 'account'; account: number }
  /** Sent by the hot wallet: brings a payer's mandate for this account to the collector. */
  | { kind: 'activate'; asset: SignerAsset; payer: string }
  /** Pulls from the payer: sent by the hot wallet into the home of this account at the collector, on spl by the delegate into the hot wallet. */
  | {
      kind: 'charge';
      /** Of the charge; as 32 bytes, left-aligned, it is the id that the collector charges by once. */
      id: string;
      asset: SignerAsset;
      payer: string;
      /** Units of the token, decimal digits. */
      amount: string;
      /** On spl alone, and there always. */
      mandate?: MandatedCharge;
    }
  /** An empty payment to the sender. */
  | { kind: 'fill' };

/** A transaction of each network may be signed for these purposes: `PURPOSES` of `schemas.ts`. */
export interface SignRequest {
  network: SignerNetwork;
  /** On trc20 and spl, whose bytes do not name their network: the first block of the caller's, as the policy has it. */
  genesis?: string;
  /** Whose wallet sends: a merchant's, or with 0 the installation's. */
  account: number;
  /** Which hot wallet of the account; 0 where it is absent. */
  epoch?: number;
  attempt: AttemptRequest;
  /**
   * On erc20 EIP-2718 bytes without signature: type 2, or type 4 for a sweep that delegates, whose authorization list is empty here.
   * On trc20 the raw data, on spl the message.
   */
  unsigned: string;
  purpose: Purpose;
  /**
   * The newest head that the caller has stored, if any. A signer that was restored from an older backup does not know it
   * and refuses with `journal`.
   */
  journal?: JournalHead;
}

export interface SignAnswer {
  /**
   * The signed bytes. The same attempt with the same fees gives the same bytes. On trc20 and spl an attempt gives the bytes of its
   * first request again, whatever the later one has: their block, time and fee may be others.
   */
  raw: string;
  /** As the network writes it: on erc20 hex with 0x, on trc20 without, on spl the first signature in base58. */
  txId: string;
  /** Of the journal, after this signature: the caller stores it. */
  journal: JournalHead;
}

export interface JournalHead {
  entries: number;
  /** SHA-256, hex. */
  head: string;
}

/** Why nothing was signed. Nothing changes by asking again but for `frozen`, `approvals`, `limit` and `unknown_attempts`. */
export const REFUSALS = [
  /** Freeze is on. */
  'frozen',
  /** The database asks that the signer does not sign for, or it has signed another attempt under this number. */
  'history',
  /** Ask again with `before`. */
  'unknown_attempts',
  /** It has signed something else for this (sender, sequence); on trc20 and spl, the attempt for another network. */
  'sequence',
  /** An earlier transaction that pays one of these items may still be mined. */
  'item_signed',
  /** The bytes are not what the purpose says. */
  'purpose',
  /** A fee, a gas limit or a ceiling of the policy. */
  'fee',
  /** A limit of the policy for a transfer, an hour, a day or a merchant; on trc20 and spl also an item that is signed too early again. */
  'limit',
  /** A charge on spl: its payer has signed for no more in this window. In the next one it may be signed. */
  'cap_exceeded',
  /** A charge on spl: its window ended a week ago, or its mandate has. */
  'too_late',
  /** More people have to approve. */
  'approvals',
  /** The hot wallet was rotated, or the caller is ahead of the signer: florin signer rotate. */
  'epoch',
  /** The policy does not know this network, token, contract or account. */
  'policy',
  /** The journal is behind what the caller has stored: the signer was restored from a backup. */
  'journal',
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** The body of every answer but 200: 400 for an unreadable request, 403 for a refusal. */
export interface RefusalAnswer {
  code: Refusal | 'invalid_request';
  message: string;
  /** With `unknown_attempts`: the first ordinal that it lacks; null: all. */
  from?: string | null;
}

/** What a server must know so that it takes nothing that the signer will refuse. */
export interface SignerStatus {
  version: string;
  /** SHA-256 of the policy file, hex. */
  policy: string;
  frozen: { since: number; reason: string } | null;
  journal: JournalHead;
  held: { history: string; generation: string } | null;
  networks: readonly NetworkStatus[];
  /** When people sign, for all merchants together: units of a token, decimal digits. */
  thresholds: Record<'payouts' | 'refunds', Threshold>;
  /** A name with several keys is one person. */
  approvers: readonly Approver[];
}

export type NetworkStatus =
  | {
      network: 'erc20';
      chainId: number;
      /** Whose charges it signs; null: none. */
      collector: string | null;
      /** The most ether of one top-up, in wei. */
      gasTopUp: string;
      /** What is left of the last 24 hours' top-ups, in wei. */
      gasTopUpsLeft: string;
    }
  | {
      network: 'trc20';
      /** Id of the network's first block, hex. */
      genesis: string;
      collector: string | null;
      /** In sun. */
      gasTopUp: string;
      gasTopUpsLeft: string;
    }
  | {
      network: 'spl';
      /** Hash of the network's first block, in base58. */
      genesis: string;
      /** Pays fee and rent of all transactions. */
      feePayer: string;
      /** To whom payers' wallets give an allowance; null: no wallet is charged. */
      delegate: string | null;
      /** The most units of one charge; null: no wallet is charged. Signers of before do not say. */
      chargeAtMost?: string | null;
    };

export interface Threshold {
  /** A batch or refund above it needs `approvals` people. */
  approveAbove: string;
  approvals: number;
  /** What may be signed without people in a day, and what of it has been in the last 24 hours. */
  unapprovedPerDay: string;
  unapprovedUsed: string;
}

/** Whether a head is one of this journal's, and the head that it has now. */
export interface JournalAnswer {
  known: boolean;
  journal: JournalHead;
}

/** As `WalletHolder.claim`. */
export interface ClaimRequest {
  history: string;
  over: string;
}

export interface ClaimAnswer {
  claimed: boolean;
}

/** Stops all signing at once. */
export interface FreezeRequest {
  reason: string;
}

/** Of the key file. */
export interface UnfreezeRequest {
  passphrase: string;
}

export const PATHS = {
  status: '/v1/status',
  accounts: '/v1/accounts',
  addresses: '/v1/addresses',
  sign: '/v1/sign',
  claim: '/v1/claim',
  journal: '/v1/journal',
  freeze: '/v1/freeze',
  unfreeze: '/v1/unfreeze',
  epochs: '/v1/epochs',
  ownerCalls: '/v1/owner-calls',
} as const;
