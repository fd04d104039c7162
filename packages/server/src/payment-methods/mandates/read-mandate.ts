import type { Network } from '@florin/contract/money';
import { UnservedMandate } from '../../chains/charges/index.ts';
import { ChainUnavailable } from '../../chains/port/index.ts';
import { recordEvents } from '../../events/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { transact } from '../../platform/db/index.ts';
import { updateRows } from '../../platform/db/statements/index.ts';
import { enqueue } from '../../platform/jobs/index.ts';
import { isLineDue } from '../../platform/observability/index.ts';
import { encodeId, type MerchantTime, merchantTime } from '../../tenancy/index.ts';
import { readSettings } from '../../tenancy/settings/index.ts';
import { sumOpenCharges } from '../../transfers/charges/index.ts';
import { PAYMENT_METHOD } from '../columns.ts';
import type { MerchantRef, PaymentMethodDeps } from '../deps.ts';
import { presentPaymentMethod } from '../present.ts';
import {
  listOfWallet,
  lockPaymentMethods,
  type MethodReading,
  mandateOf,
  type PaymentMethodRow,
  walletOf,
} from '../queries.ts';
import { PAYMENT_METHOD_SETTINGS } from '../settings.ts';
import {
  type ChainReading,
  isAsStored,
  isElsewhere,
  judged,
  type MandateReading,
  METHOD_MOVES,
  needsFollowUp,
  nextReading,
  readingOf,
  statusAfter,
} from '../states.ts';
import { watchJob } from './watch-job.ts';

/**
 * Enqueued for `subscriptions` when money or allowance came back or the status changed. Payload `{ paymentMethodId }`. Its kind is
 * part of stored jobs, so it keeps its name.
 */
export const METHOD_CHANGED_JOB = 'payment_methods.news';
/**
 * An unreadable method is read again after a tenth of the time since its last reading, but 60 s at least and 900 s at
 * most.
 */
const UNREAD_AGAIN = { share: 10, minSeconds: 60, maxSeconds: 900 };

/** The chain's reading of each method, by payment method id. */
type Readings = ReadonlyMap<string, ChainReading>;

/** Reads methods of one network in one call. Do not call it in a transaction. */
export async function readChain(
  deps: Pick<PaymentMethodDeps, 'chains' | 'log'>,
  merchant: MerchantRef,
  methods: readonly PaymentMethodRow[],
  now: MerchantTime,
): Promise<Readings> {
  const [first] = methods;
  if (first === undefined) return new Map();
  const readings = await readMethods(deps, merchant, { methods, network: first.network }, now);
  const isAnyElsewhere = [...readings.values()].includes('elsewhere');
  if (isAnyElsewhere && isLineDue(deps.log, `elsewhere ${first.network}`))
    deps.log.error(
      `${first.network}: payers have given mandates to another collector or delegate than charges there now. Their charges wait: put that one back. After three days their payers are asked for new mandates.`,
    );
  return readings;
}

async function readMethods(
  deps: Pick<PaymentMethodDeps, 'chains'>,
  merchant: MerchantRef,
  { methods, network }: { methods: readonly PaymentMethodRow[]; network: Network },
  { seconds }: MerchantTime,
): Promise<Readings> {
  const all = (reading: ChainReading) =>
    new Map(methods.map((method) => [method.payment_method_id, reading]));
  try {
    const mandates = methods.map(mandateOf);
    const chain = deps.chains.of(merchant, network);
    const { states } = await chain.mandateStates(mandates);
    // Sandboxes may be older than the collector of their simulated chain.
    const keepsMandates = chain.capabilities.windowCap && merchant.mode === 'live';
    return new Map(
      methods.map((method, i): [string, ChainReading] => {
        const [state, mandate] = [states[i], mandates[i]];
        if (state === undefined || mandate === undefined) return [method.payment_method_id, 'unavailable'];
        const awaited = method.activated_at === null ? method : undefined;
        if (isElsewhere(state, { awaited }, { keepsMandates }))
          return [method.payment_method_id, 'elsewhere'];
        const reading = readingOf(state, { endsAt: mandate.endsAt, awaited }, seconds);
        return [method.payment_method_id, reading];
      }),
    );
  } catch (error) {
    if (error instanceof UnservedMandate) return all('elsewhere');
    if (!(error instanceof ChainUnavailable)) throw error;
    return all('unavailable');
  }
}

export interface ReadingContext {
  merchant: MerchantRef;
  /** The next amount that each method has to pay, less its wallet's pending charges. */
  needs: ReadonlyMap<string, bigint>;
  everySeconds: number;
  now: MerchantTime;
}

export async function contextOf(
  deps: PaymentMethodDeps,
  merchant: MerchantRef,
  methods: readonly PaymentMethodRow[],
  now: MerchantTime,
): Promise<ReadingContext> {
  const [needs, { readEverySeconds }] = await Promise.all([
    openNeeds(deps, merchant, methods),
    readSettings(deps.db, merchant, PAYMENT_METHOD_SETTINGS),
  ]);
  return { merchant, needs, everySeconds: readEverySeconds, now };
}

async function openNeeds(
  deps: PaymentMethodDeps,
  merchant: MerchantRef,
  methods: readonly PaymentMethodRow[],
): Promise<ReadingContext['needs']> {
  const needs = await deps.chargeNeeds(deps.db, merchant, methods);
  const pendingCharges = await sumPendingCharges(deps, merchant, methods);
  // A pending charge is already being paid: a wallet that it empties does not lack money for it.
  return new Map(
    methods.map(({ payment_method_id: id }, i) => [id, less(needs.get(id) ?? 0n, pendingCharges[i] ?? 0n)]),
  );
}

const less = (need: bigint, paid: bigint) => (need > paid ? need - paid : 0n);

async function sumPendingCharges(
  { db }: Pick<PaymentMethodDeps, 'db'>,
  { merchantId }: MerchantRef,
  methods: readonly PaymentMethodRow[],
): Promise<bigint[]> {
  if (methods.length === 0) return [];
  return await sumOpenCharges(db, merchantId, methods.map(walletOf));
}

function decide(
  row: PaymentMethodRow,
  seen: ChainReading,
  { needs, everySeconds, now }: ReadingContext,
): MethodReading {
  const reading = judged(row, seen, now.seconds);
  const status = statusAfter(row.status, reading, needs.get(row.payment_method_id) ?? 0n);
  const isRead = reading !== 'unavailable';
  const readAt = isRead ? now.seconds : Number(row.read_at);
  const wait = isRead ? everySeconds : unreadWait(now.seconds - readAt);
  return {
    merchant_id: row.merchant_id,
    payment_method_id: row.payment_method_id,
    status,
    balance: isRead ? reading.balance : row.balance,
    allowance: isRead ? reading.allowance : row.allowance,
    read_at: readAt,
    next_read_at: status === 'revoked' ? null : nextReading(now.seconds, wait),
    elsewhere_since: elsewhereSince(row, seen, now),
  };
}

/** What cannot be read says nothing of it; a time that is still to come was written by a clock that ran ahead. */
function elsewhereSince({ elsewhere_since: since }: PaymentMethodRow, seen: ChainReading, now: MerchantTime) {
  if (seen === 'elsewhere') return Math.min(Number(since ?? now.seconds), now.seconds);
  return seen === 'unavailable' ? since : null;
}

function unreadWait(ageSeconds: number): number {
  const { share, minSeconds, maxSeconds } = UNREAD_AGAIN;
  return Math.min(maxSeconds, Math.max(minSeconds, Math.ceil(ageSeconds / share)));
}

/**
 * Writes the methods' new states, an event for each changed status, and a `METHOD_CHANGED_JOB` where billing is affected.
 */
export async function applyReadings(tx: Tx, readings: Readings, context: ReadingContext): Promise<void> {
  const { merchant, now } = context;
  const { merchantId } = merchant;
  const rows = await lockPaymentMethods(tx, merchantId, [...readings.keys()]);
  // A method that was revoked during the reading stays revoked and is not read again.
  const decided = rows
    .filter((row) => row.status !== 'revoked')
    .map((row) => ({
      row,
      next: decide(row, readings.get(row.payment_method_id) ?? 'unavailable', context),
    }));
  for (const { row, next } of decided) METHOD_MOVES.check(row.status, next.status);
  await updateRows(
    tx,
    PAYMENT_METHOD,
    decided.map(({ next }) => next),
    ['payment_method_id'],
  );
  await wakeWatch(tx, decided, now);
  const changed = decided.filter(({ row, next }) => row.status !== next.status);
  await recordEvents(
    tx,
    changed.map(({ row, next }) => changeOf(row, { ...row, status: next.status }, now)),
  );
  const followed = decided.filter(({ row, next }) => needsFollowUp(row, next)).map(({ row }) => row);
  await enqueue(
    tx,
    followed.map((row) => methodChangedJob(row, now.realMs)),
  );
}

/** Makes the watch job due earlier for methods whose next reading has moved forward. */
async function wakeWatch(
  tx: Tx,
  decided: readonly { row: PaymentMethodRow; next: MethodReading }[],
  now: MerchantTime,
): Promise<void> {
  const sooner = decided.flatMap(({ row, next }) =>
    next.next_read_at !== null && row.next_read_at !== null && next.next_read_at < row.next_read_at
      ? [
          watchJob(
            row.merchant_id,
            row.network,
            now.realMs + (Number(next.next_read_at) - now.seconds) * 1000,
          ),
        ]
      : [],
  );
  await enqueue(tx, sooner);
}

export function changeOf(before: PaymentMethodRow, after: PaymentMethodRow, now: MerchantTime) {
  return {
    merchantId: after.merchant_id,
    storeId: after.store_id,
    livemode: now.livemode,
    type: 'payment_method.updated',
    resource: encodeId('paymentMethod', after.payment_method_id),
    before: presentPaymentMethod(before),
    after: presentPaymentMethod(after),
    nowSeconds: now.seconds,
    nowMs: now.realMs,
  } as const;
}

export const methodChangedJob = (row: PaymentMethodRow, dueAtMs: number) => ({
  merchantId: row.merchant_id,
  kind: METHOD_CHANGED_JOB,
  uniqueKey: row.payment_method_id,
  dueAtMs,
  payload: { paymentMethodId: row.payment_method_id },
});

async function apply(
  deps: PaymentMethodDeps,
  merchant: MerchantRef,
  { methods, readings, now }: { methods: readonly PaymentMethodRow[]; readings: Readings; now: MerchantTime },
): Promise<void> {
  const context = await contextOf(deps, merchant, methods, now);
  await transact(deps.db, (tx) => applyReadings(tx, readings, context));
}

/**
 * Reads a method from the chain before a charge and updates its status. Do not call it in a transaction.
 *
 * @param amount the amount to charge, if it is known. A reading that covers it and equals the stored one is not
 *   written: the wallet is read again anyway once the charge is final
 */
export async function readMandate(
  deps: PaymentMethodDeps,
  merchant: MerchantRef,
  method: PaymentMethodRow,
  amount: bigint | undefined,
): Promise<MandateReading> {
  const now = merchantTime(deps, merchant);
  const readings = await readChain(deps, merchant, [method], now);
  const reading = judged(method, readings.get(method.payment_method_id) ?? 'unavailable', now.seconds);
  const isKnown = amount !== undefined && isAsStored(method, reading, amount);
  if (!isKnown) await apply(deps, merchant, { methods: [method], readings, now });
  return reading;
}

/** Reads every method of a wallet after a known change of it. Do not call it in a transaction. */
export async function readWallet(
  deps: PaymentMethodDeps,
  merchant: MerchantRef,
  wallet: { network: Network; wallet_address: string; currency: PaymentMethodRow['currency'] },
): Promise<void> {
  const methods = await listOfWallet(deps.db, merchant.merchantId, wallet);
  if (methods.length === 0) return;
  const now = merchantTime(deps, merchant);
  await apply(deps, merchant, { methods, readings: await readChain(deps, merchant, methods, now), now });
}
