import type { Asset } from '@florin/contract/money';
import { TOKEN_PROGRAM } from '@florin/signer/solana';
import { base58 } from '@scure/base';
import type { ChainTransfer } from '../port/port.ts';
import { readBase58, readDigits, readList, readNumber, readRecord, unusable } from './node-answers.ts';

const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const TRANSFER = 3;
const TRANSFER_CHECKED = 12;
const FEE_EXTENSION = 26;
const TRANSFER_WITH_FEE = 1;
/** Behind the place of every transfer: coins that came by no transfer, such as newly minted ones, by the place of their account. */
const UNEXPLAINED_FROM = 1_000_000;

/** A token account of a deposit address. */
export interface WatchedAccount {
  account: string;
  owner: string;
  asset: Asset;
  mint: string;
}

/** What one transaction did to watched accounts. */
export interface TransactionEffect {
  arrivals: { account: string; transfer: ChainTransfer }[];
  /** Account → by how much its balance has changed. */
  changes: ReadonlyMap<string, bigint>;
}

/**
 * Reads a final or confirmed transaction (`getTransaction`, encoding `json`) that the node has listed in that slot. Each
 * transfer has its place among all transfers of tokens in the transaction, those of other programs' calls among them; what they
 * add up to is compared with the balances before and after.
 *
 * @param watched by account
 * @throws ChainUnavailable where the answer contradicts itself or what was listed
 */
export function readTransaction(
  answer: unknown,
  listed: { signature: string; slot: bigint },
  watched: ReadonlyMap<string, WatchedAccount>,
): TransactionEffect {
  const { signature: txId } = listed;
  const whole = readRecord(answer, `the transaction ${txId}`);
  const height = readNumber(whole.slot, `the slot of ${txId}`);
  if (height !== listed.slot)
    throw unusable(`${txId} is listed in slot ${listed.slot} and lies in ${height}`);
  const time = Number(readNumber(whole.blockTime, `the time of ${txId}`));
  const { signatures, message } = readRecord(whole.transaction, `the transaction ${txId}`);
  if (readList(signatures, 'signatures')[0] !== txId)
    throw unusable(`${txId} was asked for, and another one given`);
  const meta = readRecord(whole.meta, `the outcome of ${txId}`);
  if (meta.err !== null) return { arrivals: [], changes: new Map() };
  const keys = readKeys(readRecord(message, 'a message'), meta);
  const balances = readBalances(meta, keys);
  const arrivals: TransactionEffect['arrivals'] = [];
  const net = new Map<string, bigint>();
  const add = (account: string, amount: bigint) => net.set(account, (net.get(account) ?? 0n) + amount);
  for (const [index, { source, destination, amount }] of readMoves(message, meta, keys).entries()) {
    if (watched.has(source)) add(source, -amount);
    const to = watched.get(destination);
    if (to === undefined) continue;
    add(destination, amount);
    if (amount === 0n) continue;
    const from = balances.get(source)?.owner ?? source;
    const transfer = { txId, index, asset: to.asset, from, to: to.owner, amount, height, time };
    arrivals.push({ account: destination, transfer });
  }
  const changes = new Map<string, bigint>();
  for (const [place, key] of keys.entries()) {
    const to = watched.get(key);
    if (to === undefined) continue;
    const change = balances.get(key)?.change ?? 0n;
    const rest = change - (net.get(key) ?? 0n);
    // Nobody but us takes coins out of our accounts, and we do it by transfers alone.
    if (rest < 0n) throw unusable(`${txId} moves other amounts than the balances of ${key} show`);
    changes.set(key, change);
    if (rest === 0n) continue;
    const index = UNEXPLAINED_FROM + place;
    const transfer = {
      txId,
      index,
      asset: to.asset,
      from: to.mint,
      to: to.owner,
      amount: rest,
      height,
      time,
    };
    arrivals.push({ account: key, transfer });
  }
  return { arrivals, changes };
}

/** The message's own, then those that it loads from tables. */
function readKeys(message: Record<string, unknown>, meta: Record<string, unknown>): string[] {
  const loaded = meta.loadedAddresses == null ? {} : readRecord(meta.loadedAddresses, 'loaded addresses');
  return [message.accountKeys, loaded.writable ?? [], loaded.readonly ?? []].flatMap((list) =>
    readList(list, 'keys').map((key) => readBase58(key, 'a key')),
  );
}

interface AccountBalance {
  owner: string | undefined;
  change: bigint;
}

/** Of the token accounts in the transaction. */
function readBalances(meta: Record<string, unknown>, keys: readonly string[]): Map<string, AccountBalance> {
  const balances = new Map<string, AccountBalance>();
  for (const [list, sign] of [
    [meta.preTokenBalances, -1n],
    [meta.postTokenBalances, 1n],
  ] as const) {
    for (const value of readList(list, 'token balances')) {
      const one = readRecord(value, 'a token balance');
      const key = keys[Number(readNumber(one.accountIndex, 'the place of an account'))];
      if (key === undefined) throw unusable('a token balance of no account');
      const { amount } = readRecord(one.uiTokenAmount, 'an amount');
      const known = balances.get(key);
      // Nodes of long ago left the owner out.
      const owner = known?.owner ?? (one.owner === undefined ? undefined : readBase58(one.owner, 'an owner'));
      balances.set(key, { owner, change: (known?.change ?? 0n) + sign * readDigits(amount, 'an amount') });
    }
  }
  return balances;
}

interface Move {
  source: string;
  destination: string;
  amount: bigint;
}

/** All transfers of tokens, in the order in which they were executed. */
function readMoves(message: unknown, meta: Record<string, unknown>, keys: readonly string[]): Move[] {
  const inner = new Map<number, unknown[]>();
  // A node that was started without them has none: another place would be another deposit, credited twice.
  for (const value of readList(meta.innerInstructions, 'inner instructions')) {
    const one = readRecord(value, 'inner instructions');
    inner.set(Number(readNumber(one.index, 'a place')), readList(one.instructions, 'inner instructions'));
  }
  const outer = readList(readRecord(message, 'a message').instructions, 'instructions');
  return outer
    .flatMap((one, place) => [one, ...(inner.get(place) ?? [])])
    .flatMap((one) => readMove(one, keys) ?? []);
}

function readMove(value: unknown, keys: readonly string[]): Move | undefined {
  const one = readRecord(value, 'an instruction');
  const program = keys[Number(readNumber(one.programIdIndex, 'a program'))];
  if (program !== TOKEN_PROGRAM && program !== TOKEN_2022) return undefined;
  const data = one.data === '' ? new Uint8Array() : base58.decode(readBase58Data(one.data));
  const accounts = readList(one.accounts, 'accounts').map(
    (place) => keys[Number(readNumber(place, 'an account'))] ?? '',
  );
  const [code, sub] = data;
  const isPlain = code === TRANSFER;
  const hasFee = code === FEE_EXTENSION && sub === TRANSFER_WITH_FEE;
  if (!isPlain && !hasFee && code !== TRANSFER_CHECKED) return undefined;
  const [source = '', second = '', third = ''] = accounts;
  const at = hasFee ? 2 : 1;
  if (data.length < at + 8) throw unusable('a transfer of tokens without an amount');
  const amount = new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(at, true);
  return { source, destination: isPlain ? second : third, amount };
}

function readBase58Data(value: unknown): string {
  if (typeof value !== 'string' || !/^[1-9A-HJ-NP-Za-km-z]{1,2000}$/.test(value))
    throw unusable('an instruction without data in base58');
  return value;
}
