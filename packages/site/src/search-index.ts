import MiniSearch from 'minisearch';
import { SEARCH_OPTIONS, type Section } from './client/search-options.ts';
import { between, textOf } from './html.ts';

const EXCERPT = 140;

/** The sections of a page, each from a heading to the next one. */
export function sectionsOf(url: string, html: string): Section[] {
  const article = between(html, '<article>', '</article>');
  const [before = '', ...parts] = article.split(/(?=<h[1-3][ >])/);
  if (before.trim() !== '' || parts.length === 0) throw new Error(`${url} does not begin with its title`);
  const title = textOf(between(article, '<h1', '</h1>').replace(/^[^>]*>/, ''));
  return parts.map((part, at) => {
    const [heading = '', body = ''] = part.split(/(?<=<\/h[1-3]>)/, 2);
    const anchor = between(heading, ' id="', '">');
    const text = textOf(body);
    return {
      id: at === 0 || anchor === '' ? url : `${url}#${anchor}`,
      title,
      heading: at === 0 ? '' : textOf(heading),
      text,
      excerpt: text.length > EXCERPT ? `${text.slice(0, EXCERPT)}…` : text,
    };
  });
}

/** The index that the site's search loads, as JSON. */
export function searchIndex(pages: ReadonlyMap<string, string>): string {
  const index = new MiniSearch<Section>(SEARCH_OPTIONS);
  for (const [url, html] of pages) index.addAll(sectionsOf(url, html));
  return JSON.stringify(index);
}
