import type { CheckoutSessionInput } from '@florin/contract/schemas';
import { checkExternalId, ensureCustomer } from '../customers/index.ts';
import type { PaymentDeps } from '../payments/index.ts';
import { openPayment } from '../payments/index.ts';
import { type PaymentView, readPayment } from '../payments/reads/index.ts';
import { bodyDigest, claimKey } from '../platform/db/guards/index.ts';
import { newId } from '../platform/db/ids/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Caller } from '../platform/http/index.ts';
import { encodeId, merchantTime } from '../tenancy/index.ts';
import { newPageSecret, pageToken } from './page-token.ts';
import { payableOptions } from './payable-options.ts';
import { getSession, insertSession, type SessionRow } from './session-queries.ts';

/** Scope of an idempotency key: payers of links must not collide with the merchant's keys. */
export type SessionOperation = 'checkout_session.create' | 'payment_link.pay';
const EXPIRES_IN_DEFAULT = 1_800;

export interface NewSession {
  caller: Pick<Caller, 'merchantId' | 'storeId' | 'mode' | 'clockOffset'>;
  body: CheckoutSessionInput;
  /** '': none. */
  idempotencyKey: string;
  operation?: SessionOperation;
}

export interface CreatedSession {
  session: SessionRow;
  view: PaymentView;
  replayed: boolean;
}

/**
 * Creates a session and its payment, open until it expires.
 *
 * @throws Fail `invalid_request` for a currency without a rate, an option that the store does not offer, or an invalid
 * URL; `conflict`
 */
export async function createCheckoutSession(
  deps: PaymentDeps,
  { caller, body, idempotencyKey, operation = 'checkout_session.create' }: NewSession,
): Promise<CreatedSession> {
  const time = merchantTime(deps, caller);
  const urls = normalPageUrls(body, caller.mode);
  if (body.customer !== undefined) checkExternalId(body.customer, 'customer');
  const options = await payableOptions(deps, caller, body);
  const { merchantId, storeId } = caller;
  const [sessionId, paymentId] = [newId(), newId()];
  const expiresAt = time.seconds + (body.expires_in ?? EXPIRES_IN_DEFAULT);
  const made = await transact(deps.db, async (tx): Promise<CreatedSession | string> => {
    if (idempotencyKey !== '') {
      const claim = {
        merchantId,
        storeId,
        operation,
        key: idempotencyKey,
        digest: bodyDigest(body),
      };
      const key = await claimKey(tx, { ...claim, resourceId: sessionId, nowSeconds: time.seconds });
      if (!key.first) return key.resourceId;
    }
    if (body.customer !== undefined) {
      const customer = { merchantId, externalId: body.customer, email: body.customer_email };
      await ensureCustomer(tx, { ...customer, nowSeconds: time.seconds });
    }
    const session = {
      merchant_id: merchantId,
      session_id: sessionId,
      store_id: storeId,
      payment_id: paymentId,
      page_token: newPageSecret(),
      order_id: body.order_id ?? null,
      description: body.description ?? null,
      customer_email: body.customer_email ?? null,
      success_url: urls.success_url ?? null,
      cancel_url: urls.cancel_url ?? null,
      options,
      period_start: null,
      period_end: null,
      created_at: time.seconds,
    };
    await insertSession(tx, session);
    const payment = {
      merchant_id: merchantId,
      payment_id: paymentId,
      session_id: sessionId,
      store_id: storeId,
      invoice_id: null,
      customer: body.customer ?? null,
      order_id: session.order_id,
      amount: BigInt(body.amount),
      currency: body.currency,
      metadata: body.metadata ?? {},
      expires_at: expiresAt,
      payer_email: session.customer_email,
    };
    return { session, view: await openPayment(tx, payment, time), replayed: false };
  });
  if (typeof made !== 'string') return made;
  const session = await getSession(deps.db, caller, encodeId('checkoutSession', made));
  return { session, view: await readPayment(deps.db, merchantId, session.payment_id), replayed: true };
}

/** Creates a session. @returns the path of its page */
export async function openSessionPage(deps: PaymentDeps, session: NewSession): Promise<string> {
  const { session: made } = await createCheckoutSession(deps, session);
  return `/checkout/${pageToken(made)}`;
}

const PAGE_URLS = ['success_url', 'cancel_url', 'return_url'] as const;
const PAGE_URL_LENGTH_MAX = 2_048;
const LOOPBACK = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

type PageUrls = Partial<Record<(typeof PAGE_URLS)[number], string>>;

/**
 * Checks the redirect URLs of a page and returns them in the URL standard's normal form, as a browser opens them.
 *
 * @throws Fail `invalid_request` with the name of the field
 */
export function normalPageUrls(
  body: { [name in keyof PageUrls]: string | undefined },
  mode: Caller['mode'],
): PageUrls {
  const urls: PageUrls = {};
  for (const param of PAGE_URLS) {
    const text = body[param];
    if (text !== undefined) urls[param] = normalPageUrl(text, { param, mode });
  }
  return urls;
}

function normalPageUrl(text: string, { param, mode }: { param: string; mode: Caller['mode'] }): string {
  const url = URL.parse(text);
  const isLocal = mode === 'sandbox' && url?.protocol === 'http:' && LOOPBACK.test(url.hostname);
  if (url === null || (url.protocol !== 'https:' && !isLocal) || url.username !== '' || url.password !== '') {
    const message = `${param} must be an https address${mode === 'sandbox' ? ', or http on localhost' : ''}, without user name.`;
    throw new Fail('invalid_request', { message, param });
  }
  // Escaping makes the normal form longer.
  if (url.href.length <= PAGE_URL_LENGTH_MAX) return url.href;
  const message = `${param} is longer than ${PAGE_URL_LENGTH_MAX} characters in its normal form.`;
  throw new Fail('invalid_request', { message, param });
}
