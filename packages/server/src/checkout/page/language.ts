import { languageOfTag, PAGE_LANGUAGES, type PageLanguage } from '@florin/pages';
import type { PageRequest } from '../../platform/http/pages/index.ts';

const ACCEPTED_MAX = 20;
/** Far more than our pages write: URLSearchParams takes a square of the number of parameters that have no value. */
const QUERY_LENGTH_MAX = 2_048;

/** A query parameter of a page's URL. */
export function queryOf(request: Pick<PageRequest, 'url'>, name: string): string | undefined {
  return new URLSearchParams(searchOf(request)).get(name) ?? undefined;
}

/** The query of a page's URL, as much of it as our pages write. */
export const searchOf = ({ url }: Pick<PageRequest, 'url'>): string =>
  url.split('?', 2)[1]?.slice(0, QUERY_LENGTH_MAX) ?? '';

/** The payer's language: from `?lang=`, else from Accept-Language, else English. */
export function languageOf(request: Pick<PageRequest, 'url' | 'headers'>): PageLanguage {
  const chosen = queryOf(request, 'lang');
  const wanted = [...(chosen === undefined ? [] : [chosen]), ...accepted(request.headers['accept-language'])];
  return wanted.map(languageOfTag).find((language) => language !== undefined) ?? PAGE_LANGUAGES[0];
}

/** Whether the page was asked for in a language, rather than by a browser that prefers one. */
export const isLanguageChosen = (request: Pick<PageRequest, 'url'>): boolean =>
  languageOfTag(queryOf(request, 'lang') ?? '') !== undefined;

/** Tags of an Accept-Language header, highest quality first. */
function accepted(header = ''): string[] {
  return header
    .split(',', ACCEPTED_MAX)
    .map((part) => {
      const [tag = '', quality] = part.trim().split(/;\s*q=/);
      return { tag, quality: quality === undefined ? 1 : Number(quality) };
    })
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag);
}
