import { formatTokens, type Network } from '@florin/contract/money';
import Type from 'typebox';
import { NATIVE_COINS } from '../chains/port/index.ts';
import type { HeldCoins } from '../custody/index.ts';
import { isoOf } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { defineRoute, type Route } from '../platform/http/index.ts';
import { decodeId, encodeId, networkNamed } from '../tenancy/index.ts';
import { nativeText } from './native-text.ts';
import { type HotWallet, readHotWallets, readTreasury, type TreasuryDeps } from './treasury.ts';

const PATH = '/console/api/operator/treasury';
const common = { scope: 'read' as const, tag: 'Operator', permission: { name: 'see_installation' } };
const LIMIT = 20;
const Time = Type.Union([Type.String(), Type.Null()]);
const TextOrNull = Type.Union([Type.String(), Type.Null()]);
const NATIVE = "In the network's own coin.";
const UnderWaySchema = Type.Array(
  Type.Object({
    kind: Type.String({
      description:
        'What moves: `gas` out of the gas tank, `sweep` of deposits, `payment` out of a hot wallet, `charge` of the wallet of a payer.',
    }),
    count: Type.Integer(),
  }),
  { description: 'Transactions of real money that are not decided yet.' },
);

const NetworkSchema = Type.Object({
  network: Type.String(),
  coin: Type.String(),
  is_set_up: Type.Boolean({ description: 'Whether this installation has a node for it.' }),
  state: Type.String({
    enum: ['ok', 'low', 'not_read', 'none'],
    description:
      '`low`: below the floor; `not_read`: not read for 15 minutes, as its node or all workers are away; `none`: no gas tank yet.',
  }),
  tank: Type.Union([
    Type.Object({
      address: Type.String(),
      amount: Type.String({ description: NATIVE }),
      read_at: Time,
    }),
    Type.Null(),
  ]),
  floor: Type.String({ description: NATIVE }),
  floor_setting: Type.String(),
  stake: Type.Union(
    [
      Type.Object({
        staked: Type.String({ description: NATIVE }),
        lent: Type.String({ description: `Of that, what deposit addresses have. ${NATIVE}` }),
        floor: Type.String({ description: NATIVE }),
        floor_setting: Type.String(),
      }),
      Type.Null(),
    ],
    {
      description:
        'What the gas tank has staked, which it lends for sweeps. Null: it neither has nor should have any.',
    },
  ),
  under_way: UnderWaySchema,
});

const WalletSchema = Type.Object({
  merchant_id: Type.String(),
  name: Type.String(),
  status: Type.String(),
  address: TextOrNull,
  amount: Type.Union([Type.String(), Type.Null()], { description: `${NATIVE} Null: it could not be read.` }),
  USDT: TextOrNull,
  USDC: TextOrNull,
  rotated: Type.Array(
    Type.Object({
      address: Type.String(),
      amount: TextOrNull,
      USDT: TextOrNull,
      USDC: TextOrNull,
      trouble: TextOrNull,
    }),
    { description: 'Hot wallets of before, which this one took the place of.' },
  ),
  ceiling: Type.String({ description: `The most that it is topped up to, for fees. ${NATIVE}` }),
  ceiling_setting: Type.String(),
  unswept_USDT: Type.String({ description: 'At deposit addresses, in no sweep.' }),
  unswept_USDC: Type.String(),
  under_way: UnderWaySchema,
  read_at: Time,
  trouble: Type.Union([Type.String(), Type.Null()], { description: 'Why its node did not answer.' }),
});

const presentHeld = ({ address, native, tokens }: HeldCoins, network: Network) => ({
  address,
  amount: nativeText(network, native),
  USDT: formatTokens(tokens.USDT),
  USDC: formatTokens(tokens.USDC),
});
const NOT_READ = { address: null, amount: null, USDT: null, USDC: null };

const presentWallet = (wallet: HotWallet, network: Network) => {
  const { merchant, held, rotated, unswept, ceiling, underWay, trouble, readAtMs } = wallet;
  return {
    merchant_id: encodeId('merchant', merchant.merchantId),
    name: merchant.name,
    status: merchant.status,
    ...(held === undefined ? NOT_READ : presentHeld(held, network)),
    rotated: rotated.map((one) =>
      'trouble' in one ? { ...NOT_READ, ...one } : { ...presentHeld(one, network), trouble: null },
    ),
    ceiling: nativeText(network, ceiling.native),
    ceiling_setting: ceiling.setting,
    unswept_USDT: formatTokens(unswept.get('USDT') ?? 0n),
    unswept_USDC: formatTokens(unswept.get('USDC') ?? 0n),
    under_way: underWay.map(({ kind, count }) => ({ kind, count })),
    read_at: isoOf(readAtMs),
    trouble: trouble ?? null,
  };
};

/** The wallets of real money, for the operator and auditors: `florin treasury status` as pages read it. */
export const treasuryRoutes = (deps: TreasuryDeps): Route[] => [
  defineRoute({
    ...common,
    method: 'GET',
    path: PATH,
    operationId: 'retrieveTreasury',
    summary: 'The gas tank of each network as workers have read it, its floor, and what is on its way',
    answer: Type.Object({ data: Type.Array(NetworkSchema) }),
    refusals: [],
    handle: async () => ({
      body: {
        data: (await readTreasury(deps)).map((one) => ({
          network: one.network,
          coin: NATIVE_COINS[one.network].name,
          is_set_up: one.isSetUp,
          state: one.state,
          tank: one.tank
            ? {
                address: one.tank.sender,
                amount: nativeText(one.network, one.tank.native),
                read_at: isoOf(one.tank.readAt * 1000),
              }
            : null,
          floor: nativeText(one.network, one.minimum),
          floor_setting: one.setting,
          stake: one.stake
            ? {
                staked: nativeText(one.network, one.stake.staked),
                lent: nativeText(one.network, one.stake.lent),
                floor: nativeText(one.network, one.stake.minimum),
                floor_setting: one.stake.setting,
              }
            : null,
          under_way: [...one.underWay].map(([kind, count]) => ({ kind, count })),
        })),
      },
    }),
  }),
  defineRoute({
    ...common,
    method: 'GET',
    path: `${PATH}/{network}/wallets`,
    operationId: 'listHotWallets',
    summary: `Hot wallets of live merchants on a network, read from its node now, those of ${LIMIT} merchants at a time`,
    params: Type.Object({ network: Type.String() }),
    query: Type.Object({ after: Type.Optional(Type.String({ maxLength: 64 })) }),
    answer: Type.Object({
      data: Type.Array(WalletSchema),
      next: Type.Union([Type.String(), Type.Null()], { description: '`after` of the next page.' }),
    }),
    refusals: ['resource_not_found'],
    handle: async ({ params, query }) => {
      const network = networkNamed(params.network);
      const after = query.after === undefined ? undefined : decodeId('merchant', query.after);
      if (query.after !== undefined && after === undefined)
        throw new Fail('invalid_request', { message: 'after is the id of a merchant.', param: 'after' });
      const { wallets, next } = await readHotWallets(deps, { network, limit: LIMIT, after });
      return {
        body: {
          data: wallets.map((wallet) => presentWallet(wallet, network)),
          next: next === undefined ? null : encodeId('merchant', next),
        },
      };
    },
  }),
];
