import Type, { type Static } from 'typebox';
import { CLOSED, CURSOR_QUERY, Currency, ListOf, Network, OrNull } from './shared.ts';

export const FundInput = Type.Object(
  {
    currency: Currency,
    network: Network,
    amount: Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000_000_000,
      description:
        'What to add to the balance and to the simulated custody, in the smallest unit (6 digits).',
    }),
  },
  { ...CLOSED, $id: 'FundInput' },
);
export type FundInput = Static<typeof FundInput>;

const TestAddressSet = Type.Object(
  {
    succeed: Type.String(),
    fail: Type.String({ description: 'The transfer fails on the chain.' }),
    stuck: Type.String({ description: 'Succeeds an hour of the clock after its first broadcast.' }),
    risk_rejected: Type.String({ description: 'Clean at creation, listed at submit.' }),
  },
  CLOSED,
);
export const TestAddresses = Type.Object(
  { erc20: TestAddressSet, trc20: TestAddressSet, spl: TestAddressSet },
  { ...CLOSED, $id: 'TestAddresses' },
);
export type TestAddresses = Static<typeof TestAddresses>;

export const SimulatedTransfer = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('simulated_transfer'),
    tx_id: Type.String(),
    index: Type.Integer({ minimum: 0 }),
    currency: OrNull(Currency),
    from: Type.String(),
    to: Type.String(),
    amount: Type.Integer({ minimum: 0 }),
    height: Type.Integer({ minimum: 0 }),
    final: Type.Boolean(),
  },
  { ...CLOSED, $id: 'SimulatedTransfer' },
);
export type SimulatedTransfer = Static<typeof SimulatedTransfer>;
export const SimulatedTransferList = ListOf('SimulatedTransferList', SimulatedTransfer);

export const NetworkPath = Type.Object({ network: Network }, CLOSED);
export const SimulatedTransferQuery = Type.Object(
  { address: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })), ...CURSOR_QUERY },
  CLOSED,
);
export type SimulatedTransferQuery = Static<typeof SimulatedTransferQuery>;

export const ChainControl = Type.Object(
  {
    mine: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000, description: 'Mines so many blocks now.' }),
    ),
    reorg: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000, description: 'Replaces so many of the newest blocks.' }),
    ),
    remine: Type.Optional(
      Type.Boolean({
        description: "With reorg: payers' transfers lie in the newest block instead of vanishing.",
      }),
    ),
    outage_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 86_400,
        description: 'For so long we see nothing and send nothing.',
      }),
    ),
    drop_next: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1_000, description: 'So many of our next broadcasts are lost.' }),
    ),
  },
  { ...CLOSED, $id: 'ChainControl', dependentRequired: { remine: ['reorg'] } },
);
export type ChainControl = Static<typeof ChainControl>;
/** What a payer does at the page of a session. */
export const SessionPayInput = Type.Object(
  {
    currency: Currency,
    network: Network,
    amount: Type.Optional(
      Type.Integer({ minimum: 1, description: 'At 6 digits; by default what is left to pay.' }),
    ),
    from: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: 'An address, `new` or `sanctioned`; by default always the same plain wallet.',
      }),
    ),
    final: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'True: answers when the transfer is credited. False: when it is seen in a block.',
      }),
    ),
    token: Type.Optional(
      Type.Enum(['listed', 'fake'], { default: 'listed', description: 'fake: a token that nobody lists.' }),
    ),
    transfers: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 50,
        default: 1,
        description: 'Splits the amount in one transaction.',
      }),
    ),
    connected: Type.Optional(
      Type.Boolean({ description: 'The wallet proves itself, so that a refund may leave its address out.' }),
    ),
  },
  { ...CLOSED, $id: 'SessionPayInput' },
);
export type SessionPayInput = Static<typeof SessionPayInput>;

const SIX_DIGITS = 'at 6 digits';
/** What a payer does at the page of a subscription. */
export const SubscriptionAuthorizeInput = Type.Object(
  {
    currency: Currency,
    network: Network,
    cap: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: `What may be pulled in a period, ${SIX_DIGITS}; by default 10 times the sum of the items.`,
      }),
    ),
    balance: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: `What the new wallet holds, ${SIX_DIGITS}; by default 1,000,000 tokens.`,
      }),
    ),
  },
  { ...CLOSED, $id: 'SubscriptionAuthorizeInput' },
);
export type SubscriptionAuthorizeInput = Static<typeof SubscriptionAuthorizeInput>;

/** What a payer does with the wallet behind a payment method. */
export const PaymentMethodChangeInput = Type.Object(
  {
    balance: Type.Optional(
      Type.Integer({ minimum: 0, description: `What the wallet holds from now on, ${SIX_DIGITS}.` }),
    ),
    allowance: Type.Optional(
      Type.Integer({ minimum: 0, description: `What it allows to be pulled from now on, ${SIX_DIGITS}.` }),
    ),
    revoked: Type.Optional(Type.Literal(true, { description: 'The payer takes the mandate back.' })),
    unnoticed: Type.Optional(
      Type.Literal(true, {
        description:
          'The service is not told: as on a real chain, it finds out at its next charge or check of the wallet, within the hour.',
      }),
    ),
  },
  { ...CLOSED, $id: 'PaymentMethodChangeInput' },
);
export type PaymentMethodChangeInput = Static<typeof PaymentMethodChangeInput>;

export const ChainHeight = Type.Object(
  { height: Type.Integer({ minimum: 0 }), final_height: Type.Integer({ minimum: 0 }) },
  { ...CLOSED, $id: 'ChainHeight' },
);
export type ChainHeight = Static<typeof ChainHeight>;

/** Two years: a leap year and an ordinary one. */
export const CLOCK_ADVANCE_MAX = 63_158_400;
export const ClockAdvance = Type.Object(
  { seconds: Type.Integer({ minimum: 0, maximum: CLOCK_ADVANCE_MAX }) },
  { ...CLOSED, $id: 'ClockAdvance' },
);
export const ClockState = Type.Object(
  { now: Type.Integer({ minimum: 0, description: 'The clock of the merchant, Unix seconds.' }) },
  { ...CLOSED, $id: 'ClockState' },
);
export type ClockState = Static<typeof ClockState>;
export const ClockAdvanced = Type.Object(
  {
    now: Type.Integer({ minimum: 0, description: 'The clock of the merchant, Unix seconds.' }),
    done: Type.Boolean({ description: 'False: stopped early at now; call again for the rest.' }),
  },
  { ...CLOSED, $id: 'ClockAdvanced' },
);
export type ClockAdvanced = Static<typeof ClockAdvanced>;
