import { ASSETS, formatTokens, NETWORKS } from '@florin/contract/money';
import Type, { type Static } from 'typebox';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { Fail } from '../../platform/fail.ts';
import { defineRoute, type Route, type RouteRequest } from '../../platform/http/index.ts';
import { decodeId } from '../../tenancy/index.ts';
import type { ConsoleDeps } from '../accounts/index.ts';
import { dayBy, type Period, periodOf } from '../reports/period.ts';
import {
  COUNTED_MAX,
  type DayRow,
  daysOf,
  readFigures,
  readFirstSteps,
  readHoldings,
  readNetworks,
  readWebhookHealth,
  SUBSCRIPTIONS_MAX,
  todayIn,
} from '../reports/read-overview.ts';
import { needs, userOf } from './own.ts';
import type { StatementDeps } from './statement-routes.ts';

const DAYS_DEFAULT = 30;
/** A page reads every payment of its period. */
const DAYS_MAX = 92;

const Count = Type.Integer({ minimum: 0 });
const Amount = Type.String({ description: 'In tokens.' });
const Units = Type.Integer({ description: 'In the smallest unit.' });
const OrNull = (schema: ReturnType<typeof Type.String> | ReturnType<typeof Type.Integer>) =>
  Type.Union([schema, Type.Null()]);

/** A day of a token: what a plot, its table and its file are made of. */
const Day = Type.Object({
  day: Type.String(),
  time_zone: Type.String(),
  currency: OrNull(Type.String({ description: 'Null: the payer has chosen nothing yet.' })),
  sessions: Type.Integer({ description: 'Checkout sessions that were made on the day.' }),
  ended: Type.Integer({ description: 'Of these, those that are over.' }),
  paid: Type.Integer({ description: 'Of these, those that were paid.' }),
  payments: Type.Integer({
    description: 'Completed payments that were made on the day, of checkout or not.',
  }),
  volume: Amount,
});

const Figures = Type.Object({
  from: Type.String(),
  to: Type.String(),
  time_zone: Type.String(),
  days: Type.Array(Type.String({ description: 'Every day of the period.' })),
  data: Type.Array(Day),
  volume: Type.Array(Type.Object({ currency: Type.String(), payments: Count, amount: Amount })),
  checkout: Type.Object({
    sessions: Count,
    ended: Count,
    paid: Count,
    success_percent: OrNull(Type.String({ description: 'Of those that are over. Null: none is.' })),
  }),
  subscriptions: Type.Object({
    active: Count,
    trialing: Count,
    past_due: Count,
    monthly: Type.Array(Type.Object({ currency: Type.String(), amount: Units })),
    is_whole: Type.Boolean(),
    counted_to: Type.Integer({ description: 'So many are counted; `is_whole`: there are no more.' }),
  }),
});

const Overview = Type.Object({
  first_steps: Type.Object({
    key: Type.Boolean(),
    request: Type.Boolean(),
    payment: Type.Boolean(),
    webhook: Type.Boolean(),
    person: Type.Boolean(),
  }),
  balances: Type.Array(
    Type.Object({
      currency: Type.String(),
      available: Units,
      held: Units,
      payout_hold: Units,
      refund_hold: Units,
      seized: Units,
    }),
  ),
  webhooks: Type.Object({
    endpoints: Count,
    disabled: Count,
    failing: Count,
    pending: Count,
    paused: Count,
    failed: Count,
    exhausted: Count,
    counted_to: Type.Integer({ description: 'Deliveries of a status are counted up to this number.' }),
  }),
  networks: Type.Array(
    Type.Object({
      network: Type.String({ enum: [...NETWORKS] }),
      read_at: OrNull(Type.Integer({ description: 'When deposits were last looked for; null: never.' })),
      stops: Type.Array(
        Type.Object({
          what: Type.String({ enum: ['sending', 'early_credit'] }),
          stopped_at: Type.Integer(),
        }),
      ),
    }),
  ),
});

const Query = Type.Object({
  from: Type.Optional(Type.String({ maxLength: 10, description: 'The first day, such as `2026-11-01`.' })),
  to: Type.Optional(Type.String({ maxLength: 10, description: 'The last day; by default today.' })),
  time_zone: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: '`UTC` by default.' })),
});
type Asked = Static<typeof Query>;
type Request = RouteRequest<{ store_id: string }, Asked, unknown>;

interface Days {
  period: Period;
  timeZone: string;
  names: string[];
  figures: Awaited<ReturnType<typeof readFigures>>;
}

/** Days of the period with what was made on them, and subscriptions. @throws Fail */
async function readPeriod(deps: StatementDeps, { caller, params, query }: Request): Promise<Days> {
  const { time_zone: timeZone = 'UTC', to, from } = query;
  const now = deps.clock.nowSeconds() + caller.clockOffset;
  const last = to ?? (await todayIn(deps.db, timeZone, now));
  const period = periodOf({ from: from ?? dayBy(last, 1 - DAYS_DEFAULT), to: last }, now);
  const starts = await daysOf(deps.db, period, timeZone);
  if (starts.length > DAYS_MAX + 1)
    throw new Fail('invalid_request', { message: `At most ${DAYS_MAX} days are shown.`, param: 'from' });
  const names = starts.slice(0, -1).map((_, index) => dayBy(period.from, index));
  const owner = { ...ownerOf({ caller, params }), reader: userOf({ caller }).userId };
  return { period, timeZone, names, figures: await readFigures(deps.reportsDb, owner, starts) };
}

const ownerOf = ({ caller: { merchantId }, params }: Pick<Request, 'caller' | 'params'>) => ({
  merchantId,
  storeId: decodeId('store', params.store_id) ?? NIL_ID,
});

const presentDays = ({ figures: { rows }, names, timeZone }: Days): Static<typeof Day>[] =>
  rows
    .toSorted((a, b) => a.day - b.day || (a.currency ?? '').localeCompare(b.currency ?? ''))
    .map(({ day, received, ...row }) => ({
      day: names[day] ?? '',
      time_zone: timeZone,
      ...row,
      volume: formatTokens(received),
    }));

const sumOf = (rows: readonly DayRow[], field: 'sessions' | 'ended' | 'paid' | 'payments'): number =>
  rows.reduce((sum, row) => sum + row[field], 0);

/** What the days come to. */
function presentTotals({ figures: { rows } }: Days) {
  const [sessions, ended, paid] = [sumOf(rows, 'sessions'), sumOf(rows, 'ended'), sumOf(rows, 'paid')];
  return {
    volume: ASSETS.map((currency) => {
      const own = rows.filter((row) => row.currency === currency);
      const received = own.reduce((sum, row) => sum + row.received, 0n);
      return { currency, payments: sumOf(own, 'payments'), amount: formatTokens(received) };
    }),
    checkout: {
      sessions,
      ended,
      paid,
      success_percent: ended === 0 ? null : ((paid * 100) / ended).toFixed(1),
    },
  };
}

const PATH = '/console/api/merchants/{merchant_id}/stores/{store_id}/overview';
const common = {
  method: 'GET',
  tag: 'Reports',
  scope: 'read',
  permission: needs('see'),
  params: Type.Object({ merchant_id: Type.String(), store_id: Type.String() }),
  refusals: [],
} as const;

/** What is known at once. */
const stateRoute = ({ db }: ConsoleDeps): Route =>
  defineRoute({
    ...common,
    path: PATH,
    operationId: 'retrieveOverview',
    summary: 'What is held, webhooks, networks, and the first steps of a store',
    answer: Overview,
    handle: async (request) => {
      const owner = ownerOf(request);
      return {
        body: {
          first_steps: await readFirstSteps(db, owner),
          balances: await readHoldings(db, owner),
          webhooks: { ...(await readWebhookHealth(db, owner)), counted_to: COUNTED_MAX },
          networks: await readNetworks(db, owner),
        },
      };
    },
  });

/** What takes as long as there are payments in the period. */
const figuresRoute = (deps: StatementDeps): Route => ({
  ...defineRoute({
    ...common,
    path: `${PATH}/figures`,
    operationId: 'retrieveFigures',
    summary: 'Volume and success of checkout by day and token, and what subscriptions bring in a month',
    query: Query,
    answer: Figures,
    handle: async (request) => {
      const days = await readPeriod(deps, request);
      return {
        body: {
          from: days.period.from,
          to: days.period.to,
          time_zone: days.timeZone,
          days: days.names,
          data: presentDays(days),
          ...presentTotals(days),
          subscriptions: { ...days.figures.subscriptions, counted_to: SUBSCRIPTIONS_MAX },
        },
      };
    },
  }),
  list: {
    item: Day,
    idOf: () => '',
    // At most three rows a day: there is no second slice.
    read: async (request) => ({
      data: presentDays(await readPeriod(deps, request as Request)),
      has_more: false,
    }),
  },
});

/** The first page of a store: what its money and its servers do. */
export const overviewRoutes = (deps: StatementDeps): Route[] => [stateRoute(deps), figuresRoute(deps)];
