import { NETWORKS } from '@florin/contract/money';
import fc from 'fast-check';
import { bodyTweaks } from './body-tweaks.ts';
import type { Contract, Operation, Schema } from './document.ts';
import { type Draft, draftOf, type Parts } from './draft.ts';
import { requestTweaks } from './request-tweaks.ts';
import { authorizations, planChanges, portals, subscriptions } from './subscription-bodies.ts';
import { type Hints, type ValueContext, valuesOf } from './values.ts';

/** Requests that one merchant sends one after the other, the ids of each answer for the next ones to use. */
export type Case = readonly Draft[];

/** Calls that bring the first id of a kind. A kind that is not here stays unknown, and the answer is 404. */
const MAKERS: Readonly<Record<string, readonly string[]>> = {
  batch_id: ['createPayoutBatch'],
  item_id: ['createPayoutBatch', 'listPayoutItems'],
  event_id: ['createPayoutBatch', 'listEvents'],
  endpoint_id: ['createWebhookEndpoint'],
  delivery_id: ['createWebhookEndpoint', 'testWebhookEndpoint'],
  customer_id: ['createCustomer'],
  payment_link_id: ['createPaymentLink'],
  session_id: ['createCheckoutSession'],
  payment_id: ['createCheckoutSession', 'paySandboxSession'],
  // Money of a canceled session can be refunded.
  subscription_id: ['createSubscription'],
  invoice_id: ['createSubscription'],
  payment_method_id: ['createSubscription', 'authorizeSandboxSubscription'],
  refund_id: ['createCheckoutSession', 'cancelCheckoutSession', 'paySandboxSession', 'createRefund'],
};

/** Kinds of ids that stand in a body. */
const BODY_KINDS: Readonly<Record<string, readonly string[]>> = {
  createRefund: ['payment_id'],
  createPortalSession: ['customer_id'],
};

/** Little enough that there is something left to accept. */
const MAKER_BODIES: Readonly<Record<string, object>> = {
  paySandboxSession: { currency: 'USDT', network: 'erc20', amount: 100 },
  authorizeSandboxSubscription: { currency: 'USDT', network: 'erc20' },
  createPaymentLink: { amount: 500, currency: 'USD' },
  createCustomer: { external_customer_id: 'customer{{run:0}}' },
  createRefund: { refund_id: 'first-{{run:0}}', payment_id: '{{payment_id:0}}' },
};

/** Calls that lead on; all others have 1. */
const WEIGHTS: Readonly<Record<string, number>> = {
  submitPayoutBatch: 5,
  cancelPayoutBatch: 2,
  updatePayoutItem: 3,
  deletePayoutItem: 2,
  retrievePayoutBatch: 2,
  updateCustomer: 2,
  createPaymentLink: 3,
  updatePaymentLink: 2,
  redeliverDelivery: 5,
  paySandboxSession: 4,
  acceptPayment: 8,
  updateWebhookEndpoint: 4,
  createRefund: 5,
  cancelRefund: 8,
  claimSandboxRefund: 3,
  updateSubscription: 4,
  cancelSubscription: 3,
  payInvoice: 3,
};

/** Kinds of ids that queries take. A cursor is of the list's own kind, or of another one, or there is none. */
const ID_QUERIES: Readonly<Record<string, readonly string[]>> = {
  after: ['event_id', 'batch_id'],
  starting_after: [
    'batch_id',
    'item_id',
    'event_id',
    'ledger_entry_id',
    'endpoint_id',
    'delivery_id',
    'customer_id',
    'payment_link_id',
  ],
  cause: ['batch_id'],
  resource: ['batch_id', 'item_id'],
  event_id: ['event_id', 'batch_id'],
  endpoint_id: ['endpoint_id'],
};

const place = (kind: string) => fc.nat({ max: 9 }).map((at) => `{{${kind}:${at}}}`);

/** Texts for the ids and the queries of an operation, and for a header that makes each run's key another one. */
function partsOf(
  context: ValueContext,
  operation: Operation,
  bodies: fc.Arbitrary<unknown>,
): fc.Arbitrary<Parts> {
  const { parameters } = operation;
  const ids = parameters.filter((parameter) => parameter.in === 'path');
  const queries = parameters.filter((parameter) => parameter.in === 'query');
  const idOf = (name: string, schema: Schema) =>
    schema.$ref === undefined && schema.enum === undefined
      ? place(name)
      : valuesOf(context, schema).map(String);
  const queryOf = (name: string, schema: Schema): fc.Arbitrary<readonly string[]> => {
    const kinds = ID_QUERIES[name];
    const free = valuesOf(context, schema, name).map((value): string[] => [value].flat().map(String));
    if (kinds === undefined) return free;
    return fc.oneof(
      {
        weight: 3,
        arbitrary: fc
          .constantFrom(...kinds)
          .chain(place)
          .map((text) => [text]),
      },
      { weight: 1, arbitrary: free },
      { weight: 4, arbitrary: fc.constant([]) },
    );
  };
  const key = parameters.find(({ name }) => name === 'Idempotency-Key');
  const required = queries.filter((parameter) => parameter.required).map(({ name }) => name);
  return fc
    .record({
      ids: fc.record(Object.fromEntries(ids.map(({ name, schema }) => [name, idOf(name, schema)]))),
      query: fc.record(Object.fromEntries(queries.map(({ name, schema }) => [name, queryOf(name, schema)])), {
        requiredKeys: required,
      }),
      key: key === undefined ? fc.constant(undefined) : keysOf(key.schema),
      value: bodies,
    })
    .map(({ ids: found, query, ...rest }) => ({
      operation,
      ids: found,
      // A list is the parameter again and again. An empty one is refused, whatever the schema says of lengths: it stands
      // for none.
      query: Object.entries(query).flatMap(([name, values]) =>
        values.filter((value) => value !== '').map((value): [string, string] => [name, value]),
      ),
      ...rest,
    }));
}

const RUN = '-{{run:0}}';
/** Eight characters of the run take the place of {{run:0}}. */
const RUN_LENGTH = 9;

function keysOf({ maxLength = 128 }: Schema): fc.Arbitrary<string> {
  const max = maxLength - RUN_LENGTH;
  const printable = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: max });
  const longest = fc.constant('k'.repeat(max));
  // A header loses the white space at its ends.
  return fc
    .oneof({ weight: 5, arbitrary: printable }, { weight: 1, arbitrary: longest })
    .map((text) => `k${text}`.slice(0, max) + RUN);
}

/** Bodies of batches that can be paid out, with recipients of every fate. */
function payableBatches(
  addresses: Readonly<Record<string, Readonly<Record<string, string>>>>,
): fc.Arbitrary<unknown> {
  const amount = fc.oneof(fc.integer({ min: 101, max: 99_999 }), fc.constantFrom(100, 500_000_00, 1));
  return fc.constantFrom(...NETWORKS).chain((network) => {
    const of = addresses[network] ?? {};
    const item = fc.record(
      {
        network: fc.constant(network),
        address: fc.constantFrom(...Array<string>(5).fill(of.succeed ?? ''), ...Object.values(of)),
        amount: amount.map((cents) => (cents / 100).toFixed(2)),
        memo: fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !text.includes('\0')),
      },
      { requiredKeys: ['network', 'address', 'amount'], noNullPrototype: true },
    );
    const items = fc.array(item, { minLength: 1, maxLength: 4 });
    return fc.record({ currency: fc.constantFrom('USDT', 'USDC'), items }, { noNullPrototype: true });
  });
}

/** Endpoints that nothing listens at; events of these types come from features that no request here touches. */
const endpoints = fc.record(
  {
    url: fc.constantFrom('https://shop.invalid/hooks', 'https://shop.invalid:8443/a?b=c'),
    types: fc.uniqueArray(fc.constantFrom('*', 'invoice.paid', 'refund.failed'), { minLength: 1 }),
  },
  { requiredKeys: ['url'], noNullPrototype: true },
);

const sessions = fc.record(
  {
    amount: fc.constantFrom(100, 1_999, 5_000_000),
    currency: fc.constantFrom('USD', 'JPY', 'USDT'),
    success_url: fc.constant('https://shop.invalid/thanks'),
    expires_in: fc.integer({ min: 300, max: 86_400 }),
    metadata: fc.dictionary(
      fc
        .string({ minLength: 1, maxLength: 10 })
        .filter((key) => !/^(__proto__|constructor)$/.test(key) && !key.includes('\0')),
      fc.integer(),
      { noNullPrototype: true },
    ),
  },
  { requiredKeys: ['amount', 'currency'], noNullPrototype: true },
);
const sessionPayments = fc.record(
  {
    currency: fc.constantFrom('USDT', 'USDC'),
    network: fc.constantFrom(...NETWORKS),
    amount: fc.constantFrom(1, 10_000, 1_000_000),
    final: fc.boolean(),
    token: fc.constantFrom('listed', 'fake'),
    transfers: fc.constantFrom(1, 3),
  },
  { requiredKeys: ['currency', 'network'], noNullPrototype: true },
);

/** Bodies that are mostly fit for what these calls are about; what the document alone allows comes beside them. */
const USUAL_BODIES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  createCheckoutSession: sessions,
  paySandboxSession: sessionPayments,
  createWebhookEndpoint: endpoints,
  createSubscription: subscriptions,
  updateSubscription: planChanges,
  previewSubscriptionUpdate: planChanges,
  authorizeSandboxSubscription: authorizations,
  createPortalSession: portals,
};

/** Refunds of payments that exist, to recipients of every fate or to be claimed. */
function refundsOf(addresses: CaseOptions['addresses']): fc.Arbitrary<unknown> {
  const all = Object.values(addresses).flatMap((fates) => Object.values(fates));
  const sum = fc.constantFrom({}, { amount: 1, currency: 'USDT' }, { amount: 100, currency: 'USDC' });
  const other = fc.record(
    {
      address: fc.constantFrom(...all),
      reason: fc.constant('a broken cup'),
      tx_id: fc.constant('0x00'),
    },
    { requiredKeys: [], noNullPrototype: true },
  );
  return fc
    .tuple(fc.stringMatching(/^[A-Za-z0-9_-]{20,64}$/), place('payment_id'), sum, other)
    .map(([refund_id, payment_id, ...rest]) =>
      Object.assign({ refund_id, payment_id }, ...(rest as object[])),
    );
}

/** Mostly seconds: while a payout hangs, each hour of the clock takes its time. */
const advances = fc
  .oneof(
    { weight: 30, arbitrary: fc.integer({ min: 0, max: 60 }) },
    { weight: 1, arbitrary: fc.constantFrom(0, 3_600) },
  )
  .map((seconds) => ({ seconds }));

export interface CaseOptions {
  /** `/test_helpers/addresses`, as it answers. */
  addresses: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

function bodiesOf(
  context: ValueContext,
  operation: Operation,
  { addresses }: CaseOptions,
): fc.Arbitrary<unknown> {
  if (operation.body === undefined) return fc.constant(undefined);
  const any = valuesOf(context, operation.body);
  if (operation.id === 'createPayoutBatch') {
    return fc.oneof({ weight: 3, arbitrary: payableBatches(addresses) }, { weight: 1, arbitrary: any });
  }
  if (operation.id === 'advanceClock') return advances;
  if (operation.id === 'createRefund') return refundsOf(addresses);
  const usual = USUAL_BODIES[operation.id];
  if (usual !== undefined) return fc.oneof({ weight: 3, arbitrary: usual }, { weight: 1, arbitrary: any });
  return operation.bodyRequired ? any : fc.option(any, { nil: undefined });
}

/** Sequences of requests over every operation of the document, some of them broken. */
export function casesOf(contract: Contract, options: CaseOptions): fc.Arbitrary<Case> {
  const hints: Hints = {
    address: Object.values(options.addresses).flatMap((fates) => Object.values(fates)),
    amount: ['1.00', '5', '0.01', '92233720368547758.07'],
    account: ['available', 'payout_hold', 'custody:erc20'],
  };
  const context = { components: contract.components, hints };
  const parts = new Map(
    contract.operations.map((operation) => [
      operation.id,
      partsOf(context, operation, bodiesOf(context, operation, options)),
    ]),
  );
  const fitting = (id: string): fc.Arbitrary<Draft> => {
    const made = parts.get(id);
    if (made === undefined) throw new Error(`the document has no operation ${id}`);
    return made.map((one) => draftOf(one));
  };
  const broken = contract.operations.map((operation) => {
    const ofBody = operation.body === undefined ? [] : [{ weight: 5, arbitrary: bodyTweaks }];
    const tweaks = fc.oneof(...ofBody, { weight: 3, arbitrary: requestTweaks(contract, operation) });
    return fc.tuple(parts.get(operation.id) as fc.Arbitrary<Parts>, tweaks).map(([one, tweak]) => tweak(one));
  });
  const whole = contract.operations.map(({ id }) => ({ weight: WEIGHTS[id] ?? 1, arbitrary: fitting(id) }));
  const step = fc.oneof(
    { weight: 1, arbitrary: fc.oneof(...whole) },
    { weight: 2, arbitrary: fc.oneof(...broken) },
  );
  const steps = fc.array(step, { minLength: 1, maxLength: 8 });
  const endpoint = fitting('createWebhookEndpoint');
  const session = fitting('createCheckoutSession');
  const subscription = fitting('createSubscription');
  return fc
    .record({ steps, batch: fitting('createPayoutBatch'), endpoint, session, subscription })
    .map((one) => withMakers(contract, one));
}

/** Puts before the steps what brings the ids that they name. */
function withMakers(
  contract: Contract,
  {
    steps,
    batch,
    endpoint,
    session,
    subscription,
  }: { steps: readonly Draft[] } & Record<'batch' | 'endpoint' | 'session' | 'subscription', Draft>,
): Case {
  const kinds = steps.flatMap(({ operation }) => [
    ...operation.parameters.map(({ name }) => name),
    ...(BODY_KINDS[operation.id] ?? []),
  ]);
  const ids = new Set(kinds.flatMap((kind) => MAKERS[kind] ?? []));
  const makers = [...ids].map((id) => {
    if (id === 'createPayoutBatch') return batch;
    if (id === 'createWebhookEndpoint') return endpoint;
    if (id === 'createCheckoutSession') return session;
    if (id === 'createSubscription') return subscription;
    const operation = contract.operations.find((one) => one.id === id);
    if (operation === undefined) throw new Error(`the document has no operation ${id}`);
    const query: Parts['query'] = id === 'listEvents' ? [['resource', '{{batch_id:0}}']] : [];
    return draftOf({
      operation,
      ids: {
        batch_id: '{{batch_id:0}}',
        endpoint_id: '{{endpoint_id:0}}',
        session_id: '{{session_id:0}}',
        subscription_id: '{{subscription_id:0}}',
      },
      query,
      key: undefined,
      value: operation.body === undefined ? undefined : (MAKER_BODIES[id] ?? {}),
    });
  });
  return [...makers, ...steps.map(withoutLoss)];
}

/** Blocks that a reorganisation replaces without touching what is final. */
const REORG_MAX = 2;

/** A reorganisation deeper than finality is a loss for good: the ledger could not equal the chain at the end. */
function withoutLoss(draft: Draft): Draft {
  if (draft.operation.id !== 'controlSimulatedChain' || draft.expected !== 'fits') return draft;
  const text = Buffer.from(draft.body ?? '').toString();
  if (!text.includes('"reorg"')) return draft;
  const order = JSON.parse(text) as { reorg: number };
  return { ...draft, body: JSON.stringify({ ...order, reorg: Math.min(order.reorg, REORG_MAX) }) };
}
