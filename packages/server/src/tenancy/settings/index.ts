export {
  changeSetting,
  clearSetting,
  flagSetting,
  integerSetting,
  listSetting,
  listStored,
  type MerchantMode,
  moneyOrWordSetting,
  moneySetting,
  readSettings,
  type Setting,
  writeSetting,
} from './settings.ts';
