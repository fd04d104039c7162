import { NETWORKS, type Network } from '@florin/contract/money';
import type { Db } from '../../platform/db/index.ts';
import { prepared } from '../../platform/db/statements/index.ts';
import { invalidParam } from '../../platform/fail.ts';
import { checkPlainText } from '../../platform/http/index.ts';
import { checkAddress } from './check.ts';

declare module '../../platform/db/db.ts' {
  interface Tables {
    risk_address: { network: Network; address: string; reason: string; created_at_ms: bigint | number };
  }
}

/*
 * Addresses that this installation neither pays nor accepts money from, in canonical form (`AddressCheck.canonical`). An
 * error of the database propagates: without the list no address passes.
 */

export interface RiskAddress {
  network: Network;
  address: string;
  reason: string;
}

/** The sanctioned ones of these addresses (canonical form) on that network. */
export async function findSanctioned(
  db: Db,
  network: Network,
  addresses: readonly string[],
): Promise<Set<string>> {
  if (addresses.length === 0) return new Set();
  const { rows } = await prepared<{ address: string }>`
    select address from risk_address
    where network = ${network} and address = any(${[...new Set(addresses)]}::text[])`.execute(db);
  return new Set(rows.map((row) => row.address));
}

/** An address that somebody typed, in the form in which the list has it. @throws Fail param `network` or `address` */
export function riskAddressOf(networkText: string, text: string): { network: Network; address: string } {
  const network = NETWORKS.find((known) => known === networkText);
  if (network === undefined) throw invalidParam('network', `The network is one of ${NETWORKS.join(', ')}.`);
  const check = checkAddress(network, text, { allowProgramOwned: true });
  if (check.ok) return { network, address: check.canonical };
  throw invalidParam('address', `${text} is no ${network} address (${check.code}).`);
}

const REASON_MAX = 500;

/**
 * Lists an address; one that is listed gets the new reason, which people read. `nowMs`: real time.
 *
 * @throws Fail `invalid_request` with param `reason`
 */
export async function addRiskAddress(db: Db, entry: RiskAddress, nowMs: number): Promise<void> {
  checkPlainText(entry.reason, 'reason');
  if (entry.reason.length > REASON_MAX)
    throw invalidParam('reason', `reason must have ${REASON_MAX} characters at most.`);
  await db
    .insertInto('risk_address')
    .values({ ...entry, created_at_ms: nowMs })
    .onConflict((conflict) => conflict.columns(['network', 'address']).doUpdateSet({ reason: entry.reason }))
    .execute();
}

/** @returns whether it was listed */
export async function removeRiskAddress(db: Db, network: Network, address: string): Promise<boolean> {
  const result = await db
    .deleteFrom('risk_address')
    .where('network', '=', network)
    .where('address', '=', address)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** As it was typed, and as each network keeps it. */
const formsOf = (text: string): string[] => [
  text,
  ...NETWORKS.flatMap((network) => {
    const check = checkAddress(network, text, { allowProgramOwned: true });
    return check.ok ? [check.canonical] : [];
  }),
];

/** A page of the list, ordered by network and address; `after` is the last entry of the page before. */
export function listRiskAddresses(
  db: Db,
  page: {
    limit: number;
    address?: string | undefined;
    after?: { network: Network; address: string } | undefined;
  },
): Promise<RiskAddress[]> {
  const { after, address } = page;
  return db
    .selectFrom('risk_address')
    .select(['network', 'address', 'reason'])
    .$if(after !== undefined, (query) =>
      query.where((eb) =>
        eb(eb.refTuple('network', 'address'), '>', eb.tuple(after?.network ?? 'erc20', after?.address ?? '')),
      ),
    )
    .$if(address !== undefined, (query) => query.where('address', 'in', formsOf(address ?? '')))
    .orderBy('network')
    .orderBy('address')
    .limit(page.limit)
    .execute();
}
