import { Balances, LedgerEntryList, LedgerEntryQuery } from '@florin/contract/schemas';
import type { Db } from '../platform/db/index.ts';
import { pageOf } from '../platform/db/lists/index.ts';
import { defineList, defineRoute, type Route } from '../platform/http/index.ts';
import type { Platform } from '../platform/platform.ts';
import { cursorIdOf, decodeId } from '../tenancy/index.ts';
import { presentBalances, presentEntry } from './balances/present.ts';
import { listEntries, readBalances } from './balances/queries.ts';
import { CAUSE_KINDS, type CauseNames } from './causes.ts';

/** The causes that a public id may mean: a merchant's own id may look like ours. Empty for an unknown id. */
async function causesOf(
  { db, names }: { db: Db; names: CauseNames },
  merchantId: string,
  text: string,
): Promise<string[]> {
  const ids = Object.values(CAUSE_KINDS).map((kind) => decodeId(kind, text));
  return [...ids, await names.findByName(db, merchantId, text)].filter((id) => id !== undefined);
}

/** @param names looks up merchants' own ids of causes */
export function ledgerRoutes(platform: Platform, names: CauseNames): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/balances',
      operationId: 'retrieveBalances',
      tag: 'Ledger',
      summary: 'Read the balances of the merchant',
      scope: 'read',
      answer: Balances,
      refusals: [],
      handle: async ({ caller }) => ({
        body: presentBalances(await readBalances(platform.db, caller.merchantId)),
      }),
    }),
    defineList({
      path: '/api/v1/ledger_entries',
      operationId: 'listLedgerEntries',
      tag: 'Ledger',
      summary: 'List the ledger entries of the merchant, newest first',
      query: LedgerEntryQuery,
      answer: LedgerEntryList,
      refusals: [],
      read: async ({ caller: { merchantId }, query }, { after: id, ...slice }) => {
        const after = cursorIdOf('ledgerEntry', id);
        const { db } = platform;
        const filter = {
          currency: query.currency,
          account: query.account,
          causeIds:
            query.cause === undefined ? undefined : await causesOf({ db, names }, merchantId, query.cause),
        };
        const rows = await listEntries(db, merchantId, { ...slice, after, ...filter });
        const named = rows.filter((row) => row.cause_type === 'refund').map((row) => row.cause_id);
        const known =
          named.length === 0 ? new Map<string, string>() : await names.namesOf(db, merchantId, named);
        return pageOf(rows, slice, (row) => presentEntry(row, known));
      },
    }),
  ];
}
