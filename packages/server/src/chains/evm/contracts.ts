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
  'function nonces(address owner) view returns (uint256)',
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
  'function paused() view returns (bool)',
  'function isBlackListed(address account) view returns (bool)',
  'function isBlacklisted(address account) view returns (bool)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);

/** An approval as payers sign it (EIP-2612). */
export const PERMIT_TYPES = {
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const;
