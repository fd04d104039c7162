import { ASSETS } from '@florin/contract/money';
import { tokenAccountOf } from '@florin/signer/solana';
import { isLineDue, type Logger } from '../../platform/observability/index.ts';
import type { ChainTransfer, ScanAnswer, ScanQuery } from '../port/port.ts';
import { scanLimit } from '../port/port-scan.ts';
import { slicesOf } from '../rpc/slices.ts';
import { baseOf, compareTransfers, isAfter, type Position, readCursor, writeCursor } from './cursor.ts';
import { type HeadFeed, type Heads, headOf } from './heads.ts';
import { type HistoryQuery, type Listed, readHistory, readTransactions } from './history.ts';
import { assertWhole } from './ledger-range.ts';
import { type Mark, type Marks, NO_MARK, nextMark, readFrom, reportedTo } from './marks.ts';
import type { SolanaNetwork } from './network.ts';
import type { SolanaNode } from './node.ts';
import { readAmounts } from './token-accounts.ts';
import { readTransaction, type TransactionEffect, type WatchedAccount } from './transfers-in.ts';

// Nothing on this network lists what came to many addresses at once. A scan reads what their token accounts hold, a hundred a
// call, and the transactions of those alone that hold another amount than when they were read last (marks.ts).

const FINAL_LIMIT = 1_000;
const TIP_LIMIT = 10_000;
const HISTORIES_AT_ONCE = 8;

export interface ScanContext {
  network: SolanaNetwork;
  node: SolanaNode;
  feed: HeadFeed;
  marks: Marks;
  log: Logger;
  /** What a scan without cursor begins with. */
  beginsAt: bigint;
}

interface Part {
  heads: Heads;
  after: Position;
  /** The last slot to read. */
  upTo: bigint;
  limit: number;
  reads: Omit<HistoryQuery, 'account' | 'from'>;
}

/** @throws RangeError, ChainUnavailable */
export async function scanAccounts(context: ScanContext, query: ScanQuery): Promise<ScanAnswer> {
  const position = query.cursor === null ? undefined : readCursor(query.cursor);
  const limit = scanLimit(query, query.level === 'final' ? FINAL_LIMIT : TIP_LIMIT);
  const heads = await context.feed.heads();
  const { tip, final } = heads;
  if (query.level === 'tip') {
    const after = position ?? { slot: final.slot };
    const reads = { commitment: 'confirmed', minSlot: tip.slot, endpoints: 'one' } as const;
    const part = { heads, after, upTo: tip.slot, limit, reads };
    const { found, late } = await readAccounts(context, query, part);
    const all = [...late, ...found];
    const cursor = query.cursor ?? writeCursor(after);
    return { transfers: all.slice(0, limit), cursor, complete: all.length <= limit, head: headOf(heads) };
  }
  const after = position ?? { slot: context.beginsAt - 1n };
  const upTo = query.upTo === undefined || query.upTo > final.slot ? final.slot : query.upTo;
  const reads = { commitment: 'finalized', minSlot: final.slot, endpoints: 'two' } as const;
  return await scanFinal(context, query, { heads, after, upTo, limit, reads });
}

async function scanFinal(context: ScanContext, query: ScanQuery, part: Part): Promise<ScanAnswer> {
  const { after, upTo, limit, heads } = part;
  const head = headOf(heads);
  // A node may lag behind the cursor, which never moves back.
  if (upTo <= after.slot && after.page === undefined)
    return { transfers: [], cursor: writeCursor(after), complete: true, head };
  const { found, late, marks, known } = await readAccounts(context, query, part);
  // Whoever reads again takes what is absent for gone, and no sum shows here that nothing was left out.
  const isAgain = [...known.values()].some(
    ({ since, reportedAt }) => after.slot < since || after.slot < reportedAt,
  );
  if (isAgain) await assertWhole(context.node, after.slot, heads.final);
  // What an earlier scan left out comes on top: no cursor could stand for it.
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const transfers = [...late, ...page];
  if (page.length < found.length && last !== undefined) {
    const position = { slot: last.height, page: { txId: last.txId, index: last.index, base: baseOf(after) } };
    return { transfers, cursor: writeCursor(position), complete: false, head };
  }
  await context.marks.save(marks, known);
  const slot = upTo > after.slot ? upTo : after.slot;
  return { transfers, cursor: writeCursor({ slot }), complete: true, head };
}

interface Reading {
  /** Those behind the position, sorted. */
  found: ChainTransfer[];
  /** Those before the cursor that no scan has told of. The pages of a scan tell of them once, with the first. */
  late: ChainTransfer[];
  /** Marks that move with this scan. */
  marks: Map<string, Mark>;
  /** As they were before. */
  known: ReadonlyMap<string, Mark>;
}

async function readAccounts(context: ScanContext, query: ScanQuery, part: Part): Promise<Reading> {
  const { after, upTo, reads } = part;
  const watched = await listAccounts(context, query);
  const { amounts } = await readAmounts(context.node, { accounts: [...watched.values()], ...reads });
  const known = await context.marks.find([...watched.keys()]);
  const markOf = (account: string) => known.get(account) ?? NO_MARK;
  const cursor = baseOf(after);
  const due = [...watched.keys()].flatMap((account) => {
    const from = readFrom(markOf(account), amounts.get(account), cursor);
    return from === undefined ? [] : [{ account, from }];
  });
  const histories = await readHistories(context, due, reads);
  const effects = await readEffects(context, { histories, watched, upTo, reads });
  const arrivals = [...effects.values()].flatMap((effect) => effect.arrivals);
  const isLate = ({ account, transfer }: (typeof arrivals)[number]) =>
    after.page === undefined &&
    transfer.height <= cursor &&
    transfer.height > reportedTo(markOf(account), cursor);
  const lateOnes = arrivals.filter(isLate);
  const marks = new Map<string, Mark>();
  for (const { account, from, listed } of histories) {
    const reading = {
      cursor,
      amount: amounts.get(account),
      from,
      slots: listed.map(({ slot }) => slot),
      change: changeOf(account, listed, effects),
      upTo,
      hasLate: lateOnes.some((one) => one.account === account),
      hasLeft: listed.some(({ signature }) => (effects.get(signature)?.changes.get(account) ?? 0n) < 0n),
    };
    const { mark, hasGap } = nextMark(markOf(account), reading);
    if (hasGap) noteGap(context, account);
    if (mark !== undefined) marks.set(account, mark);
  }
  const sorted = (list: typeof arrivals) => list.map(({ transfer }) => transfer).toSorted(compareTransfers);
  const found = arrivals.filter(({ transfer }) => isAfter(transfer, after));
  return { found: sorted(found), late: sorted(lateOnes), marks, known };
}

interface History {
  account: string;
  from: bigint;
  listed: Listed[];
}

async function readHistories(
  { node }: ScanContext,
  due: readonly Pick<History, 'account' | 'from'>[],
  reads: Part['reads'],
): Promise<History[]> {
  const histories: History[] = [];
  for (const part of slicesOf(due, HISTORIES_AT_ONCE)) {
    const some = part.map(async (one) => ({ ...one, listed: await readHistory(node, { ...one, ...reads }) }));
    histories.push(...(await Promise.all(some)));
  }
  return histories;
}

/** Every listed transaction once, however many of the accounts it names. */
async function readEffects(
  { node }: ScanContext,
  of: {
    histories: readonly History[];
    watched: ReadonlyMap<string, WatchedAccount>;
    upTo: bigint;
    reads: Part['reads'];
  },
): Promise<Map<string, TransactionEffect>> {
  const unique = new Map<string, Listed>();
  for (const { listed } of of.histories)
    for (const one of listed) if (one.slot <= of.upTo && !one.hasFailed) unique.set(one.signature, one);
  const wanted = [...unique.values()];
  const answers = await readTransactions(node, wanted, of.reads);
  return new Map(
    wanted.map((one, place) => [one.signature, readTransaction(answers[place], one, of.watched)] as const),
  );
}

function changeOf(
  account: string,
  listed: readonly Listed[],
  effects: ReadonlyMap<string, TransactionEffect>,
): bigint {
  return listed.reduce(
    (sum, { signature }) => sum + (effects.get(signature)?.changes.get(account) ?? 0n),
    0n,
  );
}

/** The token accounts of the watched addresses, for each token of the network. */
async function listAccounts(
  { network }: ScanContext,
  { watch }: ScanQuery,
): Promise<Map<string, WatchedAccount>> {
  const owners = 'all' in watch ? await watch.all() : watch;
  const accounts = new Map<string, WatchedAccount>();
  for (const asset of ASSETS) {
    const mint = network.tokens[asset]?.mint;
    if (mint === undefined) continue;
    for (const owner of owners) {
      const account = tokenAccountOf(owner, mint);
      accounts.set(account, { account, owner, asset, mint });
    }
  }
  return accounts;
}

function noteGap({ log, network }: ScanContext, account: string): void {
  if (isLineDue(log, `gap ${account}`))
    log.warn(
      { account },
      `${network.name}: the transactions of a token account do not add up to what it holds. They are read again.`,
    );
}
