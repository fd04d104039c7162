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

/** What we call of the collector, and what it says. */
export const COLLECTOR_ABI = parseAbi([
  'struct Mandate { address payer; address token; bytes32 account; uint64 cap; uint32 period; uint16 subscriptions; uint40 start; uint40 end; bytes32 salt; }',
  'struct Charge { bytes32 id; bytes32 subscription; uint64 amount; uint32 windowStart; uint32 windowEnd; }',
  'struct Permit { uint256 value; uint256 deadline; uint8 v; bytes32 r; bytes32 s; }',
  'struct Query { bytes32 mandate; address token; address payer; }',
  'struct Answer { uint8 status; uint256 subscriptions; uint256 balance; uint256 allowance; }',
  'function open(address owner, address operator, address home)',
  'function activate(Mandate mandate, bytes signature)',
  'function activateWithPermit(Mandate mandate, bytes signature, Permit permit)',
  'function charge(Mandate mandate, Charge charge_)',
  'function accountAt(bytes32 id) view returns (address owner, address operator, address home, address nextHome, uint256 movesAt)',
  'function read(Query[] queries) view returns (Answer[] answers)',
  'event Charged(bytes32 indexed account, bytes32 indexed id, bytes32 indexed mandate, uint256 amount)',
  'event ChargedBefore(bytes32 indexed account, bytes32 indexed id)',
  'error AlreadyOpen()',
  'error AlreadyActive()',
  'error BadSignature()',
  'error InsufficientBalance()',
  'error InsufficientAllowance()',
  'error TransferFailed()',
  'error CapExceeded()',
  'error BadWindow()',
  'error TooManySubscriptions()',
  'error MandateRevoked()',
  'error MandateMissing()',
  'error OutsideTerm()',
]);

/** A mandate as payers sign it (EIP-712). */
export const MANDATE_TYPES = {
  Mandate: [
    { name: 'payer', type: 'address' },
    { name: 'token', type: 'address' },
    { name: 'account', type: 'bytes32' },
    { name: 'cap', type: 'uint64' },
    { name: 'period', type: 'uint32' },
    { name: 'subscriptions', type: 'uint16' },
    { name: 'start', type: 'uint40' },
    { name: 'end', type: 'uint40' },
    { name: 'salt', type: 'bytes32' },
  ],
} as const;

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
