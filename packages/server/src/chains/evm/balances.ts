import { ChainUnavailable } from '../port/port-errors.ts';
import { NodeError } from '../rpc/node.ts';
import { slicesOf } from '../rpc/slices.ts';
import type { EvmNode } from './node.ts';
import { readBytes, toQuantity } from './node-answers.ts';

/** Reads of one call: 6.5 kB of data, and 2 million gas where the token is behind a proxy. */
const READS_MAX = 200;
const WORD_BYTES = 32;

// Creation code that answers with balances where a contract's code would stand: many reads in one call, as of one block,
// without a contract on the chain. Behind it stand the token and the addresses, a word each.
const READER = [
  '604a80380380915f39', // CODECOPY(0, 74, size = CODESIZE - 74): the token at 0, addresses from 32 on
  '6370a0823160e01b8152', // MSTORE(size, selector of balanceOf)
  '6020', // i = 32
  '5b81811015603d57', // 21: go to 61 unless i < size
  '80518260040152', // MSTORE(size + 4, address at i)
  '6020816024845f515afa', // STATICCALL(gas, token, size, 36, i, 32)
  '3d601f101615604657', // go to 70 unless it succeeded with a word
  '602001601556', // i += 32, go to 21
  '5b50602090036020f3', // 61: RETURN(32, size - 32)
  '5b5f5ffd', // 70: revert
].join('');

export interface BalanceRead {
  token: string;
  addresses: readonly string[];
  height: bigint;
  /** Whether two endpoints must agree. */
  endpoints: 'one' | 'two';
}

/**
 * Balances of a token as of that block, without those that are 0.
 *
 * @throws ChainUnavailable, also where no endpoint has the state of that block any more
 */
export async function readBalances(node: EvmNode, read: BalanceRead): Promise<Map<string, bigint>> {
  const { token, height, endpoints } = read;
  const addresses = [...new Set(read.addresses)];
  const parts = slicesOf(addresses, READS_MAX);
  const requests = parts.map((part) => ({
    method: 'eth_call',
    params: [{ data: `0x${READER}${[token, ...part].map(wordOf).join('')}` }, toQuantity(height)],
  }));
  const answers = endpoints === 'two' ? await node.agreedMany(requests) : await node.callMany(requests);
  const balances = new Map<string, bigint>();
  for (const [place, part] of parts.entries()) {
    const answer = answers[place];
    if (answer instanceof NodeError)
      throw new ChainUnavailable(
        'erc20',
        `balances at block ${height} cannot be read: ${answer.message}`,
        answer,
      );
    const bytes = Buffer.from(readBytes(answer, 'the balances', part.length * WORD_BYTES).slice(2), 'hex');
    for (const [i, address] of part.entries()) {
      const balance = BigInt(`0x${bytes.toString('hex', i * WORD_BYTES, (i + 1) * WORD_BYTES)}`);
      if (balance > 0n) balances.set(address, balance);
    }
  }
  return balances;
}

function wordOf(address: string): string {
  return address
    .slice(2)
    .toLowerCase()
    .padStart(2 * WORD_BYTES, '0');
}
