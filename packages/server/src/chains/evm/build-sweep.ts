import { type Address, encodeFunctionData, type Hex } from 'viem';
import { DEPOSIT_INDEX_MAX, type SweepItem, UnbuildableTransfer } from '../port/port.ts';
import type { AskedPurpose } from '../signing/ask-signer.ts';
import { Sweeper } from './artifacts.ts';
import { epochField } from './build-movement.ts';
import { plainCall, tokenOf } from './build-transfer.ts';
import { delegationTo } from './contracts.ts';
import { type GasUse, gasLimit, mostThatFit } from './gas.ts';
import type { EvmNetwork } from './network.ts';
import type { Call } from './transaction.ts';

/** Deposit addresses of one sweep. */
const SWEEPS_MAX = 50;

/** A deposit address as of the newest block. */
export interface DepositState {
  index: number;
  address: Address;
  /** In lower case; `0x` where it does not delegate. */
  code: Hex;
  nonce: bigint;
}

export interface BuiltSweep {
  call: Call;
  purpose: AskedPurpose;
  /** Addresses that are to delegate in this transaction. */
  delegating: readonly DepositState[];
}

/** Deposit addresses that one sweep may empty; 0 where the network has no sweeper. */
export function maxSweeps({ sweeper, feeCeilings }: EvmNetwork): number {
  if (sweeper === null) return 0;
  const use = (n: number): GasUse => ({ kind: 'sweep', addresses: n, authorizations: n });
  return mostThatFit(SWEEPS_MAX, feeCeilings.gasPerTransaction, use);
}

/** @throws UnbuildableTransfer */
export function assertSweepable(network: EvmNetwork, items: readonly SweepItem[]): void {
  const most = maxSweeps(network);
  if (most === 0) throw new UnbuildableTransfer(`${network.name} has no sweeper`);
  if (items.length < 1 || items.length > most) {
    throw new UnbuildableTransfer(`${network.name} sweeps 1 to ${most} deposits a transaction`);
  }
  for (const { itemId, index, amount } of items) {
    if (amount <= 0n) throw new UnbuildableTransfer(`item ${itemId}: amount out of range`);
    if (!Number.isInteger(index) || index < 0 || index > DEPOSIT_INDEX_MAX) {
      throw new UnbuildableTransfer(`item ${itemId}: no deposit address has the number ${index}`);
    }
  }
  const deposits = items.map(({ index, asset }) => `${index} ${asset}`);
  if (new Set(deposits).size < deposits.length) {
    throw new UnbuildableTransfer('a deposit address is swept of one asset twice');
  }
}

/**
 * The sweep of those deposits by `Sweeper`. An address whose code is not the delegation to `delegate` gets one in the same
 * transaction; the signer makes the authorizations.
 *
 * @param states of every deposit address of `items`
 * @throws UnbuildableTransfer
 */
export function buildSweepCall(
  network: EvmNetwork,
  { items, states, delegate, merchant, account, epoch }: SweepPlan,
): BuiltSweep {
  assertSweepable(network, items);
  const expected = delegationTo(delegate);
  const addresses = new Map(states.map((state) => [state.index, state.address]));
  const delegating = states.filter(({ code }) => code !== expected);
  const sweeps = items.map(({ index, asset, amount }) => {
    const from = addresses.get(index);
    if (from === undefined) throw new Error(`the deposit address ${index} was not read`);
    return { from, token: tokenOf(network, asset), amount };
  });
  const data = encodeFunctionData({ abi: Sweeper.abi, functionName: 'sweep', args: [sweeps] });
  const use: GasUse = { kind: 'sweep', addresses: items.length, authorizations: delegating.length };
  const gas = gasLimit(use, network.feeCeilings.gasPerTransaction);
  return {
    call: { ...plainCall(sweeperOf(network), data, gas), isDelegating: delegating.length > 0 },
    delegating,
    purpose: {
      kind: 'sweep',
      merchant,
      account,
      ...epochField(epoch),
      deposits: items.map(({ index, asset, amount }) => ({ index, asset, amount: String(amount) })),
      delegates: delegating.map(({ index, nonce }) => ({ index, nonce: String(nonce) })),
    },
  };
}

export interface SweepPlan {
  items: readonly SweepItem[];
  states: readonly DepositState[];
  /** The merchant's `SweepDelegate`. */
  delegate: Address;
  merchant: string;
  account: number;
  /** Of the hot wallet that it goes to. */
  epoch: number;
}

function sweeperOf({ name, sweeper }: EvmNetwork): Address {
  if (sweeper === null) throw new UnbuildableTransfer(`${name} has no sweeper`);
  return `0x${sweeper.slice(2)}`;
}
