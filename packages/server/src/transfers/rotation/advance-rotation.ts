import type { Asset, Network } from '@florin/contract/money';
import {
  type Chain,
  ChainUnavailable,
  FeeCeilingReached,
  type RotationFacts,
  WEI_PER_UNIT,
} from '../../chains/port/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { crashPoint, enqueue, type Job, type JobOutcome, type JobRun } from '../../platform/jobs/index.ts';
import { dollarsOf } from '../../rates/index.ts';
import { getMerchant, type Merchant } from '../../stores/index.ts';
import { readSettings } from '../../tenancy/settings/index.ts';
import { listHeldKeys } from '../attempts/blocked-attempts.ts';
import { NO_TANK_USE, readTankUse, reserveMovement } from '../attempts/movements.ts';
import { isStopped } from '../blocks/network-stops.ts';
import { assertSameHistory, HistoryChanged } from '../history/history.ts';
import { TRANSFER_SETTINGS } from '../pauses.ts';
import { TANK_KEY_REF } from '../queries.ts';
import { SEND_JOB } from '../request-transfers.ts';
import type { TransferDeps } from '../send-context.ts';
import { assertPresentWallet, WalletClosing, WalletRotated } from '../wallets/present-wallet.ts';
import { lockWallet, raiseSequence, type Wallet, WalletBehind } from '../wallets/wallet-queries.ts';
import {
  nextRotationStep,
  type RotationStep,
  reasonToSetAside,
  restSeconds,
  type SetAside,
  tokenIn,
} from './decide.ts';
import { logLongRotation, logRotationWait } from './log-wait.ts';
import {
  endRotation,
  findLastRotation,
  findOpenRotation,
  listFailedMoves,
  listOpenMovements,
  type RotationRow,
  sumGiven,
} from './queries.ts';
import { CLOSING_ALARM_SECONDS } from './rotation-job.ts';

const SOON_MS = 2_000;
const RETRY_MS = 30_000;
/** Charges arrive until the collector has moved its home; payouts that need their coins wait so long at most. */
const HOURLY_MS = 3_600_000;
const CLOSING_MS = 300_000;
/** For so long after a switch what keeps its coins is looked at every half a minute, also where the rotation is over. */
const OFTEN_SECONDS = 86_400;
/** Home moves in two days. */
const MOVING_ALARM_SECONDS = 3 * 86_400;
/** Somebody may send to an old wallet at any time. */
const DAILY_MS = 86_400_000;

/** Handles `ROTATION_JOB`. */
export async function advanceRotation(
  deps: TransferDeps,
  job: Pick<Job, 'merchantId' | 'payload'>,
  run: Pick<JobRun, 'step'>,
): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const network = job.payload.network as Network;
  const after = (ms: number): JobOutcome => ({ againAtMs: deps.clock.nowMs() + ms, followsClock: false });
  const of = { merchantId: merchant.merchantId, network };
  const rotation = (await findOpenRotation(deps.db, of)) ?? (await findLastRotation(deps.db, of));
  if (rotation === undefined) return 'done';
  if (rotation.status === 'closing') return after(closingMs(deps, merchant, rotation));
  if (await isStopped(deps.db, merchant, network)) return after(RETRY_MS);
  try {
    const step = await takeStep({ deps, merchant, network, run }, rotation);
    if (step.do === 'end') return after(DAILY_MS);
    return after(
      step.do === 'move'
        ? SOON_MS
        : waitMs(deps, rotation, step, deps.clock.nowSeconds() + merchant.clockOffset),
    );
  } catch (error) {
    if (error instanceof WalletRotated) await deps.chains.refresh();
    else if (!isPassing(error)) throw error;
    deps.log.warn({ merchantId: merchant.merchantId, network, err: error }, 'a rotation waits');
    return after(error instanceof WalletRotated ? SOON_MS : RETRY_MS);
  }
}

/** The command goes on with it; where it has died, a person has to run it again. */
function closingMs(deps: TransferDeps, { merchantId, clockOffset }: Merchant, rotation: RotationRow): number {
  const { network, created_at: since } = rotation;
  const ageSeconds = deps.clock.nowSeconds() + clockOffset - Number(since);
  if (ageSeconds < CLOSING_ALARM_SECONDS) return (CLOSING_ALARM_SECONDS - ageSeconds) * 1_000;
  const fields = { merchantId, network, age_seconds: ageSeconds };
  deps.log.error(
    fields,
    'a wallet is closed for its rotation and nothing is paid: run florin signer rotate again, or with --cancel',
  );
  return CLOSING_MS;
}

const isPassing = (error: unknown) =>
  [ChainUnavailable, FeeCeilingReached, HistoryChanged, WalletBehind, WalletClosing].some(
    (kind) => error instanceof kind,
  );

function waitMs(
  deps: TransferDeps,
  rotation: RotationRow,
  { reason, isOver = false }: Extract<RotationStep, { do: 'wait' }>,
  nowSeconds: number,
): number {
  const movingFor = nowSeconds - Number(rotation.switched_at ?? nowSeconds);
  if (rotation.status === 'moving' && movingFor > MOVING_ALARM_SECONDS)
    logLongRotation(deps, rotation, reason);
  if (reason === 'moving' || reason === 'final') return SOON_MS;
  if (reason === 'home' || reason === 'dear') return HOURLY_MS;
  logRotationWait(deps, rotation, reason);
  // Much of what may never pass passes in minutes, and until then somebody else may have the key.
  return isOver && movingFor > OFTEN_SECONDS ? HOURLY_MS : RETRY_MS;
}

interface Rotating {
  deps: TransferDeps;
  merchant: Merchant;
  network: Network;
  run: Pick<JobRun, 'step'>;
}

/** An attempt has a currency, also one that moves ether: a token that the network has. */
const tokenOfNetwork = ({ wallets }: RotationFacts): Asset =>
  wallets.flatMap(({ tokens }) => [...tokens.keys()])[0] ?? 'USDT';

async function takeStep(
  { deps, merchant, network, run }: Rotating,
  rotation: RotationRow,
): Promise<RotationStep> {
  const chain = deps.chains.of(merchant, network);
  const read = await chain.readRotation();
  if (read === null) throw new Error(`wallets on ${network} are not rotated`);
  // Once it is over the collector is left to people: they may have named nobody, or somebody else.
  const facts = rotation.status === 'done' ? { ...read, collector: null } : read;
  const { seconds: nowSeconds, realMs } = {
    seconds: deps.clock.nowSeconds() + merchant.clockOffset,
    realMs: deps.clock.nowMs(),
  };
  const cost = await costOfMove(deps, network, facts);
  const setAside = await findSetAside({ db: deps.db, chain, rotation, nowSeconds }, facts);
  crashPoint('rotation.before');
  const step = await run.step(async (tx) => {
    await assertSameHistory(tx);
    await assertPresentWallet(tx, { merchant, chain });
    const decided = await decide(tx, { merchant, chain, facts, rotation, cost, setAside, nowSeconds });
    const isOver = decided.do === 'end' || (decided.do === 'wait' && decided.isOver === true);
    if (isOver && rotation.status === 'moving') await endRotation(tx, rotation, nowSeconds);
    if (decided.do === 'move') {
      const { merchantId } = merchant;
      const wallet = walletOf(facts, network, decided.by);
      const keyRef = decided.by === 'tank' ? TANK_KEY_REF : decided.by;
      const groupId = rotation.rotation_id;
      const { movement } = decided;
      const currency = (movement.kind === 'move' ? movement.asset : null) ?? tokenOfNetwork(facts);
      await reserveMovement(tx, { merchantId, groupId, currency, keyRef, wallet, movement }, nowSeconds);
      const job = { merchantId, kind: SEND_JOB, uniqueKey: groupId, dueAtMs: realMs, payload: { groupId } };
      await enqueue(tx, [{ ...job, followsClock: true }]);
    }
    crashPoint('rotation.before-commit');
    return decided;
  });
  crashPoint('rotation.after-commit');
  return step;
}

interface Deciding {
  merchant: Merchant;
  chain: Chain;
  facts: RotationFacts;
  rotation: RotationRow;
  cost: bigint;
  setAside: ReadonlyMap<string, SetAside>;
  nowSeconds: number;
}

/**
 * Attempts of rotated wallets that nothing waits for: what their wallets cannot pay, and nobody has for a while, and what no block has
 * taken for an hour, whatever its wallet holds. Sequences are read once more, after the balances: what a block has taken in between has
 * paid its fee.
 *
 * @returns why, by their ids
 */
async function findSetAside(
  { db, chain, rotation, nowSeconds }: Pick<Deciding, 'chain' | 'rotation' | 'nowSeconds'> & { db: Db },
  { wallets, tank }: RotationFacts,
): Promise<ReadonlyMap<string, SetAside>> {
  const setAside = new Map<string, SetAside>();
  const open = await listOpenMovements(db, rotation);
  const topUps = open.filter(({ sequence }) => sequence === null || sequence >= tank.nextSequence);
  for (const one of open) {
    const { attemptId, sender, sequence } = one;
    const wallet = wallets.find(({ address }) => address === sender);
    if (wallet === undefined || sequence === null) continue;
    const isGettingGas = topUps.some(({ gasTo }) => gasTo === wallet.keyRef);
    const reason = reasonToSetAside(one, { native: wallet.native, isGettingGas, nowSeconds });
    if (reason === undefined || sequence < BigInt((await chain.nextSequence(sender)) ?? 0)) continue;
    setAside.set(attemptId, reason);
  }
  return setAside;
}

/**
 * Units of a token, which are about dollars, that handing one over costs at most, with ether for it; 0 where no price is known.
 * Less than that stays in a rotated wallet.
 */
export async function costOfMove(
  { rates }: Pick<TransferDeps, 'rates'>,
  network: Network,
  { fees }: Pick<RotationFacts, 'fees'>,
): Promise<bigint> {
  const price = await rates.priceOfCoin(network);
  return price === undefined ? 0n : dollarsOf(fees.move + fees.plain, price);
}

/** Under the lock of the rotated wallets, and of the gas tank where that has to pay. */
async function decide(
  tx: Tx,
  { merchant, chain, facts, rotation, cost, setAside, nowSeconds }: Deciding,
): Promise<RotationStep> {
  const wallets = facts.wallets.map(({ keyRef }) => walletOf(facts, chain.network, keyRef));
  const tank = walletOf(facts, chain.network, 'tank');
  for (const wallet of wallets.toSorted((a, b) => (a.sender < b.sender ? -1 : 1))) {
    // Whoever has the old key can send from the old wallet, as if this database were a copy; but it pays nobody any more.
    await raiseSequence(tx, wallet);
    await lockWallet(tx, wallet);
  }
  const { gasCeiling } = await readSettings(tx, merchant, TRANSFER_SETTINGS);
  const open = await listOpenMovements(tx, rotation);
  const nextOf = new Map([...wallets, tank].map(({ sender, chainNext }) => [sender, chainNext]));
  // What the chain had in a block when its sequences were read shows in the balances, which were read afterwards.
  const moving = open.filter(
    ({ sender, sequence, isEarlier }) =>
      !isEarlier && (sequence === null || sequence >= (nextOf.get(sender) ?? 0n)),
  );
  const isMoving = moving.some(({ attemptId }) => !setAside.has(attemptId));
  const given = await sumGiven(tx, rotation);
  const resting = await findResting(tx, rotation, nowSeconds);
  const undecided = new Set(
    open.flatMap(({ sender, asset, isMove }) => (isMove ? [tokenIn(sender, asset)] : [])),
  );
  const sums = { gasCeiling: gasCeiling * WEI_PER_UNIT, ...NO_TANK_USE, given, cost };
  const held = await listHeldKeys(tx, { merchant, nowSeconds }, [rotation.rotation_id]);
  // Taken ether is what people look for.
  const byReason = moving
    .map(({ sender, attemptId }) => [sender, setAside.get(attemptId) ?? 'stuck'] as const)
    .toSorted(([, a], [, b]) => Number(a === 'taken') - Number(b === 'taken'));
  const limits = { ...sums, resting, undecided, held, setAside: new Map(byReason) };
  const step = nextRotationStep(facts, limits, isMoving);
  if (step.do !== 'move' || step.by !== 'tank') return step;
  await lockWallet(tx, tank);
  const use = await readTankUse(tx, tank, facts.fees.account);
  return nextRotationStep(facts, { ...limits, ...use }, isMoving);
}

async function findResting(tx: Tx, rotation: RotationRow, nowSeconds: number): Promise<ReadonlySet<string>> {
  const failed = await listFailedMoves(tx, rotation);
  const resting = failed.filter(
    ({ failures, lastAt }) => nowSeconds < Number(lastAt) + restSeconds(failures),
  );
  return new Set(resting.map(({ sender, asset }) => tokenIn(sender, asset)));
}

function walletOf(
  facts: RotationFacts,
  network: Network,
  of: 'tank' | `hot:${number}`,
): Wallet & { chainNext: bigint } {
  const { tank } = facts;
  if (of === 'tank') return { network, sender: tank.address, chainNext: tank.nextSequence };
  const wallet = facts.wallets.find(({ keyRef }) => keyRef === of);
  if (wallet === undefined) throw new Error(`${of} is no rotated wallet`);
  return { network, sender: wallet.address, chainNext: wallet.nextSequence };
}
