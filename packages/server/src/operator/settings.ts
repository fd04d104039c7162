import type { App } from '../app.ts';
import {
  addRiskAddress,
  listRiskAddresses,
  removeRiskAddress,
  riskAddressOf,
} from '../chains/addresses/index.ts';
import { CUSTODY_SETTINGS } from '../custody/index.ts';
import { EVENT_SETTINGS } from '../events/index.ts';
import { MAIL_SETTINGS } from '../mail/index.ts';
import { PAYMENT_METHOD_SETTINGS } from '../payment-methods/index.ts';
import { PAYMENT_SETTINGS } from '../payments/index.ts';
import { PAYOUT_SETTINGS } from '../payouts/index.ts';
import { NIL_ID } from '../platform/db/ids/index.ts';
import { Fail } from '../platform/fail.ts';
import { RATE_SETTINGS } from '../rates/index.ts';
import { REFUND_SETTINGS } from '../refunds/index.ts';
import { REQUEST_LOG_SETTINGS } from '../request-log/index.ts';
import { SUBSCRIPTION_SETTINGS } from '../subscriptions/index.ts';
import { encodeId } from '../tenancy/index.ts';
import {
  clearSetting,
  type MerchantMode,
  readSettings,
  type Setting,
  writeSetting,
} from '../tenancy/settings/index.ts';
import { TRANSFER_SETTINGS } from '../transfers/index.ts';
import { WEBHOOK_SETTINGS } from '../webhooks/index.ts';
import { merchantBy } from './context.ts';

const ALL_SETTINGS: readonly Setting<unknown>[] = [
  ...Object.values(PAYMENT_SETTINGS),
  ...Object.values(CUSTODY_SETTINGS),
  ...Object.values(EVENT_SETTINGS),
  ...Object.values(MAIL_SETTINGS),
  ...Object.values(PAYMENT_METHOD_SETTINGS),
  ...Object.values(PAYOUT_SETTINGS),
  ...Object.values(RATE_SETTINGS),
  ...Object.values(REFUND_SETTINGS),
  ...Object.values(REQUEST_LOG_SETTINGS),
  ...Object.values(SUBSCRIPTION_SETTINGS),
  ...Object.values(TRANSFER_SETTINGS),
  ...Object.values(WEBHOOK_SETTINGS),
];

function settingBy(name: string): Setting<unknown> {
  const setting = ALL_SETTINGS.find((known) => known.name === name);
  if (setting !== undefined) return setting;
  const known = ALL_SETTINGS.map((one) => one.name).join(', ');
  throw new Fail('invalid_request', {
    message: `There is no setting ${name}. There are: ${known}.`,
    param: 'name',
  });
}

const MODES: readonly MerchantMode[] = ['sandbox', 'live'];

/** The merchant, or the installation (nil id), whose values apply to merchants without their own. */
async function ownerOf(app: App, merchant: string | undefined): Promise<string> {
  return merchant === undefined ? NIL_ID : (await merchantBy(app, merchant)).merchantId;
}

export function settingCommands(app: App) {
  const read = async (setting: Setting<unknown>, scope: { merchantId: string; mode: MerchantMode }) => {
    const { value } = await readSettings(app.db, scope, { value: setting });
    return setting.write(value);
  };
  const show = async (setting: Setting<unknown>, merchant: string | undefined) => {
    const { name, description } = setting;
    if (merchant !== undefined) {
      const scope = await merchantBy(app, merchant);
      const of = encodeId('merchant', scope.merchantId);
      return { name, value: await read(setting, scope), of, description };
    }
    const [sandbox, live] = await Promise.all(
      MODES.map((mode) => read(setting, { merchantId: NIL_ID, mode })),
    );
    const value = String(sandbox) === String(live) ? sandbox : { sandbox, live };
    return { name, value, of: 'all merchants', description };
  };
  return {
    list: async (merchant?: string) =>
      await Promise.all(ALL_SETTINGS.map((setting) => show(setting, merchant))),
    get: async (name: string, merchant?: string) => await show(settingBy(name), merchant),
    set: async (name: string, value: string, merchant?: string) => {
      const setting = settingBy(name);
      await writeSetting(app.db, await ownerOf(app, merchant), setting, value);
      return await show(setting, merchant);
    },
    unset: async (name: string, merchant?: string) => {
      const setting = settingBy(name);
      await clearSetting(app.db, await ownerOf(app, merchant), setting);
      return await show(setting, merchant);
    },
  };
}

const RISK_PAGE = 1_000;

export function riskCommands(app: App) {
  return {
    add: async (networkText: string, text: string, reason: string) => {
      const entry = { ...riskAddressOf(networkText, text), reason };
      await addRiskAddress(app.db, entry, app.clock.nowMs());
      return entry;
    },
    remove: async (networkText: string, text: string) => {
      const { network, address } = riskAddressOf(networkText, text);
      if (await removeRiskAddress(app.db, network, address)) return { network, address, removed: true };
      throw new Fail('resource_not_found', `${address} is not on the risk list of ${network}.`);
    },
    list: async () => {
      const all = await listRiskAddresses(app.db, { limit: RISK_PAGE });
      for (let page = all; page.length === RISK_PAGE; all.push(...page))
        page = await listRiskAddresses(app.db, { limit: RISK_PAGE, after: all.at(-1) });
      return all;
    },
  };
}
