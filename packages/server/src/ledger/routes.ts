import { Balances, LedgerEntryList, LedgerEntryQuery } from '@florin/contract/schemas';
import { defineRoute, type Route } from '../platform/http/index.ts';
import { decodeId, NIL_ID } from '../platform/ids.ts';
import { PAGE_LIMIT_DEFAULT, pageOf, unknownCursor } from '../platform/page.ts';
import type { Platform } from '../platform/platform.ts';
import { CAUSE_KINDS } from './causes.ts';
import { presentBalances, presentEntry } from './present.ts';
import { listEntries, readBalances } from './queries.ts';

/** An id of no kind that causes entries finds none, like an unknown one. */
function causeOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const ids = Object.values(CAUSE_KINDS).map((kind) => decodeId(kind, text));
  return ids.find((id) => id !== undefined) ?? NIL_ID;
}

export function ledgerRoutes(platform: Platform): Route[] {
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
    defineRoute({
      method: 'GET',
      path: '/api/v1/ledger_entries',
      operationId: 'listLedgerEntries',
      tag: 'Ledger',
      summary: 'List the ledger entries of the merchant, newest first',
      scope: 'read',
      query: LedgerEntryQuery,
      answer: LedgerEntryList,
      refusals: [],
      handle: async ({ caller, query, url }) => {
        const limit = query.limit ?? PAGE_LIMIT_DEFAULT;
        const after = query.starting_after && decodeId('ledgerEntry', query.starting_after);
        if (query.starting_after !== undefined && after === undefined) throw unknownCursor();
        const filter = {
          currency: query.currency,
          account: query.account,
          causeId: causeOf(query.cause),
        };
        const rows = await listEntries(platform.db, caller.merchantId, { limit, after, ...filter });
        return { body: pageOf(rows, { limit, url }, presentEntry) };
      },
    }),
  ];
}
