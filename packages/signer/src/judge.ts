import { createHash } from 'node:crypto';
import { approversOf } from './approvals.ts';
import { fromHex, toHex } from './bytes.ts';
import type { PaymentEntry, SignEntry } from './entries.ts';
import type { Memory, SignedSequence, Version } from './memory.ts';
import { placeAttempt } from './numbering.ts';
import type { PaymentRules, Policy } from './policy.ts';
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
  /** Unix milliseconds, not below the newest entry of the memory. */
  now: number;
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
  if (memory.frozen !== null)
    throw new Refused(
      'frozen',
      `the signer is frozen: ${memory.frozen.reason}. florin signer unfreeze ends it.`,
    );
  const sender = book.hot(request.account);
  const numbers = placeIn(memory, sender, request);
  const tx = read(request);
  if (tx.chainId !== policy.erc20.chainId)
    throw new Refused(
      'policy',
      `it is for chain ${tx.chainId}, the policy for chain ${policy.erc20.chainId}.`,
    );
  const movement = matchPurpose({ request, tx, rules: policy.erc20, book });
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

function read({ unsigned }: SignRequest): UnsignedTransaction {
  try {
    return decodeTransaction(fromHex(unsigned));
  } catch (error) {
    if (error instanceof BadEncoding)
      throw new Refused('purpose', `the transaction cannot be read: ${error.message}.`);
    throw error;
  }
}

/** The attempts that the signer learns with this one. */
function placeIn(
  memory: Memory,
  sender: string,
  { attempt }: SignRequest,
): readonly (readonly [ordinal: bigint, attemptId: string])[] {
  const { history, attemptId, previous } = attempt;
  if (memory.held !== null && memory.held.history !== history)
    throw new Refused(
      'history',
      `the signer signs for another history of the database since generation ${memory.held.generation}.`,
    );
  const ordinal = BigInt(attempt.ordinal);
  const before = attempt.before ?? (previous === null || ordinal === 0n ? [] : [previous]);
  if (BigInt(before.length) > ordinal)
    throw new Refused('history', 'there are more attempts before this one than its number allows.');
  const isWhole = ordinal === 0n || attempt.before !== undefined;
  const placing = placeAttempt(memory.numbering(sender, history), { ordinal, attemptId, before, isWhole });
  switch (placing.is) {
    case 'placed':
      return placing.added;
    case 'taken':
      throw new Refused(
        'history',
        `number ${placing.ordinal} of ${sender} is another attempt's to the signer.`,
      );
    case 'gap': {
      const from = placing.from === null ? null : String(placing.from);
      throw new Refused('unknown_attempts', 'the signer does not know the attempts before this one.', from);
    }
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
  if (known !== undefined && known.body !== body && !isFill)
    throw new Refused('sequence', `sequence ${sequence} of ${sender} was signed with other contents.`);
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
  if (topUp !== undefined) return { topUp: String(checkTopUp(topUp, knowledge)) };
  if (payment === undefined) return {};
  checkMerchant(request.account, payment.purpose.merchant, knowledge);
  return { payment: admitPayment(sender, payment, knowledge) };
}

function checkTopUp(value: bigint, { memory, policy: { erc20 }, now }: Knowledge): bigint {
  if (value > erc20.gasTopUp)
    throw new Refused('limit', `gas_top_up of the policy is ${erc20.gasTopUp} wei, this asks for ${value}.`);
  if (memory.day('top-up').total(now) + value > erc20.gasTopUpsPerDay)
    throw new Refused(
      'limit',
      `gas_top_ups_per_day of the policy, ${erc20.gasTopUpsPerDay} wei, is used up.`,
    );
  return value;
}

/** An account pays for one merchant: the approvals of another one's batch are worth nothing here. */
function checkMerchant(account: number, merchant: string, { memory, policy }: Knowledge): void {
  const owner = policy.accounts.get(account) ?? memory.merchantOf(account);
  if (owner !== undefined && owner !== merchant)
    throw new Refused('purpose', `account ${account} belongs to merchant ${owner}, not to ${merchant}.`);
  const fixed = [...policy.accounts].find(([, one]) => one === merchant)?.[0];
  const own = fixed ?? memory.accountOf(merchant);
  if (own !== undefined && own !== account)
    throw new Refused('purpose', `merchant ${merchant} has account ${own}, not ${account}.`);
}

/** Items, people and limits. */
function admitPayment(
  sender: string,
  { purpose, items, via }: NonNullable<Movement['payment']>,
  knowledge: Knowledge,
): PaymentEntry {
  const { memory, policy, now } = knowledge;
  const { kind, merchant, id, asset } = purpose;
  const rules = kind === 'payout' ? policy.payouts : policy.refunds;
  let [counted, resent, unapproved] = [0n, 0n, 0n];
  for (const { place, amount: text } of items) {
    const amount = BigInt(text);
    if (amount > rules.perTransfer)
      throw new Refused('limit', `place ${place}: per_transfer of the policy is ${rules.perTransfer} units.`);
    const before = memory.item(sender, id, place);
    // The contract pays a place once, whatever is signed for it.
    const isSafe = before !== undefined && via !== null && before.via === via;
    if (before !== undefined && !isSafe) resent += amount;
    counted += excess(amount, isSafe ? before.amount : 0n);
    // An approved item that is signed once more without people may go to somebody else.
    unapproved += excess(amount, isSafe ? before.unapproved : 0n);
  }
  if (resent > 0n && memory.day(`${kind} resent`).total(now) + resent > rules.resendPerDay)
    throw new Refused(
      'item_signed',
      'an earlier transaction that pays one of these items may still be mined, and resend_per_day of the policy does not ' +
        'allow a second one.',
    );
  const approved = checkApprovals(purpose, rules, knowledge);
  checkLimits({ kind, merchant, counted, unapproved: approved ? undefined : unapproved }, rules, knowledge);
  return {
    kind,
    merchant,
    id,
    asset,
    items: items.map(({ place, amount }) => [place, amount]),
    via,
    approved,
    counted: String(counted),
    ...(approved ? {} : { unapproved: String(unapproved) }),
    resent: String(resent),
  };
}

const excess = (amount: bigint, before: bigint) => (amount > before ? amount - before : 0n);

function checkApprovals(
  purpose: NonNullable<Movement['payment']>['purpose'],
  { approveAbove, approvals: needed }: PaymentRules,
  { policy, now }: Knowledge,
): boolean {
  const subject = { ...purpose, network: 'erc20' } as const;
  const people = approversOf(subject, purpose.approvals, {
    approvers: policy.approvers,
    now: Math.floor(now / 1000),
  });
  const total = purpose.items.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  const approved = people.size >= needed;
  if (total > approveAbove && !approved)
    throw new Refused(
      'approvals',
      `${needed} of the policy's approvers have to sign this ${purpose.kind} of ${total} units; ${people.size} ` +
        'valid signatures came with it.',
    );
  return approved;
}

function checkLimits(
  {
    kind,
    merchant,
    counted,
    unapproved,
  }: Pick<PaymentEntry, 'kind' | 'merchant'> & { counted: bigint; unapproved: bigint | undefined },
  rules: PaymentRules,
  { memory, now }: Knowledge,
): void {
  const limits: [name: string, used: bigint, most: bigint, added: bigint][] = [
    ['per_hour', memory.hour(kind).total(now), rules.perHour, counted],
    ['per_day', memory.day(kind).total(now), rules.perDay, counted],
    ['per_merchant_day', memory.day(`${kind} ${merchant}`).total(now), rules.perMerchantDay, counted],
  ];
  if (unapproved !== undefined)
    limits.push([
      'unapproved_per_day',
      memory.unapproved(kind).total(now),
      rules.unapprovedPerDay,
      unapproved,
    ]);
  for (const [name, used, most, added] of limits)
    if (used + added > most)
      throw new Refused(
        'limit',
        `${name} of the policy for ${kind}s is ${most} units, of which ${used} are used.`,
      );
}
