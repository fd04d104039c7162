import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { PortalSession, PortalSessionInput } from '@florin/contract/schemas';
import type { Selectable } from 'kysely';
import { normalPageUrls } from '../../checkout/index.ts';
import { checkExternalId, findCustomerId } from '../../customers/index.ts';
import { decodeIdToken, encodeIdToken, newId } from '../../platform/db/ids/index.ts';
import type { Db, Tables } from '../../platform/db/index.ts';
import { transact } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { merchantTime } from '../../tenancy/index.ts';
import { readSettings } from '../../tenancy/settings/index.ts';
import type { StoreCaller, SubscriptionDeps } from '../deps.ts';
import { SUBSCRIPTION_SETTINGS } from '../settings.ts';
import { findPageOwner, type PageOwner } from './queries.ts';
import '../tables.ts';

/** Path of the portal's links. */
export const PORTAL_PATH = '/portal';

const SECRET_BYTES = 24;
/** For this long after its end, a link shows that it has expired. */
const FORGOTTEN_AFTER_SECONDS = 30 * 86_400;

const hashOf = (secret: Buffer) => createHash('sha256').update(secret).digest();

/**
 * Creates a link to a page where a customer sees and changes the subscriptions at this store.
 *
 * @throws Fail `invalid_request` with param `customer` or `return_url`
 */
export async function createPortalSession(
  deps: SubscriptionDeps,
  caller: StoreCaller,
  { customer, return_url: returnUrl }: PortalSessionInput,
  publicUrl: string,
): Promise<PortalSession> {
  const { merchantId, storeId } = caller;
  const { return_url: normalUrl = returnUrl } = normalPageUrls({ return_url: returnUrl }, caller.mode);
  checkExternalId(customer, 'customer');
  const customerId = await findCustomerId(deps.db, merchantId, customer);
  if (customerId === undefined)
    throw new Fail('invalid_request', { message: 'There is no such customer.', param: 'customer' });
  const { portalSeconds } = await readSettings(deps.db, caller, SUBSCRIPTION_SETTINGS);
  const { seconds: now } = merchantTime(deps, caller);
  const secret = randomBytes(SECRET_BYTES);
  const row = {
    merchant_id: merchantId,
    portal_session_id: newId(),
    store_id: storeId,
    customer_id: customerId,
    customer,
    secret_hash: hashOf(secret),
    return_url: normalUrl,
    expires_at: now + portalSeconds,
    created_at: now,
  };
  await transact(deps.db, async (tx) => {
    await tx
      .deleteFrom('portal_session')
      .where('merchant_id', '=', merchantId)
      .where('customer_id', '=', customerId)
      .where('expires_at', '<', now - FORGOTTEN_AFTER_SECONDS)
      .execute();
    await tx.insertInto('portal_session').values(row).execute();
  });
  const token = encodeIdToken([merchantId, row.portal_session_id], secret);
  return { object: 'portal_session', url: `${publicUrl}${PORTAL_PATH}/${token}`, expires_at: row.expires_at };
}

/** The target of a link: the subscriptions of one customer at one store. */
export interface Portal extends PageOwner {
  token: string;
  session: Selectable<Tables['portal_session']>;
  isOver: boolean;
  /** The caller for operations. */
  caller: StoreCaller;
}

/** Undefined for every invalid token, for any reason. */
export async function findPortal(
  deps: Pick<SubscriptionDeps, 'db' | 'clock'>,
  token: string,
): Promise<Portal | undefined> {
  const found = decodeIdToken(token, { ids: 2, secretBytes: SECRET_BYTES });
  const [merchantId, sessionId] = found?.ids ?? [];
  if (found === undefined || merchantId === undefined || sessionId === undefined) return undefined;
  const session = await findSession(deps.db, merchantId, sessionId);
  if (session === undefined || !timingSafeEqual(session.secret_hash, hashOf(found.secret))) return undefined;
  const owner = await findPageOwner(deps.db, { merchantId, storeId: session.store_id });
  if (owner === undefined) return undefined;
  const { seconds: now } = merchantTime(deps, owner.merchant);
  const caller = { ...owner.merchant, storeId: owner.storeId };
  return { ...owner, token, session, isOver: now >= Number(session.expires_at), caller };
}

async function findSession(db: Db, merchantId: string, sessionId: string) {
  return await db
    .selectFrom('portal_session')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('portal_session_id', '=', sessionId)
    .executeTakeFirst();
}
