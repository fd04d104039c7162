import type { App } from '../app.ts';
import {
  addRiskAddress,
  listRiskAddresses,
  removeRiskAddress,
  riskAddressOf,
} from '../chains/addresses/index.ts';
import { ALL_SETTINGS, describeSettings } from '../console/settings/index.ts';
import { NIL_ID } from '../platform/db/ids/index.ts';
import { Fail, invariant } from '../platform/fail.ts';
import { encodeId } from '../tenancy/index.ts';
import { clearSetting, type Setting, writeSetting } from '../tenancy/settings/index.ts';
import { merchantBy } from './context.ts';

function settingBy(name: string): Setting<unknown> {
  const setting = ALL_SETTINGS.find((known) => known.name === name);
  if (setting !== undefined) return setting;
  const known = ALL_SETTINGS.map((one) => one.name).join(', ');
  throw new Fail('invalid_request', {
    message: `There is no setting ${name}. There are: ${known}.`,
    param: 'name',
  });
}

/** The merchant, or the installation (nil id), whose values apply to merchants without their own. */
async function ownerOf(app: App, merchant: string | undefined): Promise<string> {
  return merchant === undefined ? NIL_ID : (await merchantBy(app, merchant)).merchantId;
}

export function settingCommands(app: App) {
  const list = async (merchant?: string, settings?: readonly Setting<unknown>[]) => {
    const scope = merchant === undefined ? undefined : await merchantBy(app, merchant);
    const of = scope === undefined ? 'all merchants' : encodeId('merchant', scope.merchantId);
    const all = await describeSettings(app.db, scope, settings);
    return all.map(({ name, value, description }) => ({ name, value, of, description }));
  };
  const show = async (setting: Setting<unknown>, merchant: string | undefined) => {
    const [shown] = await list(merchant, [setting]);
    invariant(shown, 'a setting has a value');
    return shown;
  };
  return {
    list: (merchant?: string) => list(merchant),
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
