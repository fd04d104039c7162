import { Fail } from '../platform/fail.ts';
import type {
  Authenticated,
  Authentication,
  Caller,
  RawRequest,
  RequestHead,
} from '../platform/http/index.ts';
import { listStores } from '../stores/index.ts';
import { decodeId } from '../tenancy/index.ts';
import type { ConsoleDeps, SessionRow } from './accounts/index.ts';
import { callerOf, checkCsrf, fromElsewhere, isSignedIn, notSignedIn, sessionOf } from './authenticate.ts';
import { isSameOrigin } from './cookie.ts';

const MERCHANT_HEADER = 'x-service-merchant';
const STORE_HEADER = 'x-service-store';

/** Keys have a merchant and a store; a page names those it was opened for. */
const isOfPage = ({ headers }: RequestHead) =>
  headers.authorization === undefined && headers[MERCHANT_HEADER] !== undefined;

/** @throws Fail `forbidden` unless it is a store of a merchant where the person has a role: an enabled one, or `any` */
async function checkStore(
  deps: ConsoleDeps,
  { merchantId, storeId }: Caller,
  which: 'enabled' | 'any',
): Promise<void> {
  const store = (await listStores(deps, merchantId)).find((one) => one.store_id === storeId);
  if (store !== undefined && which === 'any') return;
  if (store?.enabled === true && store.review_status === 'approved') return;
  throw new Fail('forbidden', {
    message: 'X-Service-Store names no store of this merchant that is enabled.',
    param: 'X-Service-Store',
  });
}

/**
 * The way of people into the API of merchants, beside that of keys: the session's cookie, its token in `X-CSRF-Token`
 * with reads too, and merchant and store in headers. Other sites can send none of these headers, whatever the method.
 */
export function createApiAuthentication(
  deps: ConsoleDeps,
  keys: Authentication,
  { publicUrl }: { publicUrl: () => string },
): Authentication {
  const readSession = async (head: RequestHead): Promise<SessionRow> => {
    const { origin, 'sec-fetch-site': site } = head.headers;
    // Browsers send no Origin with a read of the same origin.
    const isRead = head.method === 'GET' && origin === undefined && (site ?? 'same-origin') === 'same-origin';
    if (!isRead && !isSameOrigin(head, publicUrl())) throw fromElsewhere();
    const { token, session } = await sessionOf(deps, head, publicUrl());
    checkCsrf(head, token);
    return session;
  };
  const authenticate = async (raw: RawRequest, willCommit: boolean): Promise<Authenticated> => {
    if (!isOfPage(raw)) return await keys.authenticate(raw, willCommit);
    const session = await readSession(raw);
    if (raw.bodyIsDiscarded) throw notSignedIn();
    const isClear = !raw.repeated.has(MERCHANT_HEADER) && !raw.repeated.has(STORE_HEADER);
    const merchant = isClear ? raw.headers[MERCHANT_HEADER] : '';
    const storeId = decodeId('store', raw.headers[STORE_HEADER] ?? '');
    const { caller, isSuspended } = await callerOf(deps, session, { merchant, storeId });
    const permissions = caller.actor.kind === 'user' ? caller.actor.permissions : [];
    // Who has no role learns nothing of the merchant; the route then refuses.
    const isMember = permissions.length > 0;
    // Why somebody suspended it, or closed a store, is looked up by whoever runs the installation.
    const readsAll = raw.method === 'GET' && permissions.includes('see_installation');
    if (isMember && isSuspended && !readsAll) throw new Fail('forbidden', 'This merchant is suspended.');
    if (isMember) await checkStore(deps, caller, readsAll ? 'any' : 'enabled');
    return { caller, hardenNonce: async () => {} };
  };
  const knowsKey = async (head: RequestHead): Promise<boolean> => {
    if (!isOfPage(head)) return await keys.knowsKey(head);
    return await isSignedIn(readSession(head));
  };
  return { authenticate, knowsKey };
}
