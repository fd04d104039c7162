import { type Address, concat, encodeAbiParameters, getContractAddress, type Hex, pad } from 'viem';
import { UnbuildableTransfer } from '../port-errors.ts';
import { BatchPayout, SweepDelegate, Sweeper } from './artifacts.ts';

/**
 * The deterministic deployer: it creates a contract out of the call's data (32 bytes of salt, then init code) by CREATE2.
 * It is on mainnet and on every local node at this address.
 */
export const DEPLOYER: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C';

/** Address (EIP-55) and the data for `DEPLOYER` of a contract of ours; both follow from its code and constructor values. */
export interface Deployment {
  address: Address;
  data: Hex;
}

const SALT = pad('0x', { size: 32 });

function deploymentOf(initCode: Hex): Deployment {
  return {
    address: getContractAddress({ opcode: 'CREATE2', from: DEPLOYER, salt: SALT, bytecode: initCode }),
    data: concat([SALT, initCode]),
  };
}

export function batchPayoutDeployment(): Deployment {
  return deploymentOf(BatchPayout.bytecode);
}

/** @param operator the installation's gas tank, which sends sweeps */
export function sweeperDeployment(operator: Address): Deployment {
  const args = encodeAbiParameters([{ type: 'address' }], [operator]);
  return deploymentOf(concat([Sweeper.bytecode, args]));
}

/** @param home the merchant's hot wallet, where its deposit addresses are swept to */
export function sweepDelegateDeployment(home: Address, sweeper: Address): Deployment {
  const args = encodeAbiParameters([{ type: 'address' }, { type: 'address' }], [home, sweeper]);
  return deploymentOf(concat([SweepDelegate.bytecode, args]));
}

/** The code of an account that delegates to that contract (EIP-7702), in lower case. */
export function delegationTo(contract: Address): Hex {
  return concat(['0xef0100', contract]).toLowerCase() as Hex;
}

const UUID_FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * A batch's or refund's id as the group of `BatchPayout`: its 16 bytes, then zeros.
 *
 * @throws UnbuildableTransfer for anything but a UUID in lower case
 */
export function groupOf(id: string): Hex {
  if (!UUID_FORM.test(id)) throw new UnbuildableTransfer('a group is named by a UUID');
  return pad(`0x${id.replaceAll('-', '')}`, { dir: 'right', size: 32 });
}

/**
 * What we call of tokens. Calls that move coins have no outputs here: USDT returns nothing, and receipts and events judge,
 * never a returned value.
 */
export const TOKEN_ABI = [
  {
    type: 'function',
    name: 'transfer',
    stateMutability: 'nonpayable',
    inputs: [
      { name: 'to', type: 'address' },
      { name: 'amount', type: 'uint256' },
    ],
    outputs: [],
  },
  {
    type: 'function',
    name: 'approve',
    stateMutability: 'nonpayable',
    inputs: [
      { name: 'spender', type: 'address' },
      { name: 'amount', type: 'uint256' },
    ],
    outputs: [],
  },
  {
    type: 'function',
    name: 'allowance',
    stateMutability: 'view',
    inputs: [
      { name: 'owner', type: 'address' },
      { name: 'spender', type: 'address' },
    ],
    outputs: [{ name: '', type: 'uint256' }],
  },
  { type: 'function', name: 'paused', stateMutability: 'view', inputs: [], outputs: [{ type: 'bool' }] },
  {
    type: 'function',
    name: 'isBlackListed',
    stateMutability: 'view',
    inputs: [{ name: 'account', type: 'address' }],
    outputs: [{ name: '', type: 'bool' }],
  },
  {
    type: 'function',
    name: 'isBlacklisted',
    stateMutability: 'view',
    inputs: [{ name: 'account', type: 'address' }],
    outputs: [{ name: '', type: 'bool' }],
  },
  {
    type: 'event',
    name: 'Transfer',
    inputs: [
      { name: 'from', type: 'address', indexed: true },
      { name: 'to', type: 'address', indexed: true },
      { name: 'value', type: 'uint256', indexed: false },
    ],
  },
] as const;
