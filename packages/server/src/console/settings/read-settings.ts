import { NIL_ID } from '../../platform/db/ids/index.ts';
import type { Db } from '../../platform/db/index.ts';
import { type MerchantMode, readSettings, type Setting } from '../../tenancy/settings/index.ts';
import { ALL_SETTINGS } from './all-settings.ts';

type Shown = ReturnType<Setting<unknown>['write']>;

/** A setting as it is shown: what holds for one merchant, or for all that have no value of their own. */
export interface ShownSetting {
  name: string;
  description: string;
  /** A default may differ between sandbox and live merchants. */
  value: Shown | Record<MerchantMode, Shown>;
}

type Settings = readonly Setting<unknown>[];

async function valuesOf(
  db: Db,
  merchant: { merchantId: string; mode: MerchantMode },
  settings: Settings,
): Promise<Shown[]> {
  const byName = Object.fromEntries(settings.map((setting) => [setting.name, setting]));
  const values = await readSettings(db, merchant, byName);
  return settings.map((setting) => setting.write(values[setting.name]));
}

/**
 * Settings with their values, for a merchant or, without one, for all that have no value of their own: what the command line
 * and the console show.
 */
export async function describeSettings(
  db: Db,
  merchant: { merchantId: string; mode: MerchantMode } | undefined,
  settings: Settings = ALL_SETTINGS,
): Promise<ShownSetting[]> {
  const describe = (valueAt: (at: number) => ShownSetting['value']) =>
    settings.map(({ name, description }, at) => ({ name, description, value: valueAt(at) }));
  if (merchant !== undefined) {
    const own = await valuesOf(db, merchant, settings);
    return describe((at) => own[at] ?? '');
  }
  const [sandbox, live] = await Promise.all([
    valuesOf(db, { merchantId: NIL_ID, mode: 'sandbox' }, settings),
    valuesOf(db, { merchantId: NIL_ID, mode: 'live' }, settings),
  ]);
  return describe((at) => {
    const ofMode = { sandbox: sandbox[at] ?? '', live: live[at] ?? '' };
    return String(ofMode.sandbox) === String(ofMode.live) ? ofMode.sandbox : ofMode;
  });
}

/** The values of a setting as the command line takes them. */
export function settingTexts({ value }: ShownSetting): Record<MerchantMode, string> {
  if (typeof value === 'object' && 'sandbox' in value)
    return { sandbox: String(value.sandbox), live: String(value.live) };
  return { sandbox: String(value), live: String(value) };
}
