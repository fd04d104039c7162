import { createHash } from 'node:crypto';
import { admitPayment, checkFrozen, checkMerchant, checkTopUp, placeIn } from './admit.ts';
import { fromHex, toHex } from './bytes.ts';
import type { SignEntry } from './entries.ts';
import type { Memory, SignedSequence, Version } from './memory.ts';
import type { Policy } from './policy.ts';
import type { Purpose, SignRequest } from './protocol.ts';
import { type AddressBook, type Delegation, type Movement, matchPurpose } from './purposes.ts';
import { Refused } from './refusal.ts';
import { BadEncoding } from './rlp.ts';
import { decodeTransaction, type UnsignedTransaction } from './transaction.ts';

/** What a decision is made from. */
export interface Knowledge {
  memory: Memory;
  policy: Policy;
  book: AddressBook;
  /** Unix milliseconds, not below the newest entry of the memory: sums of hours and days are of it. */
  now: number;
  /** Unix milliseconds of this machine's clock: what ends at a time is compared with it. */
  clock: number;
  /** As `findUnpaid` gives it. */
  unpaid?: ReadonlySet<string>;
}

/** The transaction to sign, and what has to be remembered before the signature leaves; null: it is known. */
export interface Verdict {
  tx: UnsignedTransaction;
  delegations: readonly Delegation[];
  entry: SignEntry | null;
}

/**
 * Decides whether a request is signed. It believes nothing but its policy, its memory and the approvers' signatures.
 *
 * @throws Refused
 */
export function judge(request: SignRequest, knowledge: Knowledge): Verdict {
  const { memory, policy, book } = knowledge;
  checkFrozen(memory);
  const sender = senderOf(request, memory, book);
  const numbers = placeIn(sender, request, knowledge);
  const tx = read(request);
  if (tx.chainId !== policy.erc20.chainId)
    throw new Refused(
      'policy',
      `it is for chain ${tx.chainId}, the policy for chain ${policy.erc20.chainId}.`,
    );
  const epochOf = (account: number) => memory.epochOf(account);
  const delegateOf = (account: number, index: number) => memory.delegateOf(account, index);
  const movement = matchPurpose({ request, tx, rules: policy.erc20, book, epochOf, delegateOf });
  const body = bodyOf(tx, request.purpose);
  const { attemptId: attempt } = request.attempt;
  const known = versionsOf(memory, { sender, attempt, tx, body, isFill: request.purpose.kind === 'fill' });
  const { delegations = [] } = movement;
  const earlier = known && findEarlier(known, tx);
  if (earlier !== undefined) {
    if (memory.placeOf(attempt) === undefined)
      throw new Refused(
        'fee',
        'to fill a sequence that was signed both fees have to be at least 10 % higher.',
      );
    return { ...givenAgain(tx, earlier), entry: null };
  }
  const fee = checkFees(tx, known, knowledge);
  return {
    tx,
    delegations,
    entry: {
      type: 'sign',
      at: knowledge.now,
      policy: policy.digest,
      history: request.attempt.history,
      account: request.account,
      sender,
      sequence: String(tx.nonce),
      attempt: request.attempt.attemptId,
      numbers: numbers.map(([ordinal, id]) => [String(ordinal), id]),
      body,
      maxFee: String(tx.maxFeePerGas),
      priority: String(tx.maxPriorityFeePerGas),
      gas: String(tx.gas),
      fee: String(fee),
      kind: request.purpose.kind,
      ...(delegations.length > 0 && {
        delegations: delegations.map((one) => ({ ...one, nonce: String(one.nonce) })),
      }),
      ...(known === undefined && firstTime(request, sender, movement, knowledge)),
    },
  };
}

/**
 * The wallet that sends. One that another has taken the place of brings its coins there, and closes holes in its sequences.
 *
 * @throws Refused
 */
function senderOf({ account, epoch = 0, purpose }: SignRequest, memory: Memory, book: AddressBook): string {
  const present = memory.epochOf(account);
  if (epoch > present)
    throw new Refused(
      'epoch',
      `epoch ${epoch} of account ${account} has not begun: this is epoch ${present}. florin signer rotate begins it.`,
    );
  if (epoch < present && purpose.kind !== 'move' && purpose.kind !== 'fill')
    throw new Refused(
      'epoch',
      `the hot wallet of epoch ${epoch} of account ${account} was rotated: it only hands its coins over.${farBehind(present - epoch)}`,
    );
  return book.hot(account, epoch);
}

/** A rotation ends before the next one begins: a database that is two epochs behind was restored from a backup. */
const farBehind = (epochs: number): string =>
  epochs < 2
    ? ''
    : ` The caller is ${epochs} epochs behind: its database is an old copy (florin doctor live).`;

function read({ unsigned }: SignRequest): UnsignedTransaction {
  try {
    return decodeTransaction(fromHex(unsigned));
  } catch (error) {
    if (error instanceof BadEncoding)
      throw new Refused('purpose', `the transaction cannot be read: ${error.message}.`);
    throw error;
  }
}

/** All that two versions of one transaction have in common: everything but fees, gas and authorizations. */
function bodyOf(tx: UnsignedTransaction, purpose: Purpose): string {
  const parts = [String(tx.chainId), tx.to, String(tx.value), toHex(tx.data), identityOf(purpose)];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

function identityOf(purpose: Purpose): unknown[] {
  switch (purpose.kind) {
    case 'payout':
    case 'refund':
      return [purpose.kind, purpose.merchant, purpose.id, purpose.asset, purpose.places];
    case 'sweep':
      return [purpose.kind, purpose.account];
    case 'charge':
      return [purpose.kind, purpose.id];
    case 'account':
    case 'activate':
    case 'gas':
    case 'energy':
    case 'move':
    case 'approve':
    case 'deploy':
    case 'fill':
      return [purpose.kind];
  }
}

function versionsOf(
  memory: Memory,
  {
    sender,
    attempt,
    tx,
    body,
    isFill,
  }: { sender: string; attempt: string; tx: UnsignedTransaction; body: string; isFill: boolean },
): SignedSequence | undefined {
  const sequence = String(tx.nonce);
  const known = memory.sequence(sender, sequence);
  const place = memory.placeOf(attempt);
  // An empty payment to the sender pays nobody, so it may take the place of whatever was signed.
  if (known !== undefined && known.attempt !== attempt && !isFill)
    throw new Refused('sequence', `sequence ${sequence} of ${sender} was signed for another attempt.`);
  if (place !== undefined && place !== `${sender} ${sequence}`)
    throw new Refused('sequence', `this attempt was signed for another sequence than ${sequence}.`);
  // A server that lost the answer and builds from another configuration is no copy: this attempt alone is refused.
  if (known !== undefined && known.body !== body && !isFill)
    throw new Refused('purpose', `sequence ${sequence} of ${sender} was signed with other contents.`);
  return known;
}

/**
 * The version to give again: the one with these fees, else the newest unless both fees are raised enough for another one.
 * A server that lost an answer asks once more at the price of a later block.
 */
function findEarlier({ versions }: SignedSequence, tx: UnsignedTransaction) {
  const newest = versions.at(-1);
  const isRaised =
    newest === undefined ||
    (isRaise(newest.maxFee, tx.maxFeePerGas) && isRaise(newest.priority, tx.maxPriorityFeePerGas));
  const same = versions.find(
    ({ maxFee, priority, gas }) =>
      maxFee === tx.maxFeePerGas && priority === tx.maxPriorityFeePerGas && gas === tx.gas,
  );
  return same ?? (isRaised ? undefined : newest);
}

/** The transaction as it was signed: deposit addresses may delegate by now that did not then. */
function givenAgain(
  tx: UnsignedTransaction,
  { maxFee, priority, gas, delegations }: Version,
): Pick<Verdict, 'tx' | 'delegations'> {
  const type = delegations.length > 0 ? 4 : 2;
  return {
    tx: { ...tx, type, maxFeePerGas: maxFee, maxPriorityFeePerGas: priority, gas },
    delegations,
  };
}

/** @returns wei by which this version raises what its sequence may cost */
function checkFees(
  tx: UnsignedTransaction,
  known: SignedSequence | undefined,
  { memory, policy: { erc20: rules }, now }: Knowledge,
): bigint {
  const tooMuch = (what: string, most: bigint) =>
    new Refused('fee', `${what} is above ${most}, as the policy has it.`);
  if (tx.maxFeePerGas > rules.maxFeePerGas) throw tooMuch('max_fee_per_gas', rules.maxFeePerGas);
  if (tx.maxPriorityFeePerGas > rules.maxPriorityFeePerGas)
    throw tooMuch('max_priority_fee_per_gas', rules.maxPriorityFeePerGas);
  if (tx.maxPriorityFeePerGas > tx.maxFeePerGas)
    throw new Refused('fee', 'the priority fee is above the whole fee.');
  if (tx.gas > rules.gasPerTransaction) throw tooMuch('gas_per_transaction', rules.gasPerTransaction);
  const cost = tx.gas * tx.maxFeePerGas;
  const raise = known === undefined || cost > known.fee ? cost - (known?.fee ?? 0n) : 0n;
  if (memory.day('fee').total(now) + raise > rules.nativeFeePerDay)
    throw new Refused('fee', `native_fee_per_day of the policy, ${rules.nativeFeePerDay} wei, is used up.`);
  return raise;
}

const isRaise = (from: bigint, to: bigint) => to > from && to * 10n >= from * 11n;

/** What is checked and remembered with the first version of a transaction. */
function firstTime(
  request: SignRequest,
  sender: string,
  { payment, topUp }: Movement,
  knowledge: Knowledge,
): Pick<SignEntry, 'payment' | 'topUp'> {
  const { account } = request;
  if (topUp !== undefined) {
    const rules = { network: 'erc20', ...knowledge.policy.erc20 } as const;
    return { topUp: String(checkTopUp(topUp, rules, knowledge)) };
  }
  if (payment === undefined) return {};
  checkMerchant({ network: 'erc20', account }, payment.purpose.merchant, knowledge);
  return { payment: admitPayment({ network: 'erc20', account, sender }, payment, knowledge) };
}
