import type { StoreBrand } from '@florin/pages';
import type { Db } from '../../platform/db/index.ts';
import { transact } from '../../platform/db/index.ts';
import type { Platform } from '../../platform/platform.ts';
import { decodeId, encodeId } from '../../tenancy/index.ts';
import { checkName } from '../create-merchant.ts';
import { getStore } from '../queries.ts';
import '../tables.ts';
import { readAccent, readHttpsLink, readSupport } from './read-links.ts';
import type { Logo } from './read-logo.ts';

/** Logos are served below this path. */
export const LOGO_PATH = '/brand';

/** The columns of a store's row that its pages show. */
export interface BrandRow {
  merchant_id: string;
  store_id: string;
  accent: string | null;
  support: string | null;
  terms_url: string | null;
  logo_id: string | null;
  logo_width: number | null;
  logo_height: number | null;
}

/** How a store presents itself. */
export function brandOf(row: BrandRow): StoreBrand {
  const { store_id, accent, support, terms_url, logo_id, logo_width: width, logo_height: height } = row;
  const hasLogo = logo_id !== null && width !== null && height !== null;
  return {
    logo: hasLogo
      ? {
          path: `${LOGO_PATH.slice(1)}/${encodeId('merchant', row.merchant_id)}/${encodeId('store', store_id)}/${logo_id}`,
          width,
          height,
        }
      : null,
    accent,
    support: support === null ? null : { href: support, text: support.replace(/^(mailto:|https:\/\/)/, '') },
    terms: terms_url,
  };
}

/** What a store shows of itself; null takes a value away, what is absent stays. */
export interface BrandChange {
  name?: string;
  accent?: string | null;
  support?: string | null;
  terms?: string | null;
  /** The bytes of a PNG or SVG. */
  logo?: Buffer | null;
}

const unlessNull = <T>(value: string | null | undefined, read: (text: string) => T): T | null | undefined =>
  value == null ? value : read(value);

/**
 * Changes how a store presents itself. Its pages and coming mails show it at once.
 *
 * @throws Fail `invalid_request` for what cannot be shown; `resource_not_found`
 */
export async function changeBrand(
  platform: Platform,
  { merchantId, storeId }: { merchantId: string; storeId: string },
  change: BrandChange,
): Promise<void> {
  await getStore(platform.db, merchantId, storeId);
  const logo = change.logo == null ? change.logo : await drawnLogo(change.logo);
  const values = {
    name: change.name === undefined ? undefined : checkName(change.name, 'name'),
    accent: unlessNull(change.accent, readAccent),
    support: unlessNull(change.support, readSupport),
    terms_url: unlessNull(change.terms, (text) => readHttpsLink(text, 'terms')),
    logo_id: logo === undefined ? undefined : (logo?.logoId ?? null),
    logo_width: logo === undefined ? undefined : (logo?.width ?? null),
    logo_height: logo === undefined ? undefined : (logo?.height ?? null),
  };
  const key = { merchant_id: merchantId, store_id: storeId };
  await transact(platform.db, async (tx) => {
    if (logo !== undefined)
      await tx
        .deleteFrom('store_logo')
        .where('merchant_id', '=', merchantId)
        .where('store_id', '=', storeId)
        .execute();
    if (logo) {
      const { logoId, type, body } = logo;
      await tx
        .insertInto('store_logo')
        .values({ ...key, logo_id: logoId, type, body })
        .execute();
    }
    await tx
      .updateTable('store')
      .set(values)
      .where('merchant_id', '=', merchantId)
      .where('store_id', '=', storeId)
      .execute();
  });
}

/** The libraries that read pictures are loaded when a picture is given: no process that serves pages needs them. */
async function drawnLogo(file: Buffer): Promise<Logo> {
  const { readLogo } = await import('./read-logo.ts');
  return readLogo(file);
}

/** The logo at a public address; undefined where the store shows another one, or none. */
export async function findLogo(db: Db, address: { merchant: string; store: string; logo: string }) {
  const merchantId = decodeId('merchant', address.merchant);
  const storeId = decodeId('store', address.store);
  if (merchantId === undefined || storeId === undefined) return undefined;
  return await db
    .selectFrom('store_logo')
    .select(['type', 'body'])
    .where('merchant_id', '=', merchantId)
    .where('store_id', '=', storeId)
    .where('logo_id', '=', address.logo)
    .executeTakeFirst();
}
