export {
  changeSetting,
  clearSetting,
  flagSetting,
  integerSetting,
  listSetting,
  type MerchantMode,
  moneyOrWordSetting,
  moneySetting,
  readSettings,
  type Setting,
  writeSetting,
} from './settings.ts';
