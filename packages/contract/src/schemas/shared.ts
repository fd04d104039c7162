import Type, { type TSchema } from 'typebox';
import { ASSETS, NETWORKS, NON_NEGATIVE_AMOUNT_PATTERN } from '../money.ts';

/** Objects of this API are closed: a field that is not named here is refused in requests and never sent in answers. */
export const CLOSED = { additionalProperties: false } as const;

export const Currency = Type.Enum([...ASSETS], { $id: 'Currency', description: 'The stablecoin.' });
export const Network = Type.Enum([...NETWORKS], {
  $id: 'Network',
  description: 'Where a stablecoin moves: Ethereum (erc20), Tron (trc20) or Solana (spl).',
});

/** Unix seconds, as everywhere in this API. */
export const Seconds = (description: string) =>
  Type.Integer({ minimum: 0, format: 'unix-time', description: `${description}, Unix seconds.` });
export const OrNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
/** Integer in the smallest unit (6 digits: 1.00 is 1000000). */
export const Units = (description: string) =>
  Type.Integer({ description: `${description}, in the smallest unit (6 digits).` });
/** A decimal string with two decimals, as the payout calls write money. */
export const Decimal = (description: string) =>
  Type.String({ pattern: NON_NEGATIVE_AMOUNT_PATTERN, description: `${description}, a decimal string.` });

/** Every id that a list shows is taken back by it: a simulated transfer's names its transaction. */
const LIST_ID_LENGTH_MAX = 128;

/** `limit` and `starting_after` of every list but the subscription list. */
export const CURSOR_QUERY = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 10, description: 'How many to return at most.' }),
  ),
  starting_after: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: LIST_ID_LENGTH_MAX,
      description: 'Id of the last item of the page before.',
    }),
  ),
};

/** By which time the items of a list are in order, a `-` for the latest first. */
export const SORTS = ['-created', 'created'] as const;
export type Sort = (typeof SORTS)[number];

const Sort = Type.Enum([...SORTS], {
  $id: 'Sort',
  default: '-created',
  description:
    'The order of a list: `-created` newest first, `created` oldest first. The same for each page of it.',
});

/** Lists in the order in which their items were made. */
export const PAGE_QUERY = { ...CURSOR_QUERY, sort: Type.Optional(Sort) };

/** When the items of a list were made. */
export const CREATED_QUERY = {
  'created[gte]': Type.Optional(Seconds('Made at this time or later')),
  'created[lt]': Type.Optional(Seconds('Made before this time')),
};

/** Lists of a store's own resources. */
export const STORE_QUERY = {
  store: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: "The store of the API key, whose list this is; another store's is 403.",
    }),
  ),
};

/** An address of any network, as a filter. */
export const AddressQuery = (description: string) =>
  Type.String({ minLength: 1, maxLength: 256, description });
/** The id of a transaction of any network, as a filter. */
export const TxIdQuery = (description: string) =>
  Type.String({ minLength: 1, maxLength: LIST_ID_LENGTH_MAX, description });

export const ListOf = <T extends TSchema>(id: string, item: T) =>
  Type.Object(
    {
      object: Type.Literal('list'),
      data: Type.Array(item),
      has_more: Type.Boolean({ description: 'Whether a further item exists behind this page.' }),
      url: Type.String({ description: 'Path and query of this request, as received.' }),
    },
    { ...CLOSED, $id: id },
  );

export const StructuredError = Type.Object(
  {
    error: Type.Object(
      {
        type: Type.String(),
        code: Type.Optional(Type.String()),
        message: Type.String(),
        param: Type.Optional(Type.String()),
        doc_url: Type.String(),
        decline_code: Type.Optional(Type.String()),
        request_log_url: Type.Optional(Type.String()),
        charge: Type.Optional(Type.String()),
      },
      CLOSED,
    ),
    request_id: Type.String(),
    timestamp: Seconds('When the error happened'),
  },
  { ...CLOSED, $id: 'StructuredError', description: 'Error of every path but the payout paths.' },
);

export const PayoutError = Type.Object(
  {
    code: Type.Integer({ description: 'The HTTP status.' }),
    message: Type.String(),
    errorCode: Type.String(),
    data: Type.Null(),
  },
  { ...CLOSED, $id: 'PayoutError', description: 'Error of the payout paths.' },
);

/** An empty body or `{}`. */
export const NoFields = Type.Object({}, { ...CLOSED, $id: 'NoFields' });
