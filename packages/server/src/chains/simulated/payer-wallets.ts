import type { Asset } from '@florin/contract/money';
import type { Tx } from '../../platform/db/index.ts';
import { applyChanges, BalanceChanges, readBalances } from './balances.ts';
import { type ChainRow, updateChain } from './chain-queries.ts';
import { foreignTxId } from './envelope.ts';
import { balanceKey } from './execute.ts';
import { insertPermissions, type Permission } from './permission-queries.ts';
import { receive } from './receive.ts';
import type { ChainId } from './tables.ts';
import { faucetAddress } from './test-addresses.ts';
import { upsertTransaction } from './transaction-queries.ts';

// Payers' wallets whose balances this chain tracks, as charges are pulled from them; the sandbox controls them.

interface PayerTransaction {
  /** Names the payer's transaction. */
  reference: string;
  height: bigint;
}

/** Records approvals, activations or revocations of a payer's wallet, in one transaction. @returns its id */
export async function recordPermissions(
  tx: Tx,
  id: ChainId,
  row: ChainRow,
  {
    owner,
    permissions,
    reference,
    height,
  }: PayerTransaction & { owner: string; permissions: readonly Permission[] },
): Promise<string> {
  const txId = foreignTxId(id.network, `${id.merchantId} payer ${reference}`);
  await upsertTransaction(tx, id, {
    txId,
    origin: 'foreign',
    sender: owner,
    sequence: null,
    raw: null,
    fee: 0n,
    arrival: row.next_arrival,
    notBefore: 0,
    height,
  });
  await insertPermissions(tx, id, permissions, { txId, owner, height, firstNumber: row.next_transfer });
  await updateChain(tx, id, {
    next_arrival: row.next_arrival + 1n,
    next_transfer: row.next_transfer + BigInt(permissions.length),
  });
  return txId;
}

/** Sets the wallet's balance: the faucet pays the difference, or receives it. */
export async function setBalance(
  tx: Tx,
  id: ChainId,
  row: ChainRow,
  wallet: PayerTransaction & { owner: string; asset: Asset; balance: bigint; time: number },
): Promise<void> {
  const { owner, asset, balance, reference, height, time } = wallet;
  const known = await readBalances(tx, id, [owner]);
  const change = balance - (known.get(balanceKey(owner, asset)) ?? 0n);
  if (change === 0n) return;
  const faucet = faucetAddress(id.network);
  const transfer =
    change > 0n
      ? { from: faucet, to: owner, asset, amount: change }
      : { from: owner, to: faucet, asset, amount: -change, fromAccount: true };
  await receive(tx, id, row, { transfers: [transfer], reference: `payer ${reference}`, height, time });
  if (change > 0n) return;
  const changes = new BalanceChanges();
  changes.add(owner, asset, change);
  await applyChanges(tx, id, changes);
}
