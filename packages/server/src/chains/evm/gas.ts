import { UnbuildableTransfer } from '../port/port-errors.ts';

/** No transaction may have more (EIP-7825). */
export const TX_GAS_MAX = 16_777_216n;

/** What a transaction does, as far as its gas depends on it. */
export type GasUse =
  | { kind: 'batch'; places: readonly number[] }
  | { kind: 'transfer' }
  /** Native coin to a wallet of ours, also none of it. */
  | { kind: 'plain' }
  | { kind: 'approve' }
  | { kind: 'account' }
  | { kind: 'activate' }
  /** An activation after the payer's signed approval. */
  | { kind: 'permit' }
  | { kind: 'charge' }
  | { kind: 'deploy'; bytes: number }
  | { kind: 'sweep'; addresses: number; authorizations: number };

/** `BatchPayout` reverts where less than this is left above what it uses. */
const BATCH_RESERVE = 203_000n;
/** A transfer of USDC to a new holder, with its share of calldata and event, is 31,100 on our contract and 32,400 on the real one. */
const BATCH_ITEM = 31_100n;
const BATCH_ITEM_MAX = 40_000n;
const BATCH_BASE = 72_000n;
const BATCH_BASE_MAX = 100_000n;
/** A word of bits for each 256 places: read, then written for the first time. */
const BATCH_WORD = 22_100n;

/** USDC to a new holder through its proxy. */
const TRANSFER = 62_100n;
const TRANSFER_MAX = 150_000n;

const PLAIN = 21_000n;
const PLAIN_MAX = 30_000n;

const APPROVE = 56_000n;
const APPROVE_MAX = 100_000n;

const ACCOUNT = 92_000n;
const ACCOUNT_MAX = 130_000n;

const ACTIVATE = 55_000n;
/** A contract's wallet checks its signatures by code of its own. */
const ACTIVATE_MAX = 250_000n;

/** USDC's permit through its proxy, with its calldata. */
const PERMIT = 73_500n;
const PERMIT_MAX = 120_000n;

/** USDC into a home that holds none yet, through its proxy; later charges are 102,000. */
const CHARGE = 139_200n;
const CHARGE_MAX = 220_000n;

/** For each byte 200 to keep it and 16 to send it; the rest is the call, CREATE2 and the constructor. */
const DEPLOY_BYTE = 220n;
const DEPLOY_BYTE_MAX = 230n;
const DEPLOY_BASE = 70_000n;
const DEPLOY_BASE_MAX = 120_000n;

/** One of eight, measured. */
const SWEEP_ITEM = 22_500n;
/** `Sweeper` gives each address 150,000, which USDT burns whole where the balance is too small. */
const SWEEP_ITEM_MAX = 165_000n;
/** `Sweeper` reverts where less than this is left before an address. */
const SWEEP_RESERVE = 165_000n;
const SWEEP_BASE = 30_000n;
const SWEEP_BASE_MAX = 50_000n;
/** Taken for each authorization. Half of it comes back for an account that has ether, which a deposit address has not. */
const AUTHORIZATION = 25_000n;
/** The sweep itself then reads a code that the authorization has read. */
const AUTHORIZATION_NET = 22_500n;

/** What such a transaction uses as a rule. */
export function expectedGas(use: GasUse): bigint {
  switch (use.kind) {
    case 'batch':
      return BATCH_BASE + BATCH_ITEM * count(use.places) + BATCH_WORD * (wordsOf(use.places) - 1n);
    case 'transfer':
      return TRANSFER;
    case 'plain':
      return PLAIN;
    case 'approve':
      return APPROVE;
    case 'account':
      return ACCOUNT;
    case 'activate':
      return ACTIVATE;
    case 'permit':
      return ACTIVATE + PERMIT;
    case 'charge':
      return CHARGE;
    case 'deploy':
      return DEPLOY_BASE + DEPLOY_BYTE * BigInt(use.bytes);
    case 'sweep':
      return SWEEP_BASE + SWEEP_ITEM * BigInt(use.addresses) + AUTHORIZATION_NET * BigInt(use.authorizations);
  }
}

/**
 * The gas limit: by formula, as an estimate of a node leaves authorizations out and finds what one state needs. It suffices
 * for whatever the contracts let a transaction use.
 *
 * @throws UnbuildableTransfer where that is above the network's ceiling or `TX_GAS_MAX`
 */
export function gasLimit(use: GasUse, gasPerTransaction: bigint): bigint {
  const limit = limitOf(use);
  const ceiling = gasPerTransaction < TX_GAS_MAX ? gasPerTransaction : TX_GAS_MAX;
  if (limit > ceiling) {
    throw new UnbuildableTransfer(
      `a transaction of ${limit} gas is above the ceiling of ${ceiling}: make it smaller`,
    );
  }
  return limit;
}

function limitOf(use: GasUse): bigint {
  switch (use.kind) {
    case 'batch':
      return (
        BATCH_BASE_MAX +
        BATCH_ITEM_MAX * count(use.places) +
        BATCH_WORD * (wordsOf(use.places) - 1n) +
        BATCH_RESERVE
      );
    case 'transfer':
      return TRANSFER_MAX;
    case 'plain':
      return PLAIN_MAX;
    case 'approve':
      return APPROVE_MAX;
    case 'account':
      return ACCOUNT_MAX;
    case 'activate':
      return ACTIVATE_MAX;
    case 'permit':
      return ACTIVATE_MAX + PERMIT_MAX;
    case 'charge':
      return CHARGE_MAX;
    case 'deploy':
      return DEPLOY_BASE_MAX + DEPLOY_BYTE_MAX * BigInt(use.bytes);
    case 'sweep':
      return (
        SWEEP_BASE_MAX +
        SWEEP_ITEM_MAX * BigInt(use.addresses) +
        AUTHORIZATION * BigInt(use.authorizations) +
        SWEEP_RESERVE
      );
  }
}

/** The most of them, up to `most`, that fit into one transaction; 0 where not even one does. */
export function mostThatFit(most: number, gasPerTransaction: bigint, use: (n: number) => GasUse): number {
  const ceiling = gasPerTransaction < TX_GAS_MAX ? gasPerTransaction : TX_GAS_MAX;
  let fitting = most;
  while (fitting > 0 && limitOf(use(fitting)) > ceiling) fitting -= 1;
  return fitting;
}

function count(places: readonly number[]): bigint {
  return BigInt(places.length);
}

/** Words of bits that are loaded, in the order of the payments: a place in another word loads again. */
function wordsOf(places: readonly number[]): bigint {
  let words = 1n;
  let word = 0;
  for (const place of places) {
    const own = Math.floor(place / 256);
    if (own !== word) words += 1n;
    word = own;
  }
  return words;
}
