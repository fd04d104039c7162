import type { Address, Hex } from 'viem';

// A contract for tests that pays from many wallets in one transaction: its call data is a list of (contract, 100 bytes of
// `transferFrom`), and it makes these calls in order. It reverts where one fails.
const RUNTIME = [
  '5f', // i = 0
  '5b80361115602557', // while i < CALLDATASIZE
  '606481602001' + '5f37', // CALLDATACOPY(0, i + 32, 100)
  '5f5f60645f5f85355af1', // CALL(gas, contract at i, 0, 0, 100, 0, 0)
  '15602757', // revert unless it succeeded
  '608401600156', // i += 132
  '5b00',
  '5b5f5ffd',
].join('');

export const BATCHER: { abi: []; bytecode: Hex } = {
  abi: [],
  bytecode: `0x60${(RUNTIME.length / 2).toString(16)}8060095f395ff3${RUNTIME}`,
};

const TRANSFER_FROM = '23b872dd';

interface Call {
  token: Address;
  from: string;
  to: string;
  amount: bigint;
}

export function batchData(calls: readonly Call[]): Hex {
  const word = (hex: string) => hex.replace('0x', '').toLowerCase().padStart(64, '0');
  return `0x${calls
    .map(
      ({ token, from, to, amount }) =>
        word(token) + TRANSFER_FROM + word(from) + word(to) + word(amount.toString(16)),
    )
    .join('')}`;
}
