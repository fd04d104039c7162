import { isCurrency } from '@florin/contract/currencies';
import { ASSETS, type Asset } from '@florin/contract/money';
import type { CheckoutSessionInput, PaymentOption } from '@florin/contract/schemas';
import { Fail } from '../platform/fail.ts';
import type { Caller } from '../platform/http/index.ts';
import { bodyDigest, claimKey } from '../platform/idempotency.ts';
import { encodeId, newId } from '../platform/ids.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { occasionOf } from '../platform/occasion.ts';
import { transact } from '../platform/transact.ts';
import { payAmount } from '../rates/index.ts';
import { type CheckoutDeps, checkoutSettings } from './deps.ts';
import { expireJob } from './jobs.ts';
import { newPageSecret } from './page-token.ts';
import {
  getSession,
  insertPayment,
  insertSession,
  type PaymentView,
  readPayment,
  type SessionRow,
} from './queries.ts';
import { rateAtCreation } from './quote.ts';

const OPERATION = 'checkout_session.create';
const EXPIRES_IN_DEFAULT = 1_800;

export interface MadeSession {
  session: SessionRow;
  view: PaymentView;
  replayed: boolean;
}

/**
 * Makes a session and its payment, open until it expires.
 *
 * @throws Fail `invalid_request` for a currency without a rate, an option that the store does not offer, or a URL that
 * is none; `conflict`
 */
export async function createCheckoutSession(
  deps: CheckoutDeps,
  { caller, body, idempotencyKey }: { caller: Caller; body: CheckoutSessionInput; idempotencyKey: string },
): Promise<MadeSession> {
  const occasion = occasionOf(deps, caller);
  checkUrls(body, caller.mode);
  if (body.customer?.startsWith('cus_')) {
    const message = 'customer is your own id of the customer and may not begin with cus_.';
    throw new Fail('invalid_request', { message, param: 'customer' });
  }
  const options = optionsOf(body, (await checkoutSettings(deps, caller)).tokens);
  for (const token of ASSETS.filter((asset) => options.some((option) => option.currency === asset))) {
    const rate = await rateAtCreation(deps, caller, body.currency, token);
    payAmount({ amount: BigInt(body.amount), currency: body.currency }, token, rate);
  }
  const { merchantId, storeId } = caller;
  const [sessionId, paymentId] = [newId(), newId()];
  const expiresAt = occasion.seconds + (body.expires_in ?? EXPIRES_IN_DEFAULT);
  const made = await transact(deps.db, async (tx): Promise<MadeSession | string> => {
    if (idempotencyKey !== '') {
      const claim = {
        merchantId,
        storeId,
        operation: OPERATION,
        key: idempotencyKey,
        digest: bodyDigest(body),
      };
      const key = await claimKey(tx, { ...claim, resourceId: sessionId, nowSeconds: occasion.seconds });
      if (!key.first) return key.resourceId;
    }
    const payment = await insertPayment(tx, {
      merchant_id: merchantId,
      payment_id: paymentId,
      store_id: storeId,
      session_id: sessionId,
      customer: body.customer ?? null,
      amount: BigInt(body.amount),
      currency: body.currency,
      status: 'pending',
      metadata: body.metadata ?? {},
      expires_at: expiresAt,
      created_at: occasion.seconds,
    });
    const session = await insertSession(tx, {
      merchant_id: merchantId,
      session_id: sessionId,
      store_id: storeId,
      payment_id: paymentId,
      page_token: newPageSecret(),
      order_id: body.order_id ?? null,
      description: body.description ?? null,
      customer_email: body.customer_email ?? null,
      success_url: body.success_url ?? null,
      cancel_url: body.cancel_url ?? null,
      options,
      created_at: occasion.seconds,
    });
    const dueAtMs = occasion.realMs + (expiresAt - occasion.seconds) * 1000;
    await enqueue(tx, [expireJob(merchantId, paymentId, dueAtMs)]);
    return { session, view: { payment, options: [], transactions: [], heights: new Map() }, replayed: false };
  });
  if (typeof made !== 'string') return made;
  const session = await getSession(deps.db, caller, encodeId('checkoutSession', made));
  return { session, view: await readPayment(deps.db, merchantId, session.payment_id), replayed: true };
}

/** What the payer may choose from; a price in a token is paid in that token unless the request says otherwise. */
function optionsOf(body: CheckoutSessionInput, offered: readonly string[]): PaymentOption[] {
  if (!isCurrency(body.currency)) {
    const message = `${body.currency} is no ISO 4217 currency, USDT or USDC.`;
    throw new Fail('invalid_request', { message, param: 'currency' });
  }
  const isOffered = ({ currency, network }: PaymentOption) => offered.includes(`${currency}:${network}`);
  if (body.payment_options !== undefined) {
    const unknown = body.payment_options.findIndex((option) => !isOffered(option));
    if (unknown === -1) return body.payment_options;
    const param = `payment_options[${unknown}]`;
    throw new Fail('invalid_request', {
      message: 'The store does not offer this token on this network.',
      param,
    });
  }
  const all = offered.map((token) => {
    const [currency, network] = token.split(':');
    return { currency, network } as PaymentOption;
  });
  const own = ASSETS.find((asset: Asset) => asset === body.currency);
  const options = own === undefined ? all : all.filter(({ currency }) => currency === own);
  if (options.length > 0) return options;
  const message = `The store takes no ${body.currency}. Say in payment_options in what it may be paid.`;
  throw new Fail('invalid_request', { message, param: 'currency' });
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

function checkUrls(body: CheckoutSessionInput, mode: Caller['mode']): void {
  for (const param of ['success_url', 'cancel_url'] as const) {
    const text = body[param];
    if (text === undefined) continue;
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isLocal = mode === 'sandbox' && url?.protocol === 'http:' && LOOPBACK.has(url.hostname);
    if (
      url !== undefined &&
      (url.protocol === 'https:' || isLocal) &&
      url.username === '' &&
      url.password === ''
    )
      continue;
    const message = `${param} must be an https address${mode === 'sandbox' ? ', or http on localhost' : ''}, without user name.`;
    throw new Fail('invalid_request', { message, param });
  }
}
