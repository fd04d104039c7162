import { parseAbi } from 'viem';

// The same contract stands on each network whose machine is Ethereum's.

const MANDATE =
  'struct Mandate { address payer; address token; bytes32 account; uint64 cap; uint32 period; uint16 subscriptions; uint40 start; uint40 end; bytes32 salt; }';

/** The question by which the contract is known. */
export const PROBE_ABI = parseAbi([MANDATE, 'function mandateIdOf(Mandate mandate) view returns (bytes32)']);

/** What we call of the collector, and what it says. */
export const COLLECTOR_ABI = parseAbi([
  MANDATE,
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
