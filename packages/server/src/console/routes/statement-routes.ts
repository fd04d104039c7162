import { formatTokens, NETWORKS } from '@florin/contract/money';
import Type from 'typebox';
import type { Db } from '../../platform/db/index.ts';
import { defineRoute, type Route, type RouteRequest } from '../../platform/http/index.ts';
import { getMerchant } from '../../stores/index.ts';
import { encodeId } from '../../tenancy/index.ts';
import type { ConsoleDeps } from '../accounts/index.ts';
import { type Period, periodOf } from '../reports/period.ts';
import { readStatement } from '../reports/read-statement.ts';
import { type AccountStatement, MOVEMENT_KINDS } from '../reports/statement.ts';
import { needs, userOf } from './own.ts';

/** Changes that had begun before a period ended are committed by then. */
const SETTLED_SECONDS = 3_600;

const Network = Type.Union([Type.String({ enum: [...NETWORKS] }), Type.Null()]);
const Amount = Type.String({ description: 'In tokens, with all of its decimals.' });
const UnixTime = Type.Integer({ format: 'unix-time' });
const Statement = Type.Object({
  merchant_id: Type.String(),
  merchant_name: Type.String(),
  mode: Type.String(),
  from: Type.String({ description: 'The first day, in UTC.' }),
  to: Type.String({ description: 'The last day, in UTC.' }),
  as_of: UnixTime,
  is_final: Type.Boolean({ description: 'The period is over: nothing is added to it any more.' }),
  accounts: Type.Array(
    Type.Object({
      account: Type.String(),
      currency: Type.String(),
      opening: Amount,
      movements: Type.Array(
        Type.Object({
          kind: Type.String({ enum: MOVEMENT_KINDS }),
          network: Network,
          entries: Type.Integer(),
          increase: Amount,
          decrease: Amount,
        }),
      ),
      closing: Amount,
    }),
  ),
});

/** A row of the file: of the kinds `opening` and `closing` the balance, of each other one a movement. */
const Line = Type.Object({
  from: UnixTime,
  before: UnixTime,
  account: Type.String(),
  currency: Type.String(),
  kind: Type.String(),
  network: Network,
  entries: Type.Union([Type.Integer(), Type.Null()]),
  increase: Type.Union([Amount, Type.Null()]),
  decrease: Type.Union([Amount, Type.Null()]),
  balance: Type.Union([Amount, Type.Null()]),
  as_of: UnixTime,
  is_final: Type.Boolean(),
});

const Query = Type.Object({
  from: Type.Optional(Type.String({ maxLength: 10, description: 'A day, such as `2026-11-01`.' })),
  to: Type.Optional(Type.String({ maxLength: 10, description: 'The last day; by default of that month.' })),
});

const written = (units: bigint): string => (units < 0n ? `-${formatTokens(-units)}` : formatTokens(units));

const presentAccount = ({ account, currency, opening, movements, closing }: AccountStatement) => ({
  account,
  currency,
  opening: written(opening),
  movements: movements.map(({ increase, decrease, ...movement }) => ({
    ...movement,
    increase: written(increase),
    decrease: written(decrease),
  })),
  closing: written(closing),
});

function linesOf({ fromSeconds, endSeconds }: Period, statement: AccountStatement) {
  const { account, currency, opening, movements, closing } = presentAccount(statement);
  const none = { network: null, entries: null, increase: null, decrease: null, balance: null };
  const common = { ...none, from: fromSeconds, before: endSeconds, account, currency };
  return [
    { ...common, kind: 'opening', balance: opening },
    ...movements.map((movement) => ({ ...common, ...movement })),
    { ...common, kind: 'closing', balance: closing },
  ];
}

export type StatementDeps = ConsoleDeps & { reportsDb: Db };

/** When a period was read, and whether anything may still be added to it. */
function stateOf(deps: ConsoleDeps, { caller }: RouteRequest<unknown, unknown, unknown>, period: Period) {
  const now = deps.clock.nowSeconds() + caller.clockOffset;
  return { as_of: now, is_final: period.endSeconds + SETTLED_SECONDS <= now };
}

/** The period that a query names, on the merchant's clock. @throws Fail */
const periodAsked = (deps: ConsoleDeps, { caller, query }: RouteRequest<unknown, unknown, unknown>) =>
  periodOf(Object(query), deps.clock.nowSeconds() + caller.clockOffset);

/** What a merchant's accounts held and what moved them in a period: the accounts are those of all its stores. */
export const statementRoutes = (deps: StatementDeps): Route[] => [
  {
    ...defineRoute({
      method: 'GET',
      path: '/console/api/merchants/{merchant_id}/statement',
      operationId: 'retrieveStatement',
      tag: 'Reports',
      summary:
        'The statement of a period: opening balance, movements by kind and closing balance of each account',
      scope: 'read',
      permission: needs('see'),
      params: Type.Object({ merchant_id: Type.String() }),
      query: Query,
      answer: Statement,
      refusals: [],
      handle: async (request) => {
        const { merchantId } = request.caller;
        const { name, mode } = await getMerchant(deps.db, merchantId);
        const period = periodAsked(deps, request);
        const accounts = await readStatement(
          deps.reportsDb,
          { merchantId, reader: userOf(request).userId },
          period,
        );
        return {
          body: {
            merchant_id: encodeId('merchant', merchantId),
            merchant_name: name,
            mode,
            from: period.from,
            to: period.to,
            ...stateOf(deps, request, period),
            accounts: accounts.map(presentAccount),
          },
        };
      },
    }),
    list: {
      item: Line,
      idOf: () => '',
      // Some hundred rows at most, all of one snapshot: there is no second slice.
      read: async (request) => {
        const period = periodAsked(deps, request);
        const { merchantId } = request.caller;
        const accounts = await readStatement(
          deps.reportsDb,
          { merchantId, reader: userOf(request).userId },
          period,
        );
        const state = stateOf(deps, request, period);
        return {
          data: accounts.flatMap((one) => linesOf(period, one).map((line) => ({ ...line, ...state }))),
          has_more: false,
        };
      },
    },
  },
];
