import type { Db } from '../../platform/db/index.ts';
import { AMOUNT_MAX } from '../port/amounts.ts';
import type { Mandate, MandateRequest, MandateSetup, MandateState } from '../port/port.ts';
import { balancesAt } from './balances.ts';
import { balanceKey } from './execute.ts';
import { setupOf, spenderOf } from './mandates.ts';
import { type Allowed, allowancesAt, mandateStatusesAt, NEWEST } from './permission-queries.ts';
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
    const state = windowCap ? mandateStatuses.get(mandateId) : stateWithoutCollector(id, granted);
    return { state: state ?? 'missing', balance: balances.get(key) ?? 0n, allowance: granted?.amount ?? 0n };
  });
}

/** There the allowance is the mandate. A token account on spl forgets a delegate that is revoked or replaced. */
function stateWithoutCollector(
  { network }: ChainId,
  granted: Allowed | undefined,
): MandateState['state'] | undefined {
  if (network === 'spl') return granted?.isOurs === true ? 'active' : 'missing';
  return granted && (granted.isRevoked ? 'revoked' : 'active');
}

/** What a payer has to sign. As a token account on spl has one delegate, an approval there has what the wallet allows us already, too. */
export async function readSetup(db: Db, id: ChainId, request: MandateRequest): Promise<MandateSetup> {
  if (id.network !== 'spl') return setupOf(id, request);
  const { payer: owner, asset, allowance } = request;
  const query = { owners: [{ owner, asset }], spender: spenderOf(id) };
  const allowed = (await allowancesAt(db, id, query, NEWEST)).get(balanceKey(owner, asset));
  const together = allowance + (allowed?.amount ?? 0n);
  return setupOf(id, { ...request, allowance: together < AMOUNT_MAX ? together : AMOUNT_MAX });
}
