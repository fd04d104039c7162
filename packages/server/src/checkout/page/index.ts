export * as payerPages from './answer.ts';
export type { FoundPage } from './find-page.ts';
export { isLanguageChosen, languageOf } from './language.ts';
export { readOption, sessionForm } from './pages.ts';
