import Type, { type Static, type TSchema } from 'typebox';
import { INDEX_MAX } from './accounts.ts';
import { SignerMistake } from './mistake.ts';
import {
  type AccountRequest,
  ADDRESSES_MAX,
  type AddressesRequest,
  BEFORE_MAX,
  type ClaimRequest,
  type EpochRequest,
  type FreezeRequest,
  type JournalHead,
  type OwnerCallRequest,
  PASSKEY_PART_BYTES,
  type Purpose,
  type SignerNetwork,
  type SignRequest,
  type UnfreezeRequest,
} from './protocol.ts';
import { checkShape, shapedAs } from './shape.ts';
import type { Subject } from './statement.ts';

/** A request that cannot be read: answered with 400. */
export class InvalidRequest extends Error {}

const ITEMS_MAX = 10_000;
const APPROVALS_MAX = 100;
const SWEEP_MAX = 500;
const SUBSCRIPTIONS_MAX = 1_000_000;
/** Of the year 2106. */
const SECONDS_MAX = 2 ** 32 - 1;

const closed = <const P extends Record<string, TSchema>>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });

/** Below 2^256; enough digits that no sum overflows anything. */
const Digits = Type.String({ pattern: '^(?:0|[1-9][0-9]{0,76})$' });
const Ordinal = Type.String({ pattern: '^(?:0|[1-9][0-9]{0,18})$' });
const Uuid = Type.String({ pattern: '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$' });
const Name = Type.String({ minLength: 1, maxLength: 200 });
/** Of an attempt: the signer keeps it for ever. */
const AttemptId = Type.String({ minLength: 1, maxLength: 64 });
const Index = Type.Integer({ minimum: 0, maximum: INDEX_MAX });
const Network = Type.Union([Type.Literal('erc20'), Type.Literal('trc20'), Type.Literal('spl')]);
const Asset = Type.Union([Type.Literal('USDT'), Type.Literal('USDC')]);
/** Of whichever network: what is none of the request's is refused where its purpose is compared. */
const AddressText = Type.String({ pattern: '^(?:0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$' });
const Bytes = Type.String({ pattern: '^0x(?:[0-9a-f]{2})+$' });
const PasskeyBytes = Type.String({ pattern: '^0x(?:[0-9a-f]{2})+$', maxLength: 2 + 2 * PASSKEY_PART_BYTES });

const Item = closed({
  place: Type.Integer({ minimum: 0, maximum: ITEMS_MAX }),
  to: AddressText,
  amount: Digits,
  memo: Type.Union([Type.String({ maxLength: 1_000 }), Type.Null()]),
});

const Approval = closed({
  approver: Name,
  validUntil: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  signature: Bytes,
  passkey: Type.Optional(closed({ authenticatorData: PasskeyBytes, clientDataJSON: PasskeyBytes })),
});

const payment = <const Kind extends string>(kind: Kind) =>
  closed({
    kind: Type.Literal(kind),
    merchant: Uuid,
    id: Uuid,
    asset: Asset,
    items: Type.Array(Item, { minItems: 1, maxItems: ITEMS_MAX }),
    places: Type.Array(Type.Integer({ minimum: 0, maximum: ITEMS_MAX }), {
      minItems: 1,
      maxItems: ITEMS_MAX,
    }),
    approvals: Type.Array(Approval, { maxItems: APPROVALS_MAX }),
  });

const SubjectShape = closed({
  kind: Type.Union([Type.Literal('payout'), Type.Literal('refund')]),
  merchant: Uuid,
  id: Uuid,
  network: Network,
  asset: Asset,
  items: Type.Array(Item, { minItems: 1, maxItems: ITEMS_MAX }),
});

const DeployPlain = closed({
  kind: Type.Literal('deploy'),
  contract: Type.Union([Type.Literal('batch_payout'), Type.Literal('collector'), Type.Literal('sweeper')]),
});
const DeployDelegate = closed({
  kind: Type.Literal('deploy'),
  contract: Type.Literal('sweep_delegate'),
  account: Index,
  epoch: Type.Optional(Index),
});

const sweep = (depositsMax: number, delegatesMax: number) =>
  closed({
    kind: Type.Literal('sweep'),
    merchant: Uuid,
    account: Index,
    epoch: Type.Optional(Index),
    deposits: Type.Array(closed({ index: Index, asset: Asset, amount: Digits }), {
      minItems: 1,
      maxItems: depositsMax,
    }),
    delegates: Type.Array(closed({ index: Index, nonce: Ordinal }), { maxItems: delegatesMax }),
  });

const Seconds = Type.Integer({ minimum: 0, maximum: SECONDS_MAX });
const MandatedCharge = closed({
  terms: closed({
    cap: Digits,
    period: Type.Union([
      Type.Literal('day'),
      Type.Literal('week'),
      Type.Literal('month'),
      Type.Literal('year'),
    ]),
    startsAt: Seconds,
    endsAt: Type.Union([Seconds, Type.Null()]),
    subscriptions: Type.Integer({ minimum: 1, maximum: SUBSCRIPTIONS_MAX }),
    salt: Type.String({ pattern: '^[!-~]{1,64}$' }),
  }),
  signature: Bytes,
  subscription: Uuid,
  windowStart: Seconds,
  windowEnd: Seconds,
});

const PURPOSES = {
  payout: payment('payout'),
  refund: payment('refund'),
  sweep: sweep(SWEEP_MAX, SWEEP_MAX),
  sweepOfTron: sweep(1, 0),
  sweepOfSolana: sweep(SWEEP_MAX, 0),
  gas: closed({
    kind: Type.Literal('gas'),
    account: Index,
    epoch: Type.Optional(Index),
    to: Type.Optional(Type.Union([Type.Literal('owner'), Type.Literal('rotated')])),
  }),
  gasOfTron: closed({ kind: Type.Literal('gas'), account: Index, index: Type.Optional(Index) }),
  move: closed({ kind: Type.Literal('move'), asset: Type.Union([Asset, Type.Null()]), amount: Digits }),
  energy: closed({
    kind: Type.Literal('energy'),
    account: Index,
    index: Type.Optional(Index),
    staked: Digits,
    isTakenBack: Type.Boolean(),
  }),
  approve: closed({ kind: Type.Literal('approve'), asset: Asset, amount: Digits }),
  account: closed({ kind: Type.Literal('account'), account: Index }),
  activate: closed({ kind: Type.Literal('activate'), asset: Asset, payer: AddressText }),
  charge: closed({
    kind: Type.Literal('charge'),
    id: Uuid,
    asset: Asset,
    payer: AddressText,
    amount: Digits,
  }),
  chargeOfSolana: closed({
    kind: Type.Literal('charge'),
    id: Uuid,
    asset: Asset,
    payer: AddressText,
    amount: Digits,
    mandate: MandatedCharge,
  }),
  fill: closed({ kind: Type.Literal('fill') }),
} as const;

const { payout, refund, charge, account, activate } = PURPOSES;
const ofMerchants = { payout, refund, charge, account, activate };
/** By network and kind. */
const SHAPES = {
  erc20: {
    ...ofMerchants,
    sweep: PURPOSES.sweep,
    gas: PURPOSES.gas,
    move: PURPOSES.move,
    approve: PURPOSES.approve,
    deploy: DeployPlain,
    fill: PURPOSES.fill,
  },
  trc20: {
    ...ofMerchants,
    sweep: PURPOSES.sweepOfTron,
    gas: PURPOSES.gasOfTron,
    energy: PURPOSES.energy,
  },
  spl: { payout, refund, charge: PURPOSES.chargeOfSolana, sweep: PURPOSES.sweepOfSolana },
} as const satisfies Record<SignerNetwork, object>;

const Head = closed({
  entries: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  head: Type.String({ pattern: '^[0-9a-f]{64}$' }),
});

const Request = closed({
  network: Network,
  genesis: Type.Optional(Type.String({ pattern: '^[0-9A-Za-z]{32,64}$' })),
  account: Index,
  epoch: Type.Optional(Index),
  attempt: closed({
    history: Name,
    attemptId: AttemptId,
    ordinal: Ordinal,
    previous: Type.Union([AttemptId, Type.Null()]),
    before: Type.Optional(Type.Array(AttemptId, { maxItems: BEFORE_MAX })),
  }),
  unsigned: Bytes,
  purpose: Type.Unknown(),
  journal: Type.Optional(Head),
});

const Account = closed({ network: Network, account: Index });
const Addresses = closed({
  network: Type.Literal('spl'),
  account: Type.Integer({ minimum: 1, maximum: INDEX_MAX }),
  from: Index,
  count: Type.Integer({ minimum: 1, maximum: ADDRESSES_MAX }),
});
const Claim = closed({ history: Name, over: Ordinal });
const Freeze = closed({ reason: Type.String({ minLength: 1, maxLength: 500 }) });
const Passphrase = Type.String({ minLength: 1, maxLength: 1_000 });
const Unfreeze = closed({ passphrase: Passphrase });
const Ethereum = Type.Literal('erc20');
const Epoch = closed({ network: Ethereum, account: Index, epoch: Index, passphrase: Passphrase });
const OwnerCall = closed({
  network: Ethereum,
  account: Index,
  epoch: Index,
  what: Type.Union([Type.Literal('operator'), Type.Literal('home')]),
  nonce: Type.Optional(Ordinal),
  maxFeePerGas: Type.Optional(Digits),
  maxPriorityFeePerGas: Type.Optional(Digits),
  passphrase: Passphrase,
});

export const readAccountRequest = (value: unknown): AccountRequest => checked(Account, value);

/** @throws InvalidRequest, also where the last of the indexes is above the highest one */
export function readAddressesRequest(value: unknown): AddressesRequest {
  const request = checked(Addresses, value);
  if (request.from + request.count - 1 > INDEX_MAX)
    throw new InvalidRequest(`count ends above ${INDEX_MAX}.`);
  return request;
}

export const readJournalHead = (value: unknown): JournalHead => checked(Head, value);
export const readClaimRequest = (value: unknown): ClaimRequest => checked(Claim, value);
export const readFreezeRequest = (value: unknown): FreezeRequest => checked(Freeze, value);
export const readEpochRequest = (value: unknown): EpochRequest => checked(Epoch, value);
export const readOwnerCallRequest = (value: unknown): OwnerCallRequest => checked(OwnerCall, value);
export const readUnfreezeRequest = (value: unknown): UnfreezeRequest => checked(Unfreeze, value);

/** @throws InvalidRequest with one line; keys that the protocol does not have are refused */
export function readSignRequest(value: unknown): SignRequest {
  const { purpose, ...request } = checked(Request, value);
  const { network, genesis } = request;
  if (network === 'erc20' && genesis !== undefined)
    throw new InvalidRequest('genesis is not known here: take it out.');
  if (network !== 'erc20' && genesis === undefined) throw new InvalidRequest('genesis is missing.');
  return { ...request, purpose: readPurpose(purpose, network) };
}

/** What an approver signs, as JSON. @throws SignerMistake */
export function readSubject(json: string): Subject {
  const subject = checkShape(
    SubjectShape,
    json,
    (fault) => new SignerMistake('statement', `the statement: ${fault}`),
  );
  if (subject.items.some(({ place }, i) => place !== i))
    throw new SignerMistake('statement', 'the statement: items have the places 0, 1, 2 … in order.');
  return subject;
}

/** By its kind first: a fault in one field is then named, not that no kind fits. */
function readPurpose(purpose: unknown, network: SignerNetwork): Purpose {
  const kind = fieldOf(purpose, 'kind');
  const shapes: Readonly<Partial<Record<string, TSchema>>> = SHAPES[network];
  const shape = typeof kind === 'string' && Object.hasOwn(shapes, kind) ? shapes[kind] : undefined;
  if (shape === undefined)
    throw new InvalidRequest(`purpose.kind is none that the signer knows on ${network}.`);
  const isDelegate = kind === 'deploy' && fieldOf(purpose, 'contract') === 'sweep_delegate';
  // Each shape is that of a purpose.
  return checked(isDelegate ? DeployDelegate : shape, purpose, 'purpose') as Purpose;
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

function checked<const Shape extends TSchema>(shape: Shape, value: unknown, at?: string): Static<Shape> {
  return shapedAs(shape, value, (fault) => new InvalidRequest(at === undefined ? fault : `${at}: ${fault}`));
}
