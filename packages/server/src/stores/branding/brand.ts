import type { StoreBrand } from '@florin/pages';
import { type Db, type Tx, transact } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
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

/** How somebody saw a store present itself who decides by it. */
interface SeenBrand {
  name: string;
  accent: string | null;
  support: string | null;
  terms: string | null;
  logoId: string | null;
}

type Columns = Omit<BrandRow, 'merchant_id' | 'store_id'> & { name: string };

/** The columns that a change sets; `undefined` stays as it is. @throws Fail `invalid_request` for what cannot be shown */
async function readChange(
  change: BrandChange,
): Promise<{ logo: Logo | null | undefined; values: Partial<Columns> }> {
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
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return { logo, values: Object.fromEntries(given) };
}

const isAsSeen = (row: Columns, seen: SeenBrand): boolean =>
  row.name === seen.name &&
  row.accent === seen.accent &&
  row.support === seen.support &&
  row.terms_url === seen.terms &&
  row.logo_id === seen.logoId;

const holds = (row: Columns, values: Partial<Columns>): boolean =>
  Object.entries(values).every(([column, value]) => Reflect.get(row, column) === value);

/** Until commit nobody else changes how the store presents itself. */
async function lockBrand(tx: Tx, merchantId: string, storeId: string): Promise<Columns> {
  return await tx
    .selectFrom('store')
    .select(['name', 'accent', 'support', 'terms_url', 'logo_id', 'logo_width', 'logo_height'])
    .where('merchant_id', '=', merchantId)
    .where('store_id', '=', storeId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
}

/**
 * Changes how a store presents itself. Its pages and coming mails show it at once.
 *
 * @param seen what somebody saw who changes it
 * @returns how it presents itself then
 * @throws Fail `invalid_request` for what cannot be shown; `conflict` where it is no longer as it was seen, unless it is as it
 * shall be already, as where the same form was sent twice; `resource_not_found`
 */
export async function changeBrand(
  platform: Pick<Platform, 'db'>,
  { merchantId, storeId }: { merchantId: string; storeId: string },
  { seen, ...change }: BrandChange & { seen?: SeenBrand },
): Promise<Columns> {
  await getStore(platform.db, merchantId, storeId);
  const { logo, values } = await readChange(change);
  const key = { merchant_id: merchantId, store_id: storeId };
  return await transact(platform.db, async (tx) => {
    const now = await lockBrand(tx, merchantId, storeId);
    if (holds(now, values)) return now;
    if (seen !== undefined && !isAsSeen(now, seen))
      throw new Fail(
        'conflict',
        'Somebody changed how this store presents itself meanwhile: look at it first.',
      );
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
    return { ...now, ...values };
  });
}

const dataUrl = ({ type, body }: Pick<Logo, 'type' | 'body'>) =>
  `data:${type};base64,${body.toString('base64')}`;

/**
 * How a store would present itself after a change, which is not made; its logo is in it.
 *
 * @throws Fail as `changeBrand` does
 */
export async function previewBrand(
  { db }: Pick<Platform, 'db'>,
  { merchantId, storeId }: { merchantId: string; storeId: string },
  change: BrandChange,
): Promise<{ storeName: string; brand: StoreBrand }> {
  const now = await getStore(db, merchantId, storeId);
  const { logo, values } = await readChange(change);
  const row = { ...now, ...values };
  const brand = brandOf(row);
  const shown = logo ?? (await findLogoOf(db, row));
  const withLogo = brand.logo !== null && shown != null ? { ...brand.logo, path: dataUrl(shown) } : null;
  return { storeName: row.name, brand: { ...brand, logo: withLogo } };
}

/** The libraries that read pictures are loaded when a picture is given: no process that serves pages needs them. */
async function drawnLogo(file: Buffer): Promise<Logo> {
  const { readLogo } = await import('./read-logo.ts');
  return readLogo(file);
}

const findLogoOf = async (
  db: Db,
  { merchant_id, store_id, logo_id }: Pick<BrandRow, 'merchant_id' | 'store_id' | 'logo_id'>,
) =>
  await db
    .selectFrom('store_logo')
    .select(['type', 'body'])
    .where('merchant_id', '=', merchant_id)
    .where('store_id', '=', store_id)
    .where('logo_id', '=', logo_id)
    .executeTakeFirst();

/** The logo at a public address; undefined where the store shows another one, or none. */
export async function findLogo(db: Db, address: { merchant: string; store: string; logo: string }) {
  const merchantId = decodeId('merchant', address.merchant);
  const storeId = decodeId('store', address.store);
  if (merchantId === undefined || storeId === undefined) return undefined;
  return await findLogoOf(db, { merchant_id: merchantId, store_id: storeId, logo_id: address.logo });
}
