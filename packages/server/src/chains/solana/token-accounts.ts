import { solanaAddressOf, TOKEN_PROGRAM } from '@florin/signer/solana';
import { slicesOf } from '../rpc/slices.ts';
import type { Commitment, SolanaNode } from './node.ts';
import { orUnavailable, readBase64, readContext, readList, readRecord, unusable } from './node-answers.ts';

/** A node answers with so many accounts at once. */
export const ACCOUNTS_PER_CALL = 100;
const MINT_END = 32;
const OWNER_END = 64;
const AMOUNT_END = 72;
/** Behind four bytes that say whether there is one. */
const DELEGATE_BEGIN = 76;
const DELEGATE_END = 108;
/** Whether it can be used. */
const STATE_BEGIN = DELEGATE_END;
const FROZEN = 2;
const DELEGATED_BEGIN = 121;
const DELEGATED_END = 129;

/** What token accounts hold; nodes answer parts of a long list as of different slots. */
export interface Amounts {
  /** Account → units. An account that is not on the chain is absent. */
  amounts: ReadonlyMap<string, bigint>;
  /** The lowest and the highest slot that they are as of; undefined where nothing was read. */
  slots: { from: bigint; to: bigint } | undefined;
}

export interface AmountsQuery {
  accounts: readonly { account: string; owner: string; mint: string }[];
  commitment: Commitment;
  /** Nodes that have not reached it refuse. */
  minSlot: bigint;
  /** `two`: endpoints must agree, for whatever decides money. */
  endpoints: 'one' | 'two';
}

/** @throws ChainUnavailable */
export async function readAmounts(node: SolanaNode, query: AmountsQuery): Promise<Amounts> {
  const { found, slots } = await readAccounts(node, query, { bytes: AMOUNT_END, read: amountIn });
  return { amounts: found, slots };
}

/** Those that are on the chain, whatever they hold. @throws ChainUnavailable */
export async function readPresent(node: SolanaNode, query: AmountsQuery): Promise<ReadonlySet<string>> {
  const { found } = await readAccounts(node, query, { bytes: OWNER_END, read: () => true });
  return new Set(found.keys());
}

const amountIn = (data: DataView): bigint => data.getBigUint64(OWNER_END, true);

/** What a token account holds, and whom its owner lets take some of it. */
export interface Allowing {
  amount: bigint;
  delegate: string | null;
  /** What the delegate may still take. */
  delegated: bigint;
}

/** As `readAmounts`, with the delegate of each account: there is one at most. @throws ChainUnavailable */
export async function readAllowing(node: SolanaNode, query: AmountsQuery) {
  return await readAccounts(node, query, { bytes: DELEGATED_END, read: allowingIn });
}

function allowingIn(data: DataView): Allowing {
  const amount = amountIn(data);
  if (data.getUint32(AMOUNT_END, true) === 0) return { amount, delegate: null, delegated: 0n };
  const key = new Uint8Array(data.buffer, data.byteOffset + DELEGATE_BEGIN, DELEGATE_END - DELEGATE_BEGIN);
  return { amount, delegate: solanaAddressOf(key), delegated: data.getBigUint64(DELEGATED_BEGIN, true) };
}

/**
 * By the word of two endpoints, as of that slot or a later one. `frozen`: the token's issuer lets nothing be moved out of the account, nor
 * into it.
 *
 * @throws ChainUnavailable
 */
export async function readAccountState(
  node: SolanaNode,
  { account, minSlot }: { account: string; minSlot: bigint },
): Promise<'missing' | 'frozen' | 'usable'> {
  // That byte alone: what an account holds moves while it is read.
  const dataSlice = { offset: STATE_BEGIN, length: 1 };
  const config = { encoding: 'base64', dataSlice, commitment: 'confirmed', minContextSlot: Number(minSlot) };
  const answer = await orUnavailable(node.agreed('getMultipleAccounts', [[account], config]));
  const [value = null] = readList(readContext(answer, 'getMultipleAccounts').value, 'getMultipleAccounts');
  if (value === null) return 'missing';
  const what = `the account ${account}`;
  const [state] = readBase64(readRecord(value, what).data, what);
  if (state === undefined) return 'missing';
  return state === FROZEN ? 'frozen' : 'usable';
}

/** @param form so many bytes of each account, and what is read from them */
async function readAccounts<One>(
  node: SolanaNode,
  query: AmountsQuery,
  form: { bytes: number; read: (data: DataView) => One },
): Promise<{ found: ReadonlyMap<string, One>; slots: Amounts['slots'] }> {
  const known = new Map<string, One>();
  let slots: Amounts['slots'];
  const method = query.endpoints === 'two' ? 'agreed' : 'call';
  for (const part of slicesOf(query.accounts, ACCOUNTS_PER_CALL)) {
    const config = {
      encoding: 'base64',
      dataSlice: { offset: 0, length: form.bytes },
      commitment: query.commitment,
      minContextSlot: Number(query.minSlot),
    };
    const params = [part.map(({ account }) => account), config];
    const answer = await orUnavailable(node[method]('getMultipleAccounts', params));
    const { slot, value } = readContext(answer, 'getMultipleAccounts');
    if (slot < query.minSlot) throw unusable(`accounts as of slot ${slot}, asked for ${query.minSlot}`);
    const found = readList(value, 'getMultipleAccounts');
    if (found.length !== part.length) throw unusable(`${found.length} accounts, asked for ${part.length}`);
    for (const [place, one] of part.entries()) {
      const data = readData(found[place], one, form.bytes);
      if (data !== undefined) known.set(one.account, form.read(data));
    }
    slots = {
      from: least(slots?.from ?? slot, slot),
      to: slot > (slots?.to ?? slot) ? slot : (slots?.to ?? slot),
    };
  }
  return { found: known, slots };
}

const least = (a: bigint, b: bigint) => (a < b ? a : b);

/** Undefined: there is no such account, or nobody has opened it as what it is derived for. */
function readData(
  value: unknown,
  { account, owner, mint }: AmountsQuery['accounts'][number],
  bytes: number,
): DataView | undefined {
  if (value === null) return undefined;
  const record = readRecord(value, `the account ${account}`);
  // Lamports that somebody sent to the address of a token account make it an account of the system program.
  if (record.owner !== TOKEN_PROGRAM) return undefined;
  const data = readBase64(record.data, `the account ${account}`);
  if (data.length < bytes) return undefined;
  if (solanaAddressOf(data.slice(0, MINT_END)) !== mint) throw unusable(`${account} is of another mint`);
  // Its owner can hand a token account over. It is then nobody's of ours, whatever lies in it.
  if (solanaAddressOf(data.slice(MINT_END, OWNER_END)) !== owner) return undefined;
  return new DataView(data.buffer, data.byteOffset, data.byteLength);
}
