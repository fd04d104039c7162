import type { Tx } from '../../platform/db/index.ts';
import { type ChargeState, emptyChargeState } from './charge-rules.ts';
import { balanceKey, type PooledTx } from './execute.ts';
import { spenderOf } from './mandates.ts';
import { allowancesAt, listServed, listUses, mandateStatusesAt, NEWEST } from './permission-queries.ts';
import { NETWORK_RULES } from './rules.ts';
import type { ChainId } from './tables.ts';

/** Reads the state of the mandates whose charges are in the pool. */
export async function readChargeState(
  tx: Tx,
  id: ChainId,
  pool: readonly Pick<PooledTx, 'body'>[],
): Promise<ChargeState> {
  const charges = pool.flatMap(({ body }) => (body.charge === undefined ? [] : [body.charge]));
  if (charges.length === 0) return emptyChargeState();
  const owners = charges.map(({ mandate }) => ({ owner: mandate.payer, asset: mandate.asset }));
  const allowed = await allowancesAt(tx, id, { owners, spender: spenderOf(id) }, NEWEST);
  const ids = charges.map(({ mandate }) => mandate.mandateId);
  const { windowCap } = NETWORK_RULES[id.network].capabilities;
  const windows = charges.map(({ mandate: { mandateId }, ...window }) => ({ mandateId, ...window }));
  const counted = charges.flatMap(({ mandate }) =>
    mandate.subscriptions === undefined ? [] : [mandate.mandateId],
  );
  // On spl nothing tells a revocation from an approval that never was.
  const revoked = [...allowed].filter(([, one]) => one.isRevoked && id.network !== 'spl').map(([key]) => key);
  const mandateStatuses = await mandateStatusesAt(tx, id, ids, NEWEST);
  for (const { mandate } of charges) {
    if (revoked.includes(balanceKey(mandate.payer, mandate.asset)))
      mandateStatuses.set(mandate.mandateId, 'revoked');
  }
  return {
    allowances: new Map([...allowed].map(([key, { amount }]) => [key, amount])),
    mandateStatuses,
    uses: windowCap ? await listUses(tx, id, windows) : [],
    served: windowCap ? await listServed(tx, id, counted) : new Map(),
  };
}
