import { solanaAddressOf, TOKEN_PROGRAM } from '@florin/signer/solana';
import { slicesOf } from '../rpc/slices.ts';
import type { Commitment, SolanaNode } from './node.ts';
import { orUnavailable, readBase64, readContext, readList, readRecord, unusable } from './node-answers.ts';

/** A node answers with so many accounts at once. */
export const ACCOUNTS_PER_CALL = 100;
const MINT_END = 32;
const OWNER_END = 64;
const AMOUNT_END = 72;

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
  const amounts = new Map<string, bigint>();
  let slots: Amounts['slots'];
  const method = query.endpoints === 'two' ? 'agreed' : 'call';
  for (const part of slicesOf(query.accounts, ACCOUNTS_PER_CALL)) {
    const config = {
      encoding: 'base64',
      dataSlice: { offset: 0, length: AMOUNT_END },
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
      const amount = readAmount(found[place], one);
      if (amount !== undefined) amounts.set(one.account, amount);
    }
    slots = {
      from: least(slots?.from ?? slot, slot),
      to: slot > (slots?.to ?? slot) ? slot : (slots?.to ?? slot),
    };
  }
  return { amounts, slots };
}

const least = (a: bigint, b: bigint) => (a < b ? a : b);

/** Undefined: there is no such account, or nobody has opened it as what it is derived for. */
function readAmount(
  value: unknown,
  { account, owner, mint }: AmountsQuery['accounts'][number],
): bigint | undefined {
  if (value === null) return undefined;
  const record = readRecord(value, `the account ${account}`);
  // Lamports that somebody sent to the address of a token account make it an account of the system program.
  if (record.owner !== TOKEN_PROGRAM) return undefined;
  const data = readBase64(record.data, `the account ${account}`);
  if (data.length < AMOUNT_END) return undefined;
  if (solanaAddressOf(data.slice(0, MINT_END)) !== mint) throw unusable(`${account} is of another mint`);
  // Its owner can hand a token account over. It is then nobody's of ours, whatever lies in it.
  if (solanaAddressOf(data.slice(MINT_END, OWNER_END)) !== owner) return undefined;
  return new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(OWNER_END, true);
}
