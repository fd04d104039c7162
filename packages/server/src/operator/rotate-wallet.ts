import { setTimeout as sleep } from 'node:timers/promises';
import { ASSETS, formatTokens, type Network } from '@florin/contract/money';
import type { App } from '../app.ts';
import { findAccountFaults } from '../chains/index.ts';
import {
  type Chain,
  ChainUnavailable,
  FeeCeilingReached,
  type RotationFacts,
  SigningBlocked,
} from '../chains/port/index.ts';
import { isoOf, transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { crashPoint, enqueue } from '../platform/jobs/index.ts';
import type { Merchant } from '../stores/index.ts';
import { encodeId, merchantTime } from '../tenancy/index.ts';
import { signerJournal } from '../transfers/approvals/index.ts';
import { listStops } from '../transfers/blocks/index.ts';
import {
  closeWallet,
  costOfMove,
  countOpenTransactions,
  findOpenRotation,
  findRotation,
  keepOpen,
  ownerTasks,
  type RotationRow,
  reopenWallet,
  rotationJob,
  switchWallet,
} from '../transfers/rotation/index.ts';
import { merchantBy } from './context.ts';
import { NO_LIVE } from './contracts.ts';

const NETWORK: Network = 'erc20';
const POLL_MS = 500;
/** A transaction of the owner that no block has taken for so many polls gets a higher fee. */
const RAISE_AFTER = 120;

export interface RotationOrder {
  /** Id as typed. */
  merchant: string;
  /** Of the signer's key file; a dry run needs none. */
  passphrase: string;
  /** Shows what would be done, and changes nothing. */
  isDryRun: boolean;
  /** Asks a person before a rotation begins; one that is under way goes on without. */
  confirm: (report: RotationReport) => Promise<boolean>;
  onProgress: (line: string) => void;
  /** Shows what the wallet of a cold owner has to send: the rotation waits for it. */
  onOwnerCall: (call: ShownOwnerCall) => void;
}

/** A transaction without its fees, and what it does in words. */
export interface ShownOwnerCall {
  chain_id: number;
  from: string;
  to: string;
  /** Hex. */
  data: string;
  /** In wei. */
  value: string;
  does: string;
}

/** Where a rotation is. Amounts are decimals of tokens. */
export interface RotationReport {
  merchant_id: string;
  network: Network;
  /**
   * `not_begun`: nothing was changed. `closing`: the old wallet ends what it has on its way. `moving`: the new one works, and what
   * the old one holds or still gets follows. `done`: the old one is empty for good.
   */
  status: 'not_begun' | 'closing' | 'moving' | 'done';
  /** Number of the new wallet, and both addresses. */
  epoch: number;
  from: string;
  to: string;
  /** On their way before wallets can be switched. */
  open_transactions: number;
  /** From when on charges go to the new wallet; null where they do, or none are made. */
  home_moves_at: string | null;
  /** What wallets of before hold. */
  left_USDT: string;
  left_USDC: string;
}

type Live = NonNullable<App['live']>;
type Account = NonNullable<ReturnType<Live['accounts']['find']>>;

/** The merchant whose wallet it is. */
interface Rotated {
  app: App;
  live: Live;
  merchant: Merchant;
}

interface Rotating extends Rotated {
  order: RotationOrder;
}

/**
 * Gives a live merchant a new hot wallet, which keeps every mandate. It waits for what the old one has on its way, and workers
 * have to run. Called again after an interruption, or while coins still follow, it goes on.
 *
 * @throws Fail with one line
 */
export async function rotateWallet(app: App, order: RotationOrder): Promise<RotationReport> {
  const rotated = await openMerchant(app, order.merchant);
  return await explained(() => rotate({ ...rotated, order }));
}

/**
 * Opens the old wallet again, which is possible until the signer has begun the next one. It is for a command that died and whose
 * rotation is not wanted any more.
 *
 * @throws Fail with one line
 */
export async function cancelRotation(app: App, order: { merchant: string }): Promise<RotationReport> {
  const rotated = await openMerchant(app, order.merchant);
  const { live, merchant } = rotated;
  return await explained(async () => {
    const account = await presentAccount(rotated);
    const of = { merchantId: merchant.merchantId, network: NETWORK };
    await transact(app.db, (tx) =>
      reopenWallet(tx, of, async () => (await live.ethereum.readAccount(account.account)).epoch),
    );
    return await reportOf(rotated, account, undefined);
  });
}

async function openMerchant(app: App, typed: string): Promise<Rotated> {
  const { live } = app;
  if (live === undefined) throw new Fail('invalid_request', NO_LIVE);
  const merchant = await merchantBy(app, typed);
  if (merchant.mode === 'live') return { app, live, merchant };
  const message = 'A sandbox merchant has no real wallets: name a live one.';
  throw new Fail('invalid_request', { message, param: 'merchant' });
}

async function rotate(rotating: Rotating): Promise<RotationReport> {
  const { app, live, merchant, order } = rotating;
  const { merchantId } = merchant;
  const account = await presentAccount(rotating);
  const { epoch: signers } = await live.ethereum.readAccount(account.account);
  await assertAgreed(rotating, account);
  const open = await findOpenRotation(app.db, { merchantId, network: NETWORK });
  const before = await reportOf(rotating, account, open);
  if (order.isDryRun) return before;
  // What an old wallet keeps may leave by now: also of a rotation that is over, and before the next one is wanted.
  await lookNow(rotating);
  // A signer that is ahead was told by a run that died, or whose database was put back: it goes on too.
  const isUnderWay = open !== undefined || signers > account.epoch;
  if (!isUnderWay && !(await order.confirm(before))) return before;
  await assertRunning(app, merchantId);
  const { passphrase } = order;
  // A wrong passphrase is found before the wallet is closed.
  await live.ethereum.holder.beginEpoch({ account: account.account, epoch: signers, passphrase });
  const switched = open?.status === 'moving' ? account : await replaceWallet(rotating, account, before.epoch);
  await lookNow(rotating);
  await nameWallet(rotating, switched, passphrase);
  await awaitCoins(rotating);
  const rotation = await findRotation(app.db, { merchantId, network: NETWORK }, switched.epoch);
  return await reportOf(rotating, switched, rotation);
}

/** Has workers look at the old wallets now, not at their job's next hour. */
async function lookNow({ app, merchant: { merchantId } }: Rotated): Promise<void> {
  await transact(app.db, (tx) => enqueue(tx, [rotationJob(merchantId, NETWORK, app.clock.nowMs())]));
}

/** Read now: another run may have switched. */
async function presentAccount({ live, merchant }: Rotated): Promise<Account> {
  await live.accounts.load();
  const account = live.accounts.find(merchant.merchantId, NETWORK);
  if (account !== undefined) return account;
  const message = 'The merchant has no account there yet: florin networks enable opens it.';
  throw new Fail('conflict', { message });
}

/** @throws Fail where signer and database cannot both be right */
async function assertAgreed({ live }: Rotated, account: Account): Promise<void> {
  const [fault] = await findAccountFaults([account], live.ethereum);
  if (fault !== undefined) throw new Fail('conflict', { message: fault.line });
}

async function assertRunning(app: App, merchantId: string): Promise<void> {
  const stops = await listStops(app.db);
  const own = stops.find(
    (stop) => stop.network === NETWORK && stop.what === 'sending' && concerns(stop.merchant_id, merchantId),
  );
  if (own === undefined) return;
  const message = `${NETWORK} is stopped (${own.reason}): nothing was begun. florin networks resume lets it go on.`;
  throw new Fail('conflict', { message });
}

const NOBODY = /^[0-]+$/;
/** Stops of all live merchants have no merchant. */
const concerns = (stopped: string, merchantId: string) => stopped === merchantId || NOBODY.test(stopped);

/** Closes the present wallet, waits for what it has on its way, and puts the next one in its place. */
async function replaceWallet(rotating: Rotating, account: Account, epoch: number): Promise<Account> {
  const { app, live, merchant, order } = rotating;
  const { merchantId } = merchant;
  const { passphrase } = order;
  const of = { merchantId, network: NETWORK };
  const { seconds: nowSeconds, realMs: nowMs } = merchantTime(app, merchant);
  await transact(app.db, (tx) => closeWallet(tx, of, { next: epoch, nowSeconds, nowMs }));
  order.onProgress('The old wallet takes no new work.');
  crashPoint('rotate.closed');
  const hot = live.ethereum.hotWallet(account, epoch);
  for (let isSwitched = false; !isSwitched; ) {
    await awaitQuiet(rotating);
    const begun = await transact(app.db, async (tx) => {
      await keepOpen(tx, of, epoch);
      return await live.ethereum.holder.beginEpoch({ account: account.account, epoch, passphrase });
    });
    if (begun.hot !== hot)
      throw new Fail(
        'conflict',
        `The signer has ${begun.hot} for the new wallet, the account's key gives ${hot}.`,
      );
    // An older journal of the signer knows nothing of the new epoch, and signs nothing from now on.
    await signerJournal.keepSignerJournal(app.db, app.chains, merchant);
    crashPoint('rotate.begun');
    isSwitched = await transact(app.db, async (tx) => {
      const done = await switchWallet(tx, of, { hot, nowSeconds: merchantTime(app, merchant).seconds });
      // The coins follow even if this run ends here.
      if (done) await enqueue(tx, [rotationJob(merchantId, NETWORK, app.clock.nowMs())]);
      crashPoint('rotate.before-switch');
      return done;
    });
  }
  order.onProgress(`The new wallet is ${hot}.`);
  crashPoint('rotate.switched');
  return await presentAccount(rotating);
}

async function awaitQuiet({ app, merchant, order }: Rotating): Promise<void> {
  const of = { merchantId: merchant.merchantId, network: NETWORK };
  let shown = 0;
  for (;;) {
    const count = await countOpenTransactions(app.db, of);
    if (count === 0) return;
    if (count !== shown)
      order.onProgress(
        `${count} ${count === 1 ? 'transaction is' : 'transactions are'} on the way (workers have to run).`,
      );
    shown = count;
    await sleep(POLL_MS);
  }
}

/** Has the owner name the new wallet at the collector: operator at once, home in two days. */
async function nameWallet(rotating: Rotating, account: Account, passphrase: string): Promise<void> {
  const { live, order } = rotating;
  const askColdOwner = coldOwnerAsker(rotating, account, passphrase);
  let sent: { nonce: bigint; polls: number } | undefined;
  let shown = '';
  const show = (line: string) => {
    if (line !== shown) order.onProgress(line);
    shown = line;
  };
  for (;;) {
    const { collector, fees, ...facts } = await readFacts(rotating);
    if (collector === null) return;
    const tasks = ownerTasks({ ...facts, collector });
    const [what] = tasks;
    if (!collector.isMissing && what === undefined) return;
    const { native, nextSequence: nonce, isCold } = collector.owner;
    if (what === undefined) show("The merchant's account at the collector is being opened.");
    else if (isCold) await askColdOwner(tasks);
    else if (native < fees.ownerCall) show(`Its owner ${collector.owner.address} gets ether.`);
    else if (sent?.nonce !== nonce || sent.polls % RAISE_AFTER === 0) {
      show(`The owner names the new wallet as ${what}.`);
      const raise = sent?.nonce === nonce ? sent.polls / RAISE_AFTER : 0;
      sent = { nonce, polls: sent?.nonce === nonce ? sent.polls : 0 };
      const answer = await live.ethereum.sendOwnerCall(account, { what, nonce, raise, passphrase });
      if (answer.result === 'rejected') show(`A node refuses that (${answer.code}); it is tried again.`);
      crashPoint(`rotate.${what}`);
    }
    if (sent !== undefined) sent.polls += 1;
    await sleep(POLL_MS);
  }
}

/** Shows what the wallet of a cold owner has to send, each call once. The chain shows whether it has. */
function coldOwnerAsker({ live, order }: Rotating, account: Account, passphrase: string) {
  const asked = new Set<string>();
  return async (tasks: readonly ('operator' | 'home')[]): Promise<void> => {
    for (const what of tasks) {
      if (asked.has(what)) continue;
      const { unsigned, does } = await live.ethereum.ownerCallOf(account, { what, passphrase });
      asked.add(what);
      const { chainId: chain_id, ...call } = unsigned;
      order.onOwnerCall({ chain_id, ...call, does });
    }
  };
}

/** Waits until the wallets of before hold no tokens that are worth their fee: what arrives later, workers bring along. */
async function awaitCoins(rotating: Rotating): Promise<void> {
  let shown = '';
  for (;;) {
    const facts = await readFacts(rotating);
    const cost = await costOfMove(rotating.app, NETWORK, facts);
    const isLeft = facts.wallets.some(({ tokens }) => [...tokens.values()].some((units) => units > cost));
    if (!isLeft) return;
    const left = leftIn(facts);
    const line = `The old wallet still holds ${ASSETS.map((asset) => `${formatTokens(left[asset])} ${asset}`).join(', ')}.`;
    if (line !== shown) rotating.order.onProgress(line);
    shown = line;
    await sleep(POLL_MS);
  }
}

async function readFacts({ app, merchant }: Rotated): Promise<RotationFacts> {
  const chain: Chain = app.chains.of(merchant, NETWORK);
  const facts = await chain.readRotation();
  if (facts === null) throw new Error('live wallets are rotated');
  return facts;
}

function leftIn({ wallets }: RotationFacts) {
  const sum = (asset: (typeof ASSETS)[number]) =>
    wallets.reduce((total, { tokens }) => total + (tokens.get(asset) ?? 0n), 0n);
  return { USDT: sum('USDT'), USDC: sum('USDC') };
}

async function reportOf(
  rotated: Rotated,
  account: Account,
  rotation: RotationRow | undefined,
): Promise<RotationReport> {
  const { app, live, merchant } = rotated;
  const { merchantId } = merchant;
  const of = { merchantId, network: NETWORK };
  const facts = await readFacts(rotated);
  const { collector, hot } = facts;
  const left = leftIn(facts);
  const epoch = rotation?.epoch ?? account.epoch + 1;
  const next = collector?.nextHome;
  const isMoving = collector !== null && collector.home !== hot && next?.address === hot;
  return {
    merchant_id: encodeId('merchant', merchantId),
    network: NETWORK,
    status: rotation?.status ?? 'not_begun',
    epoch,
    from: live.ethereum.hotWallet(account, epoch - 1),
    to: live.ethereum.hotWallet(account, epoch),
    open_transactions: await countOpenTransactions(app.db, of),
    home_moves_at: isMoving && next != null ? isoOf(next.movesAt * 1000) : null,
    left_USDT: formatTokens(left.USDT),
    left_USDC: formatTokens(left.USDC),
  };
}

/** What an operator can mend becomes one line. */
async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isBlocked = error instanceof SigningBlocked || error instanceof FeeCeilingReached;
    if (!isBlocked && !(error instanceof ChainUnavailable)) throw error;
    const message = `The rotation cannot go on: ${error.message}. Run the command again: it goes on where it was.`;
    throw new Fail(isBlocked ? 'conflict' : 'service_unavailable', { message, cause: error });
  }
}
