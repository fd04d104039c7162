import { ASSETS } from '@florin/contract/money';
import { isLineDue, type Logger } from '../../platform/observability/index.ts';
import type { ChainTransfer, ScanAnswer, ScanQuery } from '../port/port.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import { scanLimit } from '../port/port-scan.ts';
import { slicesOf } from '../rpc/slices.ts';
import { readApart, Unread } from './apart.ts';
import { baseOf, compareTransfers, isAfter, type Position, readCursor, writeCursor } from './cursor.ts';
import { type TokenAccounts, tokenAccountsOf } from './derive-accounts.ts';
import { type HeadFeed, type Heads, headOf } from './heads.ts';
import { type HistoryQuery, type Listed, readHistory, readTransactions } from './history.ts';
import { assertWhole } from './ledger-range.ts';
import { type Mark, type Marks, NO_MARK, nextMark, readFrom, reportedTo } from './marks.ts';
import type { SolanaNetwork } from './network.ts';
import type { SolanaNode } from './node.ts';
import { ACCOUNTS_PER_CALL, readAmounts } from './token-accounts.ts';
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
  tokenAccounts: TokenAccounts;
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
  const heads = await context.feed.heads(query.freshness);
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
  const { found, late, marks, known, unread } = await readAccounts(context, query, part);
  const told = { ...(unread.size > 0 && { unread }), head };
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
    return { transfers, cursor: writeCursor(position), complete: false, ...told };
  }
  // What the pages before this one could not read, this one does not tell. A check may be forgotten with all that it was told.
  if (after.page === undefined && query.isCheck !== true) await context.marks.save(marks, known);
  const slot = upTo > after.slot ? upTo : after.slot;
  return { transfers, cursor: writeCursor({ slot }), complete: true, ...told };
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
  /** Owners of accounts that could not be read, or not all of it. */
  unread: Set<string>;
}

async function readAccounts(context: ScanContext, query: ScanQuery, part: Part): Promise<Reading> {
  const { after, upTo, reads } = part;
  const cursor = baseOf(after);
  const watched = await listAccounts(context, query, cursor);
  const { amounts, faults } = await readHeld(context, watched, reads);
  const known = await context.marks.find([...watched.keys()]);
  const markOf = (account: string) => known.get(account) ?? NO_MARK;
  const due = [...watched.keys()].flatMap((account) => {
    if (faults.has(account)) return [];
    const from = readFrom(markOf(account), amounts.get(account), cursor);
    return from === undefined ? [] : [{ account, from }];
  });
  const histories = await readHistories(context, due, { reads, faults });
  const effects = await readEffects(context, { histories, watched, upTo, reads, faults });
  const arrivals = [...effects.values()].flatMap((effect) => effect.arrivals);
  const isLate = ({ account, transfer }: (typeof arrivals)[number]) =>
    after.page === undefined &&
    transfer.height <= cursor &&
    transfer.height > reportedTo(markOf(account), cursor);
  const lateOnes = arrivals.filter(isLate);
  const marks = new Map<string, Mark>();
  const unlisted = [...faults.keys()].map((account) => ({ account, from: cursor, listed: [] }));
  const isListed = new Set(histories.map(({ account }) => account));
  for (const { account, from, listed } of [
    ...histories,
    ...unlisted.filter(({ account }) => !isListed.has(account)),
  ]) {
    const reading = {
      cursor,
      amount: amounts.get(account),
      from,
      slots: listed.map(({ slot }) => slot),
      change: changeOf(account, listed, effects),
      upTo,
      hasLate: lateOnes.some((one) => one.account === account),
      leftAt: leftAt(account, listed, effects),
      isPartial: faults.has(account),
    };
    const { mark, hasGap } = nextMark(markOf(account), reading);
    if (hasGap) noteGap(context, account, faults.get(account));
    if (mark !== undefined) marks.set(account, mark);
  }
  const sorted = (list: typeof arrivals) => list.map(({ transfer }) => transfer).toSorted(compareTransfers);
  const found = arrivals.filter(({ transfer }) => isAfter(transfer, after));
  const unread = new Set([...faults.keys()].flatMap((account) => watched.get(account)?.owner ?? []));
  return { found: sorted(found), late: sorted(lateOnes), marks, known, unread };
}

/** Account → why it could not be read, or not all of it. It is read again by the next scan. */
type Faults = Map<string, string>;

/** What accounts hold, and those of which the nodes do not tell the same. */
async function readHeld(
  { node }: ScanContext,
  watched: ReadonlyMap<string, WatchedAccount>,
  reads: Part['reads'],
): Promise<{ amounts: Map<string, bigint>; faults: Faults }> {
  const amounts = new Map<string, bigint>();
  const faults: Faults = new Map();
  for (const part of slicesOf([...watched.values()], ACCOUNTS_PER_CALL)) {
    const held = await readApart(node, part, async (accounts) => {
      const { amounts: found } = await readAmounts(node, { accounts, ...reads });
      return accounts.map(({ account }) => found.get(account));
    });
    for (const [place, { account }] of part.entries()) {
      const one = held[place];
      if (one instanceof Unread) faults.set(account, one.why);
      else if (one !== undefined) amounts.set(account, one);
    }
  }
  return { amounts, faults };
}

interface History {
  account: string;
  from: bigint;
  listed: Listed[];
}

async function readHistories(
  { node }: ScanContext,
  due: readonly Pick<History, 'account' | 'from'>[],
  { reads, faults }: { reads: Part['reads']; faults: Faults },
): Promise<History[]> {
  const histories: History[] = [];
  for (const part of slicesOf(due, HISTORIES_AT_ONCE)) {
    const some = await readApart(node, part, (ones) =>
      Promise.all(
        ones.map(async (one) => ({ ...one, listed: await readHistory(node, { ...one, ...reads }) })),
      ),
    );
    for (const [place, { account }] of part.entries()) {
      const one = some[place];
      if (one instanceof Unread) faults.set(account, one.why);
      else if (one !== undefined) histories.push(one);
    }
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
    faults: Faults;
  },
): Promise<Map<string, TransactionEffect>> {
  const unique = new Map<string, Listed>();
  for (const { listed } of of.histories)
    for (const one of listed) if (one.slot <= of.upTo && !one.hasFailed) unique.set(one.signature, one);
  const wanted = [...unique.values()];
  const answers = await readTransactions(node, wanted, of.reads);
  const effects = new Map<string, TransactionEffect>();
  const unread = new Map<string, string>();
  for (const [place, one] of wanted.entries()) {
    const effect = readEffect(answers[place], one, of.watched);
    if (effect instanceof Unread) unread.set(one.signature, effect.why);
    else effects.set(one.signature, effect);
  }
  for (const { account, listed } of of.histories)
    for (const { signature } of listed) {
      const why = unread.get(signature);
      if (why !== undefined) of.faults.set(account, why);
    }
  return effects;
}

function readEffect(
  answer: unknown,
  listed: Listed,
  watched: ReadonlyMap<string, WatchedAccount>,
): TransactionEffect | Unread {
  if (answer instanceof Unread) return answer;
  try {
    return readTransaction(answer, listed, watched);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return new Unread(error.message);
  }
}

/** Histories begin with the newest. */
function leftAt(
  account: string,
  listed: readonly Listed[],
  effects: ReadonlyMap<string, TransactionEffect>,
): bigint | null {
  const takes = ({ signature }: Listed) => (effects.get(signature)?.changes.get(account) ?? 0n) < 0n;
  return listed.find(takes)?.slot ?? null;
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

/**
 * The token accounts of the watched addresses, for each token of the network. Accounts whose reported transfers may not have been stored are
 * read again regardless of rotation: once the cursor passes them, no scan would report them.
 */
async function listAccounts(
  { network, marks, tokenAccounts }: ScanContext,
  { watch }: ScanQuery,
  cursor: bigint,
): Promise<Map<string, WatchedAccount>> {
  const owners =
    'each' in watch
      ? new Set([...(await watch.each()), ...(await watch.among(await marks.reportedBehind(cursor)))])
      : new Set(watch);
  const accounts = new Map<string, WatchedAccount>();
  for (const asset of ASSETS) {
    const mint = network.tokens[asset]?.mint;
    if (mint === undefined) continue;
    const known = await tokenAccountsOf(tokenAccounts, { owners: [...owners], mint, save: true });
    for (const [owner, account] of known) accounts.set(account, { account, owner, asset, mint });
  }
  return accounts;
}

function noteGap({ log, network }: ScanContext, account: string, why: string | undefined): void {
  if (!isLineDue(log, `gap ${account}`)) return;
  const what =
    why === undefined
      ? 'the transactions of a token account do not add up to what it holds'
      : 'a token account cannot be read, and what came to it is not credited';
  log.warn({ account, why }, `${network.name}: ${what}. It is read again by each scan.`);
}
