import type { Db } from '../../platform/db/index.ts';
import type { Mandate, MandateState } from '../port/port.ts';
import { balancesAt } from './balances.ts';
import { balanceKey } from './execute.ts';
import { spenderOf } from './mandates.ts';
import { allowancesAt, mandateStatusesAt } from './permission-queries.ts';
import { NETWORK_RULES } from './rules.ts';
import type { ChainId } from './tables.ts';

/** The state of mandates and their wallets at the end of a block, in the order of `mandates`. */
export async function readMandateStates(
  db: Db,
  id: ChainId,
  mandates: readonly Mandate[],
  height: bigint,
): Promise<MandateState[]> {
  const owners = mandates.map(({ payer, asset }) => ({ owner: payer, asset }));
  const allowed = await allowancesAt(db, id, { owners, spender: spenderOf(id) }, height);
  const ids = mandates.map(({ mandateId }) => mandateId);
  const mandateStatuses = await mandateStatusesAt(db, id, ids, height);
  const balances = new Map<string, bigint>();
  for (const [asset, own] of Map.groupBy(mandates, (mandate) => mandate.asset)) {
    const addresses = own.map(({ payer }) => payer);
    const found = await balancesAt(db, id, { addresses, asset }, height);
    for (const [address, balance] of found) balances.set(balanceKey(address, asset), balance);
  }
  const { windowCap } = NETWORK_RULES[id.network].capabilities;
  return mandates.map(({ mandateId, payer, asset }) => {
    const key = balanceKey(payer, asset);
    const granted = allowed.get(key);
    // Without a collector the allowance is the mandate.
    const withoutCollector = granted && (granted.isRevoked ? ('revoked' as const) : ('active' as const));
    const state = (windowCap ? mandateStatuses.get(mandateId) : withoutCollector) ?? 'missing';
    return { state, balance: balances.get(key) ?? 0n, allowance: granted?.amount ?? 0n };
  });
}
