import { BASE } from './navigation.ts';

/** What the service itself answers beside the site. */
const OF_THE_SERVICE = new Set([`${BASE}/api`, '/openapi.json', '/llms.txt', '/']);

const all = (html: string, pattern: RegExp) => [...html.matchAll(pattern)].map(([, found = '']) => found);

/** Links between pages that lead nowhere: `page: link`, by path and HTML of each page. Files of the build are known too. */
export function brokenLinks(pages: ReadonlyMap<string, string>, files: ReadonlySet<string>): string[] {
  const anchors = new Map([...pages].map(([url, html]) => [url, new Set(all(html, / id="([^"]+)"/g))]));
  return [...pages].flatMap(([url, html]) =>
    all(html, / (?:href|src)="([^"]+)"/g)
      .filter((link) => !/^(https?:|data:|mailto:)/.test(link))
      .filter((link) => {
        const [path = '', anchor] = link.split('#', 2);
        const target = path === '' ? url : path;
        if (OF_THE_SERVICE.has(target) || files.has(target)) return false;
        const known = anchors.get(target);
        return known === undefined || (anchor !== undefined && !known.has(anchor));
      })
      .map((link) => `${url}: ${link}`),
  );
}
