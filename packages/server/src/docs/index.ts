import type { Clock } from '../platform/db/index.ts';
import type { Route } from '../platform/http/index.ts';
import type { PublicPage } from '../platform/http/pages/index.ts';
import { llmsPage } from './llms.ts';
import { referencePages } from './reference-page.ts';
import { signPage, type TryOutKey } from './sign.ts';
import { sitePages } from './site-pages.ts';

export { documentedExample } from './examples/index.ts';
export { servicePage } from './service-page.ts';
export type { TryOutKey } from './sign.ts';
export { troublePage } from './trouble-page.ts';

export interface DocsOptions {
  routes: readonly Route[];
  publicUrl: () => string;
  clock: Clock;
  /** The sandbox's own key, with which the page can send requests. Set in sandbox processes only. */
  tryOutKey?: TryOutKey | undefined;
}

/** The documentation: the site, the API reference, `/llms.txt`. */
export function docsPages({ routes, publicUrl, clock, tryOutKey }: DocsOptions): PublicPage[] {
  const signing = tryOutKey === undefined ? [] : [signPage(tryOutKey, clock)];
  return [...referencePages(routes, tryOutKey), ...signing, ...sitePages(), llmsPage(routes, publicUrl)];
}
