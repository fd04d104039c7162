import { type Address, concat, type Hex, parseAbi } from 'viem';

/** The code of an account that delegates to that contract (EIP-7702), in lower case. */
export function delegationTo(contract: Address): Hex {
  return concat(['0xef0100', contract]).toLowerCase() as Hex;
}

/**
 * What we call of tokens. Calls that move coins have no outputs here: USDT returns nothing, and receipts and events judge,
 * never a returned value.
 */
export const TOKEN_ABI = parseAbi([
  'function transfer(address to, uint256 amount)',
  'function approve(address spender, uint256 amount)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function paused() view returns (bool)',
  'function isBlackListed(address account) view returns (bool)',
  'function isBlacklisted(address account) view returns (bool)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);
