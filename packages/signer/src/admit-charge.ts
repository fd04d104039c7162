import { isDeepStrictEqual } from 'node:util';
import { areDead } from './admit.ts';
import type { ChargedMandate, ChargeEntry } from './entries.ts';
import { areTogether, faultOfWindow, type WindowUse } from './mandate-windows.ts';
import type { Memory, SignedCharge } from './memory.ts';
import { differs } from './paid-items.ts';
import type { Purpose } from './protocol.ts';
import { Refused } from './refusal.ts';
import type { ChargeRules } from './solana/purposes.ts';

// Charges on spl: no contract keeps payers' windows there, so the journal does.

export type Charge = Extract<Purpose, { kind: 'charge' }>;

/** As of `OnceKnowledge`. */
interface Judging {
  memory: Memory;
  now: number;
  clock: number;
  dead?: ReadonlySet<string>;
  landed?: ReadonlySet<string>;
}

/** As many as a node is asked about at once. */
const ASKED_TOGETHER = 20;

/** The attempts that a charge comes after: its own first, then those in its window. A node is not asked about any number of them. */
export function chargesBefore({ id, payer, mandate }: Charge, memory: Memory): string[] {
  const own = memory.charge(id)?.attempts ?? [];
  const beside = memory
    .chargesOf(payer)
    .flatMap(({ id: other, mandate: by, attempts }) =>
      other !== id && by && mandate && areTogether(by, mandate) ? attempts : [],
    );
  return [...own, ...beside].slice(0, ASKED_TOGETHER);
}

/**
 * Each signature counts, and a second one of a charge may pull a second time.
 *
 * @throws Refused: `cap_exceeded` and `too_late` never pass in this window, `limit` may
 */
export function admitCharge(
  account: number,
  { charge, mandateId }: { charge: Charge; mandateId: string | undefined },
  rules: ChargeRules,
  knowledge: Judging,
): ChargeEntry {
  const { id, asset, payer, amount: text } = charge;
  const amount = BigInt(text);
  const before = knowledge.memory.charge(id);
  const mandate = windowOf(charge, mandateId);
  const isSame = (one: SignedCharge) =>
    one.account === account &&
    one.asset === asset &&
    one.payer === payer &&
    one.amount === text &&
    isDeepStrictEqual(one.mandate, mandate);
  if (before !== undefined && !isSame(before))
    throw new Refused('item_signed', `the charge ${id} was signed with other contents.`);
  checkWindow(charge, { ...mandate, amount }, knowledge);
  const resent = before === undefined || areDead(before.attempts, knowledge.dead) ? 0n : amount;
  checkCharges({ account, amount, resent }, rules, knowledge);
  const pulled = amount + (resent > 0n ? (before?.pulled ?? 0n) : 0n);
  checkUndecided(charge, { ...mandate, amount: pulled }, knowledge);
  return { id, asset, payer, amount: text, resent: String(resent), mandate };
}

function windowOf({ mandate }: Charge, mandateId: string | undefined): ChargedMandate {
  if (mandate === undefined || mandateId === undefined) throw differs('it lacks the mandate of its payer');
  const { subscription, windowStart, windowEnd } = mandate;
  return { id: mandateId, subscription, windowStart, windowEnd };
}

/** @throws Refused */
function checkCharges(
  { account, amount, resent }: { account: number; amount: bigint; resent: bigint },
  rules: ChargeRules,
  { memory, now }: Judging,
): void {
  if (amount > rules.perTransfer)
    throw new Refused('limit', `charges.per_transfer of the policy is ${rules.perTransfer} units.`);
  const days = [
    ['per_day', 'spl charge', rules.perDay],
    ['per_merchant_day', `spl charge ${account}`, rules.perMerchantDay],
  ] as const;
  for (const [name, sum, most] of days) {
    const used = memory.day(sum).total(now);
    if (used + amount > most)
      throw new Refused(
        'limit',
        `charges.${name} of the policy is ${most} units, of which ${used} are used.`,
      );
  }
  if (resent > 0n && memory.day('spl charge resent').total(now) + resent > rules.resendPerDay)
    throw new Refused(
      'limit',
      'an earlier transaction of this charge may still be mined, and charges.resend_per_day of the policy does not allow a ' +
        'second one.',
    );
}

type MandateUse = ChargedMandate & { amount: bigint };

/** By the charges that the signer's own node shows to have taken: what they leave of the window is all that there is. */
function checkWindow(charge: Charge, asked: MandateUse, knowledge: Judging): void {
  const { landed = new Set() } = knowledge;
  const taken = otherCharges(charge, asked, knowledge)
    .filter(({ attempts }) => attempts.some((attempt) => landed.has(attempt)))
    .map(({ amount, use }) => ({ ...use, amount }));
  const fault = faultIn(charge, asked, taken, knowledge);
  if (fault !== undefined) throw new Refused(fault.code, `${fault.message}.`);
}

/** By all that may still take: where that is too much, the charge waits until the node shows what became of the others. */
function checkUndecided(charge: Charge, asked: MandateUse, knowledge: Judging): void {
  const open = otherCharges(charge, asked, knowledge).map(({ pulled, use }) => ({ ...use, amount: pulled }));
  const fault = faultIn(charge, asked, open, knowledge);
  if (fault !== undefined)
    throw new Refused('limit', `${fault.message}: networks.spl.node has not shown yet which of them failed.`);
}

function faultIn({ mandate }: Charge, asked: MandateUse, uses: readonly WindowUse[], { clock }: Judging) {
  if (mandate === undefined) throw differs('it lacks the mandate of its payer');
  return faultOfWindow(mandate.terms, asked, { uses, now: Math.floor(clock / 1000) });
}

/** Other charges by the same mandate that are not shown to be dead. */
function otherCharges({ id, payer }: Charge, { id: mandateId }: ChargedMandate, { memory, dead }: Judging) {
  return memory
    .chargesOf(payer)
    .filter((one) => one.id !== id && !areDead(one.attempts, dead))
    .flatMap(({ mandate: use, attempts, amount, pulled }) =>
      use?.id === mandateId ? [{ use, attempts, amount: BigInt(amount), pulled }] : [],
    );
}
