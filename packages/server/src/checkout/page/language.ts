import { isPageLanguage, PAGE_LANGUAGES, type PageLanguage } from '@florin/pages';
import type { PageRequest } from '../../platform/http/pages/index.ts';

const ACCEPTED_MAX = 20;
/** Far more than our pages write: URLSearchParams takes a square of the number of parameters that have no value. */
const QUERY_LENGTH_MAX = 2_048;

/** A query parameter of a page's URL. */
export function queryOf({ url }: Pick<PageRequest, 'url'>, name: string): string | undefined {
  const query = url.split('?', 2)[1]?.slice(0, QUERY_LENGTH_MAX);
  return new URLSearchParams(query).get(name) ?? undefined;
}

/** The payer's language: from `?lang=`, else from Accept-Language, else English. */
export function languageOf(request: Pick<PageRequest, 'url' | 'headers'>): PageLanguage {
  const chosen = queryOf(request, 'lang');
  const wanted = [...(chosen === undefined ? [] : [chosen]), ...accepted(request.headers['accept-language'])];
  const tags = wanted.map((tag) => tag.toLowerCase().split('-')[0] ?? '');
  return tags.find(isPageLanguage) ?? PAGE_LANGUAGES[0];
}

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
