import { base58 } from '@scure/base';
import { concat } from '../bytes.ts';
import { groupOf } from '../contracts.ts';
import { differs, paidItems } from '../paid-items.ts';
import type { Purpose, PurposeItem, SignerAsset } from '../protocol.ts';
import { Refused } from '../refusal.ts';
import type { Payment } from '../statement.ts';
import { readSolanaAddress, tokenAccountOf } from './address.ts';
import type { SolanaInstruction } from './instruction.ts';
import { isLostOnSolana } from './lost.ts';
import { isMandateSigned, mandateIdOf, type SolanaMandate } from './mandate.ts';
import { type SolanaMessage, signersOf } from './message.ts';

/** The part of the policy about Solana; amounts of SOL in lamports. */
export interface SolanaRules {
  /** Hash of the network's first block, in base58. */
  genesis: string;
  /** Their mints. */
  tokens: ReadonlyMap<SignerAsset, string>;
  computeUnits: number;
  /** The most that the priority fee of one transaction may be. */
  priorityFee: bigint;
  /** The most that all transactions of a day may cost. */
  nativeFeePerDay: bigint;
  /** Of one account. */
  nativeFeePerMerchantDay: bigint;
  /** Whether a recipient may be a program's, such as the vault of a multisig. */
  allowProgramOwned: boolean;
  /** The signer's own, which shows that earlier transactions are dead; null: it has none. */
  node: string | null;
  /** Null: no wallet is charged. */
  charges: ChargeRules | null;
  /** Merchants by account: no other account pays. Null: the first payment of an account decides. */
  accounts: ReadonlyMap<number, string> | null;
}

/** What the delegate may pull, as no contract keeps windows here; in units of a token, tokens added up. */
export interface ChargeRules {
  perTransfer: bigint;
  perDay: bigint;
  /** Of one account. */
  perMerchantDay: bigint;
  /** Charges that are signed again whose earlier transaction may still be mined. */
  resendPerDay: bigint;
}

/** The addresses of our keys on Solana. */
export interface SolanaBook {
  /** Of account 0: the fee payer. */
  hot(account: number): string;
  deposit(account: number, index: number): string;
  delegate(): string;
}

export type SolanaPurpose =
  | Payment
  | Extract<Purpose, { kind: 'charge' }>
  /** Sent by account 0 and signed by the deposit addresses. What they held goes to their account's hot wallet, rent to account 0. */
  | {
      kind: 'sweep';
      account: number;
      deposits: readonly { index: number; asset: SignerAsset; amount: string }[];
    };

export interface SolanaFacts {
  /** Whose wallet sends: a merchant's, or with 0 the installation's. */
  account: number;
  purpose: SolanaPurpose;
  message: SolanaMessage;
  rules: SolanaRules;
  book: SolanaBook;
}

/** What a message does that says what its purpose says. */
export interface SolanaMovement {
  /** Set where money leaves. */
  payment?: { purpose: Payment; items: readonly PurposeItem[] };
  /** Of a charge: the id of the mandate by which its payer allows it. */
  mandateId?: string;
  /** The most lamports that it takes from the fee payer: signatures, priority, and the rent of accounts that it opens. */
  cost: bigint;
}

type Kind = SolanaInstruction['kind'];
type Step<K extends Kind> = Extract<SolanaInstruction, { kind: K }>;
type Transfer = Pick<Step<'transfer'>, 'source' | 'mint' | 'destination' | 'authority' | 'amount'> & {
  what: string;
  /** Of the item: it stands right before the transfer, once, and nowhere else. */
  memo: string | null;
};

/** All that a message may do behind its compute budget. */
interface Expected {
  transfers: readonly Transfer[];
  /** Owners for whom it may open an account, and of which token. */
  openedFor: readonly { owner: string; mint: string }[];
  /** Accounts that it may close, with the owner of each. */
  closed: readonly { account: string; owner: string }[];
  /** The memo that it has to carry, once; null: none. */
  memo: string | null;
}

const DECIMALS = 6;
const SIGNATURE_LAMPORTS = 5_000n;
/** For the 165 bytes of a token account. */
const RENT_LAMPORTS = 2_039_280n;
const MICRO = 1_000_000n;
const PLACE_MAX = 0xffff;
/** More than a transaction of 1,232 bytes holds, each with 17 bytes at least. */
const TRANSFERS_MAX = 72;
/**
 * The memo of a payment or charge: the UUID of the batch, refund or charge with the first place that the transaction pays, in
 * base58. It makes equal items two transactions, and with its 25 characters at most there is room for eight payments to new accounts.
 *
 * @param place 0 to 65,535; of a charge 0
 * @throws RangeError
 */
export function memoOf(uuid: string, place = 0): string {
  if (!Number.isInteger(place) || place < 0 || place > PLACE_MAX)
    throw new RangeError(`a place is from 0 to ${PLACE_MAX}`);
  return base58.encode(concat(groupOf(uuid).subarray(0, 16), Uint8Array.of(place >> 8, place & 0xff)));
}

/** @throws Refused where the message is not what the purpose says, or the policy lacks what it needs */
export function matchSolanaPurpose(facts: SolanaFacts): SolanaMovement {
  const { message, purpose, book } = facts;
  const feePayer = book.hot(0);
  if (message.feePayer !== feePayer)
    throw differs(`its fee is paid by ${message.feePayer}, not by ${feePayer}`);
  const [first, second, ...steps] = message.instructions;
  const priority = checkCompute(first, second, facts.rules);
  checkCount(purpose);
  const { payment, mandateId, ...expected } = expectedOf(facts, purpose);
  const opened = checkSteps(steps, expected, feePayer);
  return {
    ...(payment !== undefined && { payment }),
    ...(mandateId !== undefined && { mandateId }),
    cost: BigInt(signersOf(message).length) * SIGNATURE_LAMPORTS + priority + BigInt(opened) * RENT_LAMPORTS,
  };
}

/** Before an account is computed for each of them, which for thousands takes seconds. */
function checkCount(purpose: SolanaPurpose): void {
  if (purpose.kind === 'charge') return;
  const { length } = purpose.kind === 'sweep' ? purpose.deposits : purpose.places;
  if (length > TRANSFERS_MAX) throw differs(`${length} transfers have no room in it`);
}

/** @returns lamports of priority */
function checkCompute(
  first: SolanaInstruction | undefined,
  second: SolanaInstruction | undefined,
  rules: SolanaRules,
): bigint {
  if (first?.kind !== 'computeLimit' || second?.kind !== 'computePrice')
    throw differs('it does not begin with the limit and the price of its compute units');
  if (first.units > rules.computeUnits)
    throw new Refused('fee', `compute_units is above ${rules.computeUnits}, as the policy has it.`);
  const priority = (BigInt(first.units) * second.microLamports + MICRO - 1n) / MICRO;
  if (priority > rules.priorityFee)
    throw new Refused('fee', `priority_fee is above ${rules.priorityFee}, as the policy has it.`);
  return priority;
}

function expectedOf(
  facts: SolanaFacts,
  purpose: SolanaPurpose,
): Expected & Pick<SolanaMovement, 'payment' | 'mandateId'> {
  switch (purpose.kind) {
    case 'payout':
    case 'refund':
      return expectPayment(facts, purpose);
    case 'sweep':
      return expectSweep(facts, purpose);
    case 'charge':
      return expectCharge(facts, purpose);
  }
}

function mintOf({ rules }: SolanaFacts, asset: SignerAsset): string {
  const mint = rules.tokens.get(asset);
  if (mint === undefined) throw new Refused('policy', `the policy names no mint for ${asset}.`);
  return mint;
}

function expectPayment(facts: SolanaFacts, purpose: Payment): Expected & Pick<SolanaMovement, 'payment'> {
  const { account, book, rules } = facts;
  if (account === 0) throw differs('the fee payer pays nobody');
  const mint = mintOf(facts, purpose.asset);
  const authority = book.hot(account);
  const own = [book.hot(0), book.delegate(), authority];
  const lost = [...rules.tokens.values(), ...own];
  const items = paidItems(purpose, {
    read: (text) => (readSolanaAddress(text) === undefined ? undefined : text),
    isLost: (to) => lost.includes(to) || isLostOnSolana(to, rules.allowProgramOwned),
  });
  const source = tokenAccountOf(authority, mint);
  return {
    payment: { purpose, items },
    transfers: items.map(({ place, to, amount, memo }) => ({
      what: `place ${place}`,
      source,
      mint,
      destination: tokenAccountOf(to, mint),
      authority,
      amount: BigInt(amount),
      memo,
    })),
    openedFor: items.map(({ to }) => ({ owner: to, mint })),
    closed: [],
    memo: memoOf(purpose.id, items[0]?.place),
  };
}

function expectSweep(facts: SolanaFacts, purpose: Extract<SolanaPurpose, { kind: 'sweep' }>): Expected {
  const { book } = facts;
  if (facts.account !== 0) throw differs('it is for the fee payer to send, account 0');
  if (purpose.account === 0) throw differs("the installation's account has no deposits");
  const home = book.hot(purpose.account);
  const transfers = purpose.deposits.map(({ index, asset, amount }): Transfer => {
    const mint = mintOf(facts, asset);
    const authority = book.deposit(purpose.account, index);
    return {
      what: `the sweep of address ${index}`,
      source: tokenAccountOf(authority, mint),
      mint,
      destination: tokenAccountOf(home, mint),
      authority,
      amount: BigInt(amount),
      memo: null,
    };
  });
  return {
    transfers,
    openedFor: transfers.map(({ mint }) => ({ owner: home, mint })),
    closed: transfers.map(({ source, authority }) => ({ account: source, owner: authority })),
    memo: null,
  };
}

/**
 * Out of the payer's account by its delegate, as the payer has signed: the chain knows no merchant and no window, so whoever writes our
 * database could charge every wallet that allows the delegate anything.
 */
function expectCharge(
  facts: SolanaFacts,
  purpose: Extract<SolanaPurpose, { kind: 'charge' }>,
): Expected & Pick<SolanaMovement, 'mandateId'> {
  const { account, book, rules } = facts;
  if (account === 0) throw differs('the fee payer charges nobody');
  if (rules.charges === null) throw new Refused('policy', 'the policy has no charges for spl.');
  if (purpose.amount === '0') throw differs('it charges nothing');
  const { id, asset, payer, amount, mandate } = purpose;
  if (readSolanaAddress(payer) === undefined) throw differs(`the payer ${payer} is no address of Solana`);
  if (mandate === undefined) throw differs('it lacks the mandate that its payer has signed');
  const mint = mintOf(facts, asset);
  const home = book.hot(account);
  const signed: SolanaMandate = {
    genesis: rules.genesis,
    asset,
    mint,
    payer,
    recipient: home,
    terms: mandate.terms,
  };
  if (!isMandateSigned(signed, mandate.signature))
    throw differs(`its mandate is not signed by ${payer} for charges to ${home}`);
  const transfer = {
    what: 'the charge',
    source: tokenAccountOf(payer, mint),
    mint,
    destination: tokenAccountOf(home, mint),
    authority: book.delegate(),
    amount: BigInt(amount),
    memo: null,
  };
  return {
    mandateId: mandateIdOf(signed),
    transfers: [transfer],
    openedFor: [{ owner: home, mint }],
    closed: [],
    memo: memoOf(id),
  };
}

/** @returns how many accounts it may open */
function checkSteps(steps: readonly SolanaInstruction[], expected: Expected, feePayer: string): number {
  const due = [...expected.transfers];
  const openable = new Map(expected.openedFor.map((one) => [tokenAccountOf(one.owner, one.mint), one]));
  const closable = new Map(expected.closed.map((one) => [one.account, one.owner]));
  const memos = new Set(expected.memo === null ? [] : [expected.memo]);
  let opened = 0;
  /** Of the transfer that has to follow. */
  let before: string | null = null;
  for (const step of steps) {
    if (before !== null && step.kind !== 'transfer')
      throw differs(`behind the memo ${JSON.stringify(before)} is no transfer`);
    switch (step.kind) {
      case 'memo':
        if (memos.delete(step.text)) break;
        if (step.text !== due[0]?.memo) throw differs(`it carries the memo ${JSON.stringify(step.text)}`);
        before = step.text;
        break;
      case 'createTokenAccount':
        checkOpened(step, openable.get(step.account), feePayer);
        openable.delete(step.account);
        opened += 1;
        break;
      case 'transfer':
        checkTransfer(step, due.shift(), before);
        before = null;
        break;
      case 'close':
        checkClosed(step, closable.get(step.account), { feePayer, due });
        closable.delete(step.account);
        break;
      case 'approve':
      case 'revoke':
        throw differs(`nothing here is to ${step.kind}`);
      case 'computeLimit':
      case 'computePrice':
        throw differs('it sets its compute units twice');
    }
  }
  const [missing] = due;
  if (missing !== undefined) throw differs(`${missing.what} is not in it`);
  for (const memo of memos) throw differs(`it lacks the memo ${memo}, by which equal payments are two`);
  return opened;
}

function checkOpened(
  { account, owner, mint, payer }: Step<'createTokenAccount'>,
  expected: { owner: string; mint: string } | undefined,
  feePayer: string,
): void {
  if (expected === undefined || owner !== expected.owner || mint !== expected.mint)
    throw differs(`it opens the account ${account} of ${owner}, which nothing in it needs`);
  if (payer !== feePayer) throw differs(`the rent of ${account} is paid by ${payer}`);
}

function checkTransfer(step: Step<'transfer'>, expected: Transfer | undefined, before: string | null): void {
  if (expected === undefined) throw differs(`it moves ${step.amount} units more, to ${step.destination}`);
  const { what } = expected;
  if (step.mint !== expected.mint || step.decimals !== DECIMALS) throw differs(`${what} is in another token`);
  for (const field of ['source', 'destination', 'authority'] as const)
    if (step[field] !== expected[field])
      throw differs(`the ${field} of ${what} is ${step[field]}, not ${expected[field]}`);
  if (step.amount !== expected.amount)
    throw differs(`${what} is of ${step.amount} units, not of ${expected.amount}`);
  if (before !== expected.memo) throw differs(`${what} lacks its memo, which stands right before it`);
}

function checkClosed(
  { account, owner, destination }: Step<'close'>,
  expected: string | undefined,
  { feePayer, due }: { feePayer: string; due: readonly Transfer[] },
): void {
  if (expected === undefined || owner !== expected) throw differs(`it closes ${account}, which is not swept`);
  if (destination !== feePayer) throw differs(`the rent of ${account} goes to ${destination}`);
  if (due.some(({ source }) => source === account)) throw differs(`it closes ${account} before it is swept`);
}
