import { PageError, type Place, send } from './api.ts';

/** The last line of a file says how many rows it has: without it the file was cut. */
const isWhole = (text: string): boolean => /^# \d+ rows$/.test(text.trimEnd().split('\n').at(-1) ?? '');

/** Hands a file that the page has to the browser's downloads. */
export function saveFile(name: string, file: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Downloads everything that fits the filters of a list. @param name of the file, without its ending */
export async function saveCsv(
  path: string,
  place: Place | undefined,
  fail: (error: unknown) => void,
  name = path.split('?', 1)[0]?.split('/').at(-1) ?? 'list',
): Promise<void> {
  fail(undefined);
  try {
    const answer = await send(path, { place, accept: 'text/csv' });
    const file = await answer.blob();
    if (!isWhole(await file.slice(-400).text()))
      throw new PageError('The file was cut off: download it again.');
    saveFile(`${name}.csv`, file);
  } catch (error) {
    fail(error);
  }
}
