import { sql } from 'kysely';
import { type DepositKeyRef, type Precheck, UnbuildableTransfer } from '../../chains/port/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { isTankHeld } from '../attempts/blocked-attempts.ts';
import { isLate, LENT_SECONDS, takeBackStep } from '../attempts/lending.ts';
import { listLoans, readTankUse, readUnderWay, reserveMovement } from '../attempts/movements.ts';
import type { WaitReason } from '../attempts/readiness.ts';
import { assertSameHistory } from '../history/history.ts';
import { logOncePerMinute, logWaiting } from '../log-waiting.ts';
import { TANK_KEY_REF, type TransferRow } from '../queries.ts';
import { callForEach, type SendContext } from '../send-context.ts';
import { dearestOfTank, tankOf } from './prepare-wallet.ts';
import { assertPresentWallet } from './present-wallet.ts';
import { lockWallet, type Wallet } from './wallet-queries.ts';

// What the gas tank has lent a deposit address is taken back by the group whose transfers are over, by what the chain shows: a process that
// died, a copy of the database that lacks the loan, and two groups of one address come to the same. The group's job is not over before.

type Of = Pick<TransferRow, 'network' | 'currency' | 'group_id' | 'created_at'>;

/** A deposit address, and a transfer that left from it. */
interface Borrower {
  keyRef: DepositKeyRef;
  of: Of;
}

/**
 * Takes back what the gas tank has lent addresses of a group.
 *
 * @returns whether the group has to look again
 * @throws HistoryChanged, ChainUnavailable
 */
export async function takeBack(context: SendContext, borrowers: readonly Borrower[]): Promise<boolean> {
  const { deps, chain, merchant } = context;
  const { merchantId } = merchant;
  const tank: Wallet = {
    network: chain.network,
    sender: await chain.sender(TANK_KEY_REF),
    chainNext: null,
  };
  const open = await listLoans(deps.db, merchantId, tank);
  const idle = borrowers.filter(({ keyRef }) => !open.has(keyRef));
  const [first] = idle;
  if (first === undefined) return true;
  const shown = await precheckOf(context, first);
  if (shown === null) return false;
  const undecided = await listLoans(deps.db, merchantId, { ...tank, asOf: shown.asOf });
  const known = idle.filter(({ keyRef }) => !undecided.has(keyRef));
  let isOwing = known.length < borrowers.length;
  // Nobody has anything of it, and one reading was enough for all addresses.
  if (shown.tank.lent === undefined) return isOwing;
  const read = await callForEach(context, known, async (one) => ({
    ...one,
    precheck: await precheckOf(context, one),
  }));
  for (const { precheck, ...one } of read)
    if (precheck !== null) isOwing = (await takeBackFrom(context, one, precheck)) || isOwing;
  return isOwing;
}

/** Null: nothing can be taken back, as the network is set up now. */
async function precheckOf(context: SendContext, { keyRef, of }: Borrower): Promise<Precheck | null> {
  try {
    return await context.chain.precheck({
      kind: 'transfers',
      keyRef,
      asset: of.currency,
      transactions: [],
    });
  } catch (error) {
    if (!(error instanceof UnbuildableTransfer)) throw error;
    logLeft(context, { key_ref: keyRef, err: error });
    return null;
  }
}

/** The group ends: it would be asked for ever. Each look of the installation at its loans wakes it once more. */
const logLeft = (context: SendContext, fields: object): void =>
  logOncePerMinute(
    context,
    'what the gas tank may have lent is left where it is: nobody can tell, or take it',
    {
      event: 'gas_tank_lent',
      ...fields,
    },
  );

async function takeBackFrom(
  context: SendContext,
  { keyRef, of }: Borrower,
  precheck: Precheck,
): Promise<boolean> {
  const { chain, run, merchant, nowSeconds } = context;
  const { merchantId } = merchant;
  const { network, currency, group_id: groupId } = of;
  const tank = tankOf(network, precheck);
  const sender = await chain.sender(keyRef);
  const wallet: Wallet = { network, sender, chainNext: null, asOf: precheck.asOf };
  const waitsFor = await run.step(async (tx): Promise<WaitReason | 'give_up' | undefined> => {
    await assertSameHistory(tx);
    await assertPresentWallet(tx, context, true);
    // As its sweeps do: none is reserved between this question and the attempt.
    await lockWallet(tx, wallet);
    await lockWallet(tx, tank);
    const step = takeBackStep({
      precheck,
      underWay: await readUnderWay(tx, { merchantId, currency, hot: wallet, tank, gasTo: keyRef }),
      isUsed: await isUsed(tx, { merchantId, network, keyRef, nowSeconds }),
      tankSpending: (await readTankUse(tx, tank, dearestOfTank(precheck))).tankSpending,
      isLate: isLate(of, nowSeconds),
    });
    if (step.do === 'give_up') return step.do;
    if (step.do === 'done') return undefined;
    if (step.do === 'wait') return step.reason;
    if (await isTankHeld(tx, { merchantId, network, nowSeconds })) return 'top_up_refused';
    const { movement } = step;
    const order = { merchantId, groupId, currency, keyRef: TANK_KEY_REF, wallet: tank, movement };
    await reserveMovement(tx, order, nowSeconds);
    return 'wait_lent';
  });
  if (waitsFor === undefined) return false;
  if (waitsFor === 'give_up') {
    logLeft(context, { address: sender });
    return false;
  }
  logWaiting(context, waitsFor);
  if (isLate(of, nowSeconds))
    logOncePerMinute(context, 'what the gas tank has lent has not come back for a day', { address: sender });
  return true;
}

interface OfAddress {
  merchantId: string;
  network: Wallet['network'];
  keyRef: DepositKeyRef;
  nowSeconds: number;
}

/** Whether a transfer of the address, of whatever group, is being sent or will be: its group takes back. */
async function isUsed(tx: Tx, { merchantId, network, keyRef, nowSeconds }: OfAddress): Promise<boolean> {
  const { rows } = await sql`
    select from transfer
    where merchant_id = ${merchantId} and network = ${network} and key_ref <> 'hot' and key_ref = ${keyRef}
      and (status = 'sending' or status = 'queued' and created_at >= ${nowSeconds - LENT_SECONDS}) limit 1`.execute(
    tx,
  );
  return rows.length > 0;
}
