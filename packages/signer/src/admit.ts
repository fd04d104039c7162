import { approversOf } from './approvals.ts';
import type { PaymentEntry } from './entries.ts';
import { LEARNED, type Memory, type SignedItem, topUpsOf } from './memory.ts';
import { placeAttempt } from './numbering.ts';
import type { PaymentRules, Policy } from './policy.ts';
import type { PurposeItem, SignedApproval, SignerNetwork, SignRequest } from './protocol.ts';
import { Refused } from './refusal.ts';
import type { Payment, Subject } from './statement.ts';
import { unpaidKey } from './unpaid-items.ts';

// What is asked of a request on every network: freeze, history, merchant, approvals and limits.

/** What a decision is made from. */
interface Judging {
  memory: Memory;
  policy: Policy;
  /** Unix milliseconds, not below the newest entry of the memory: sums of hours and days are of it. */
  now: number;
  /** Unix milliseconds of this machine's clock: what ends at a time is compared with it. */
  clock: number;
  /** Attempts whose transactions the signer's own node shows to be dead. */
  dead?: ReadonlySet<string>;
  /** As `findUnpaid` gives it. */
  unpaid?: ReadonlySet<string>;
}

export interface TopUpRules {
  network: SignerNetwork;
  gasTopUp: bigint;
  gasTopUpsPerDay: bigint;
}

/** The wallet that pays. */
interface Payer {
  network: SignerNetwork;
  account: number;
  sender: string;
}

const UNITS = { erc20: 'wei', trc20: 'sun', spl: 'lamports' } as const;

/** @throws Refused */
export function checkFrozen({ frozen }: Memory): void {
  if (frozen !== null)
    throw new Refused('frozen', `the signer is frozen: ${frozen.reason}. florin signer unfreeze ends it.`);
}

/** The attempts that the signer learns with this one. @throws Refused */
export function placeIn(
  sender: string,
  { attempt }: SignRequest,
  knowledge: Judging,
): readonly (readonly [ordinal: bigint, attemptId: string])[] {
  const { memory } = knowledge;
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
      checkLearned(placing.added.length, knowledge);
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

/** Ids of earlier attempts cost whoever names them nothing, and stay in journal and memory for ever. */
function checkLearned(added: number, { memory, policy, now }: Judging): void {
  // One of them is the attempt's own.
  const others = BigInt(Math.max(0, added - 1));
  if (others > 0n && memory.day(LEARNED).total(now) + others > policy.learnedPerDay)
    throw new Refused(
      'limit',
      `learned_per_day of the policy, ${policy.learnedPerDay} ids of earlier attempts, is used up.`,
    );
}

/** Native coin for a wallet of ours. @throws Refused */
export function checkTopUp(
  value: bigint,
  { network, gasTopUp, gasTopUpsPerDay }: TopUpRules,
  { memory, now }: Judging,
): bigint {
  const unit = UNITS[network];
  if (value > gasTopUp)
    throw new Refused('limit', `gas_top_up of the policy is ${gasTopUp} ${unit}, this asks for ${value}.`);
  if (value > topUpsLeft({ network, gasTopUpsPerDay }, { memory, now }))
    throw new Refused('limit', `gas_top_ups_per_day of the policy, ${gasTopUpsPerDay} ${unit}, is used up.`);
  return value;
}

/** What of a day's top-ups is not used up. */
export function topUpsLeft(
  { network, gasTopUpsPerDay }: Pick<TopUpRules, 'network' | 'gasTopUpsPerDay'>,
  { memory, now }: Pick<Judging, 'memory' | 'now'>,
): bigint {
  const left = gasTopUpsPerDay - memory.day(topUpsOf(network)).total(now);
  return left > 0n ? left : 0n;
}

/**
 * An account pays for one merchant: the approvals of another one's batch are worth nothing here. Each network has accounts of its own.
 *
 * @throws Refused
 */
export function checkMerchant(
  { network, account }: { network: SignerNetwork; account: number },
  merchant: string,
  { memory, policy }: Judging,
): void {
  const accounts = network === 'erc20' ? policy.accounts : policy[network]?.accounts;
  const owner = accounts?.get(account) ?? memory.merchantOf(network, account);
  if (owner !== undefined && owner !== merchant)
    throw new Refused('purpose', `account ${account} belongs to merchant ${owner}, not to ${merchant}.`);
  const fixed = [...(accounts ?? [])].find(([, one]) => one === merchant)?.[0];
  const own = fixed ?? memory.accountOf(network, merchant);
  if (own !== undefined && own !== account)
    throw new Refused('purpose', `merchant ${merchant} has account ${own}, not ${account}.`);
  checkIsNamed({ network, account }, policy);
}

/** Where the policy names accounts of a network, no other one pays or charges there. @throws Refused */
export function checkIsNamed(
  { network, account }: { network: SignerNetwork; account: number },
  policy: Judging['policy'],
): void {
  const accounts = network === 'erc20' ? policy.accounts : policy[network]?.accounts;
  if (accounts?.has(account) === false)
    throw new Refused('policy', `accounts of the policy for ${network} do not name account ${account}.`);
}

/** Items, people and limits. @throws Refused */
export function admitPayment(
  { network, account, sender }: Payer,
  { purpose, items, via }: { purpose: Payment; items: readonly PurposeItem[]; via: string | null },
  knowledge: Judging,
): PaymentEntry {
  const { memory, policy, now, clock } = knowledge;
  const { kind, merchant, id, asset } = purpose;
  const rules = kind === 'payout' ? policy.payouts : policy.refunds;
  let isOnlyRotated = true;
  let [counted, resent, unapproved, again] = [0n, 0n, 0n, 0n];
  for (const { place, amount: text } of items) {
    const amount = BigInt(text);
    if (amount > rules.perTransfer)
      throw new Refused('limit', `place ${place}: per_transfer of the policy is ${rules.perTransfer} units.`);
    const before = memory.item({ network, account }, id, place);
    // The contract pays a place once for each sender, whatever is signed for it.
    const isSafe = before?.sender === sender && via !== null && before.via === via;
    const isDead = before !== undefined && neverPays(before, place, knowledge);
    if (before !== undefined && !isSafe && !isDead) {
      if (before.sender === sender) isOnlyRotated = false;
      // What has expired comes into no later block. It may be in an earlier one, and people have approved one payment.
      if (isOver(before, clock)) again += amount;
      else resent += amount;
    }
    counted += excess(amount, isSafe ? before.amount : 0n);
    // An approved item that is signed once more without people may go to somebody else.
    unapproved += excess(amount, isSafe ? before.unapproved : 0n);
  }
  if (resent > 0n && memory.day(`${kind} resent`).total(now) + resent > rules.resendPerDay)
    throw resendRefused(network, isOnlyRotated);
  const approved = checkApprovals({ ...purpose, network }, purpose.approvals, rules, knowledge);
  const beyond = approved ? again : unapproved;
  checkLimits(
    { kind, merchant, counted, unapproved: approved && again === 0n ? null : beyond },
    rules,
    knowledge,
  );
  return {
    kind,
    merchant,
    id,
    asset,
    items: items.map(({ place, amount }) => [place, amount]),
    via,
    approved,
    counted: String(counted),
    ...((!approved || again > 0n) && { unapproved: String(beyond) }),
    resent: String(resent),
  };
}

/** Whether none of its earlier transactions pays it any more. */
const neverPays = ({ attempts }: SignedItem, place: number, { dead, unpaid }: Judging): boolean =>
  areDead(attempts, dead) || attempts.every((attempt) => unpaid?.has(unpaidKey(attempt, place)) === true);

/** Whether its earlier transactions have expired. */
const isOver = ({ deadFrom }: SignedItem, clock: number) => deadFrom !== null && deadFrom <= clock;

/** Whether all of the attempts are dead. */
export const areDead = (attempts: readonly string[], dead: ReadonlySet<string> = new Set()): boolean =>
  attempts.every((attempt) => dead.has(attempt));

const excess = (amount: bigint, before: bigint) => (amount > before ? amount - before : 0n);

/**
 * Transactions of Tron and Solana end unused as a matter of course: an honest server asks again too early, and a person has to wait or
 * raise the limit. On Ethereum whoever asks has lost the order of its sequences, unless the earlier transactions are of a hot wallet that
 * was rotated: what failed there is asked for again by the new one.
 */
const resendRefused = (network: SignerNetwork, isOnlyRotated: boolean) =>
  new Refused(
    network === 'erc20' && !isOnlyRotated ? 'item_signed' : 'limit',
    'an earlier transaction that pays one of these items may still be mined, and resend_per_day of the policy does not allow a ' +
      `second one${network === 'trc20' ? ' before it has expired' : ''}.` +
      (network === 'erc20' && isOnlyRotated
        ? ' The hot wallet was rotated since: networks.erc20.node of the policy lets the signer see that nothing was paid.'
        : ''),
  );

function checkApprovals(
  subject: Subject,
  approvals: readonly SignedApproval[],
  { approveAbove, approvals: needed }: PaymentRules,
  { policy, clock }: Judging,
): boolean {
  const people = approversOf(subject, approvals, {
    approvers: policy.approvers,
    now: Math.floor(clock / 1000),
  });
  const total = subject.items.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  const approved = people.size >= needed;
  if (total > approveAbove && !approved)
    throw new Refused(
      'approvals',
      `${needed} of the policy's approvers have to sign this ${subject.kind} of ${total} units; ${people.size} ` +
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
  }: Pick<PaymentEntry, 'kind' | 'merchant'> & { counted: bigint; unapproved: bigint | null },
  rules: PaymentRules,
  { memory, now }: Judging,
): void {
  const limits: [name: string, used: bigint, most: bigint, added: bigint][] = [
    ['per_hour', memory.hour(kind).total(now), rules.perHour, counted],
    ['per_day', memory.day(kind).total(now), rules.perDay, counted],
    ['per_merchant_day', memory.day(`${kind} ${merchant}`).total(now), rules.perMerchantDay, counted],
  ];
  if (unapproved !== null)
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
