import { createHash } from 'node:crypto';
import type { TronBlock } from './chain.ts';
import type { Refusal } from './check.ts';
import { limitOf, PARAMETERS, TOTAL_WEIGHT, type TronAccount, usedAt } from './resources.ts';
import type { TransactionInfo } from './run.ts';
import { base58Address, type TronTransaction } from './wire.ts';

/** As java-tron writes JSON: what is zero or empty is left out. */
function withoutZeros(fields: Record<string, unknown>) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== 0 && value !== undefined));
}

export function hexOf(text: string): string {
  return Buffer.from(text).toString('hex');
}

export function presentBlock(block: TronBlock, withTransactions = true) {
  const { number, id, parent, time, included } = block;
  return {
    blockID: id,
    block_header: {
      raw_data: {
        ...withoutZeros({ number }),
        txTrieRoot: rootOf(included.map(({ tx }) => tx.id)),
        witness_address: `41${'ab'.repeat(20)}`,
        parentHash: parent,
        version: 32,
        timestamp: time,
      },
      witness_signature: '00'.repeat(65),
    },
    ...(withTransactions &&
      included.length > 0 && { transactions: included.map(({ tx, info }) => presentTransaction(tx, info)) }),
  };
}

/** Zeros where there is no transaction, as java-tron has it; what else it is nobody here can check. */
function rootOf(ids: readonly string[]): string {
  return ids.length === 0 ? '0'.repeat(64) : createHash('sha256').update(ids.join()).digest('hex');
}

export function presentTransaction(tx: TronTransaction, info?: TransactionInfo) {
  return {
    ...(info !== undefined && { ret: [{ contractRet: info.receipt.result ?? 'SUCCESS' }] }),
    signature: tx.signatures,
    txID: tx.id,
    raw_data: tx.raw,
    raw_data_hex: tx.rawHex,
  };
}

export function presentRefusal(tx: { id: string } | undefined, { code, message }: Refusal) {
  return { code, ...(tx !== undefined && { txid: tx.id }), message: hexOf(message) };
}

export function presentAccount(account: TronAccount, visible: boolean) {
  const { address, balance, createdAt, frozen, delegatedIn, delegatedOut } = account;
  const sum = (amounts: Record<string, number>) => Object.values(amounts).reduce((all, one) => all + one, 0);
  return {
    address: visible ? base58Address(address) : address,
    ...withoutZeros({ balance, delegated_frozenV2_balance_for_bandwidth: sum(delegatedOut.bandwidth) }),
    ...withoutZeros({ acquired_delegated_frozenV2_balance_for_bandwidth: delegatedIn.bandwidth }),
    create_time: createdAt,
    account_resource: withoutZeros({
      delegated_frozenV2_balance_for_energy: sum(delegatedOut.energy),
      acquired_delegated_frozenV2_balance_for_energy: delegatedIn.energy,
    }),
    frozenV2: [
      withoutZeros({ amount: frozen.bandwidth }),
      { type: 'ENERGY', ...withoutZeros({ amount: frozen.energy }) },
      { type: 'TRON_POWER' },
    ],
  };
}

export function presentResources(account: TronAccount, now: number) {
  const { usage } = account;
  return withoutZeros({
    freeNetUsed: usedAt(usage.free, now),
    freeNetLimit: PARAMETERS.getFreeNetLimit,
    NetUsed: usedAt(usage.bandwidth, now),
    NetLimit: limitOf(account, 'bandwidth'),
    TotalNetLimit: PARAMETERS.getTotalNetLimit,
    TotalNetWeight: TOTAL_WEIGHT.bandwidth,
    EnergyUsed: usedAt(usage.energy, now),
    EnergyLimit: limitOf(account, 'energy'),
    TotalEnergyLimit: PARAMETERS.getTotalEnergyCurrentLimit,
    TotalEnergyWeight: TOTAL_WEIGHT.energy,
  });
}
