import type { Asset } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db } from '../../platform/db/index.ts';
import type { ChainTransfer, ScanAnswer, ScanQuery } from '../port/port.ts';
import { scanLimit } from '../port/port-scan.ts';
import type { BlockClock } from './block-clock.ts';
import type { TransferPosition } from './chain-queries.ts';
import type { ChainId } from './tables.ts';

const FINAL_LIMIT = 1_000;
const TIP_LIMIT = 10_000;
/** Transfers that one scan reads and filters for watched addresses; payouts are in the same blocks. */
const FINAL_BLOCKS_LIMIT = 10_000;
const TIP_BLOCKS_LIMIT = 30_000;

/*
 * A cursor is the position after a transfer: its block and its number on this chain. Numbers rise within a block, and a
 * closed block gets no further transfers but the faucet's, whose numbers are higher.
 */
const CURSOR_FORM = /^(-?[0-9]{1,18})\.([0-9]{1,18})$/;
const BEGINNING: TransferPosition = { height: -1n, number: 0n };
/** Above every number: the position after a whole block. */
const NUMBER_MAX = 10n ** 18n - 1n;

/** The cursor after the whole block of that height. */
export function cursorAfter(height: bigint): string {
  return writeCursor({ height, number: NUMBER_MAX });
}

function writeCursor({ height, number }: TransferPosition): string {
  return `${height}.${number}`;
}

export function readCursor(cursor: string): TransferPosition {
  const match = CURSOR_FORM.exec(cursor);
  if (match?.[1] === undefined || match[2] === undefined)
    throw new RangeError('not a cursor of this network');
  return { height: BigInt(match[1]), number: BigInt(match[2]) };
}

type ScanPart = Omit<ScanAnswer, 'head'>;

/** The recipients that a page is read for: these addresses, or all. */
export type Recipients = readonly string[] | 'all';

/**
 * The recipients to read for. Whole blocks are read and filtered afterwards, except for a first scan, which reads the whole
 * chain for few addresses.
 */
export async function recipientsOf({ watch, level, cursor }: ScanQuery): Promise<Recipients> {
  if (!('among' in watch)) return watch;
  return level === 'final' && cursor === null ? await watch.each() : 'all';
}

/** Filters a page to the transfers to watched addresses. */
export async function keepWatched<T extends ScanPart>(page: T, { watch }: ScanQuery): Promise<T> {
  if (!('among' in watch) || page.transfers.length === 0) return page;
  const own = await watch.among([...new Set(page.transfers.map(({ to }) => to))]);
  return { ...page, transfers: page.transfers.filter(({ to }) => own.has(to)) };
}

/**
 * Reads one page as the node sees the chain. For a `final` scan the caller has settled every due block: an open one could
 * still get a transfer after the cursor has passed it.
 *
 * @throws RangeError
 */
export function readScan(
  db: Db,
  id: ChainId,
  query: ScanQuery & { recipients: Recipients },
  clock: BlockClock,
): Promise<ScanPart> {
  return query.level === 'final' ? readFinal(db, id, query, clock) : readTip(db, id, query, clock);
}

type Query = ScanQuery & { recipients: Recipients };

async function readFinal(db: Db, id: ChainId, query: Query, clock: BlockClock): Promise<ScanPart> {
  const after = query.cursor === null ? BEGINNING : readCursor(query.cursor);
  const last = query.upTo === undefined || query.upTo > clock.finalHeight ? clock.finalHeight : query.upTo;
  const limit = scanLimit(query, query.recipients === 'all' ? FINAL_BLOCKS_LIMIT : FINAL_LIMIT);
  const { recipients } = query;
  const rows = await listArrivals(db, id, { recipients, after, last, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const end = page.at(-1) ?? after;
  const complete = rows.length <= limit;
  // The node may lag behind the cursor, which never moves back.
  const position = complete && end.height < last ? { height: last, number: 0n } : end;
  return { transfers: page.map(present), cursor: writeCursor(position), complete };
}

async function readTip(db: Db, id: ChainId, query: Query, clock: BlockClock): Promise<ScanPart> {
  const cursor = query.cursor ?? cursorAfter(clock.finalHeight);
  const { recipients } = query;
  const limit = scanLimit(query, recipients === 'all' ? TIP_BLOCKS_LIMIT : TIP_LIMIT);
  const range = { recipients, after: readCursor(cursor), last: clock.height, limit: limit + 1 };
  const rows = await listArrivals(db, id, range);
  return { transfers: rows.slice(0, limit).map(present), cursor, complete: rows.length <= limit };
}

interface ArrivalRow extends TransferPosition {
  tx_id: string;
  index: number;
  currency: Asset | null;
  sender: string;
  recipient: string;
  amount: bigint;
  block_time: bigint;
}

/**
 * Addresses are an array with `= any`, not a joined table: without statistics, as on a young chain, the planner expects few
 * blocks and addresses and would use a nested loop. This way every plan reads a transfer once.
 */
async function listArrivals(
  db: Db,
  { merchantId, network }: ChainId,
  range: { recipients: Recipients; after: TransferPosition; last: bigint; limit: number },
): Promise<ArrivalRow[]> {
  const { recipients, after, last, limit } = range;
  const isFor = recipients === 'all' ? sql`` : sql`and recipient = any(${recipients}::text[])`;
  const { rows } = await sql<ArrivalRow>`
    select height, number, tx_id, index, currency, sender, recipient, amount, block_time from simchain.transfer
    where merchant_id = ${merchantId} and network = ${network} ${isFor}
      and (height, number) > (${after.height}::int8, ${after.number}::int8) and height <= ${last}::int8
      and amount > 0
    order by height, number limit ${limit}`.execute(db);
  return rows;
}

function present(row: ArrivalRow): ChainTransfer {
  return {
    txId: row.tx_id,
    index: row.index,
    asset: row.currency,
    from: row.sender,
    to: row.recipient,
    amount: row.amount,
    height: row.height,
    time: Number(row.block_time),
  };
}
