import { Fail } from '../fail.ts';

/** Control characters, line separators and invisible characters: zero-width, joining and direction marks. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/u;

/** Whether a text is in Unicode's normal form C without invisible characters, so that equal looks mean equal texts. */
export function isPlainText(text: string): boolean {
  return text.isWellFormed() && !UNSEEN.test(text) && text.normalize('NFC') === text;
}

/** Checks a new name or id that people compare by eye. @throws Fail `invalid_request` */
export function checkPlainText(text: string, param: string): void {
  if (isPlainText(text)) return;
  const message = `${param} must be in Unicode's normal form C (NFC), without control and zero-width characters.`;
  throw new Fail('invalid_request', { message, param });
}
