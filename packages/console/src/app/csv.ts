import { type Place, send } from './api.ts';

/** The last line of a file says how many rows it has: without it the file was cut. */
const isWhole = (text: string): boolean => /^# \d+ rows$/.test(text.trimEnd().split('\n').at(-1) ?? '');

/** Downloads everything that fits the filters of a list. */
export async function saveCsv(path: string, place: Place, fail: (error: unknown) => void): Promise<void> {
  fail(undefined);
  try {
    const answer = await send(path, { place, accept: 'text/csv' });
    const file = await answer.blob();
    if (!isWhole(await file.slice(-400).text())) throw new Error('The file was cut off: download it again.');
    const link = document.createElement('a');
    link.href = URL.createObjectURL(file);
    link.download = `${path.split('?', 1)[0]?.split('/').at(-1) ?? 'list'}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  } catch (error) {
    fail(error);
  }
}
