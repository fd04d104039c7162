export { ALL_SETTINGS } from './all-settings.ts';
export { readChanges } from './read-changes.ts';
export { describeSettings, settingTexts } from './read-settings.ts';
