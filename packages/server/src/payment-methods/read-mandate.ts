import type { Network } from '@florin/contract/money';
import { ChainUnavailable } from '../chains/index.ts';
import { recordEvents } from '../events/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { transact } from '../platform/db/index.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { encodeId, type MerchantTime, merchantTime, readSettings } from '../tenancy/index.ts';
import { sumOpenCharges } from '../transfers/index.ts';
import type { MerchantRef, PaymentMethodDeps } from './deps.ts';
import { presentPaymentMethod } from './present.ts';
import {
  listOfWallet,
  lockPaymentMethods,
  mandateOf,
  type PaymentMethodRow,
  type Reading,
  walletOf,
  writeReadings,
} from './queries.ts';
import { PAYMENT_METHOD_SETTINGS } from './settings.ts';
import {
  isAsStored,
  isNews,
  type MandateReading,
  METHOD_MOVES,
  nextReading,
  readingOf,
  statusAfter,
} from './states.ts';
import { watchJob } from './watch-job.ts';

/** News for whoever bills: money or allowance came back, or the status changed; payload `{ paymentMethodId }`. */
export const METHOD_NEWS_JOB = 'payment_methods.news';
/** What cannot be read is tried again after a tenth of the time for which it was not. */
const UNREAD_AGAIN = { share: 10, least: 60, most: 900 };

/** What the chain said of each method, by its id. */
type Readings = ReadonlyMap<string, MandateReading>;

/** Reads methods of one network in one call. Never inside a transaction. */
export async function readChain(
  deps: Pick<PaymentMethodDeps, 'chains'>,
  merchant: MerchantRef,
  methods: readonly PaymentMethodRow[],
  { seconds }: MerchantTime,
): Promise<Readings> {
  const [first] = methods;
  if (first === undefined) return new Map();
  try {
    const mandates = methods.map(mandateOf);
    const { states } = await deps.chains.of(merchant, first.network).mandateStates(mandates);
    return new Map(
      methods.map((method, i) => {
        const [state, mandate] = [states[i], mandates[i]];
        const isShown = state !== undefined && mandate !== undefined;
        return [method.payment_method_id, isShown ? readingOf(state, mandate, seconds) : 'unavailable'];
      }),
    );
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return new Map(methods.map((method) => [method.payment_method_id, 'unavailable']));
  }
}

export interface ReadingContext {
  merchant: MerchantRef;
  /** What each method has to pay next and is not on its way. */
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
  const onTheirWay = await chargesOnTheirWay(deps, merchant, methods);
  // What is on its way is being paid: a wallet that is emptied by it lacks nothing for it.
  return new Map(
    methods.map(({ payment_method_id: id }, i) => [id, less(needs.get(id) ?? 0n, onTheirWay[i] ?? 0n)]),
  );
}

const less = (need: bigint, paid: bigint) => (need > paid ? need - paid : 0n);

async function chargesOnTheirWay(
  { db }: Pick<PaymentMethodDeps, 'db'>,
  { merchantId }: MerchantRef,
  methods: readonly PaymentMethodRow[],
): Promise<bigint[]> {
  if (methods.length === 0) return [];
  return await sumOpenCharges(db, merchantId, methods.map(walletOf));
}

function decide(
  row: PaymentMethodRow,
  reading: MandateReading,
  { needs, everySeconds, now }: ReadingContext,
): Reading {
  const status = statusAfter(row.status, reading, needs.get(row.payment_method_id) ?? 0n);
  const isRead = reading !== 'unavailable';
  const readAt = isRead ? now.seconds : Number(row.read_at);
  const wait = isRead ? everySeconds : unreadWait(now.seconds - readAt);
  return {
    paymentMethodId: row.payment_method_id,
    status,
    balance: isRead ? reading.balance : row.balance,
    allowance: isRead ? reading.allowance : row.allowance,
    readAt,
    nextReadAt: status === 'revoked' ? null : nextReading(now.seconds, wait),
  };
}

function unreadWait(ageSeconds: number): number {
  const { share, least, most } = UNREAD_AGAIN;
  return Math.min(most, Math.max(least, Math.ceil(ageSeconds / share)));
}

/** Writes what readings make of their methods, with the events of those whose status changed and the news for above. */
export async function applyReadings(tx: Tx, readings: Readings, context: ReadingContext): Promise<void> {
  const { merchant, now } = context;
  const { merchantId } = merchant;
  const rows = await lockPaymentMethods(tx, merchantId, [...readings.keys()]);
  // A method that was revoked while the chain was asked stays so, and is read no more.
  const decided = rows
    .filter((row) => row.status !== 'revoked')
    .map((row) => ({
      row,
      next: decide(row, readings.get(row.payment_method_id) ?? 'unavailable', context),
    }));
  for (const { row, next } of decided) METHOD_MOVES.check(row.status, next.status);
  await writeReadings(
    tx,
    merchantId,
    decided.map(({ next }) => next),
  );
  await wakeWatch(tx, decided, now);
  const changed = decided.filter(({ row, next }) => row.status !== next.status);
  await recordEvents(
    tx,
    changed.map(({ row, next }) => changeOf(row, { ...row, status: next.status }, now)),
  );
  const news = decided.filter(({ row, next }) => isNews(row, next)).map(({ row }) => row);
  await enqueue(
    tx,
    news.map((row) => newsJob(row, now.realMs)),
  );
}

/** What is read sooner than it was to be needs the watch by then. */
async function wakeWatch(
  tx: Tx,
  decided: readonly { row: PaymentMethodRow; next: Reading }[],
  now: MerchantTime,
): Promise<void> {
  const sooner = decided.flatMap(({ row, next: { nextReadAt } }) =>
    nextReadAt !== null && row.next_read_at !== null && nextReadAt < Number(row.next_read_at)
      ? [watchJob(row.merchant_id, row.network, now.realMs + (nextReadAt - now.seconds) * 1000)]
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

export const newsJob = (row: PaymentMethodRow, dueAtMs: number) => ({
  merchantId: row.merchant_id,
  kind: METHOD_NEWS_JOB,
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
 * What the chain shows now of a method, before a charge of it; the method's status follows. Never inside a transaction.
 *
 * @param amount what is to be charged, where that is known. A reading that covers it and is the one before again writes
 *   nothing: once the charge is final its wallet is read anyway
 */
export async function readMandate(
  deps: PaymentMethodDeps,
  merchant: MerchantRef,
  method: PaymentMethodRow,
  amount: bigint | undefined,
): Promise<MandateReading> {
  const now = merchantTime(deps, merchant);
  const readings = await readChain(deps, merchant, [method], now);
  const reading = readings.get(method.payment_method_id) ?? 'unavailable';
  const isKnown = amount !== undefined && isAsStored(method, reading, amount);
  if (!isKnown) await apply(deps, merchant, { methods: [method], readings, now });
  return reading;
}

/** Reads every method of a wallet of which it is known that something changed. Never inside a transaction. */
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
