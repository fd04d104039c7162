import type { Clock } from '../platform/db/index.ts';
import type { PublicPage, Route } from '../platform/http/index.ts';
import { errorPages } from './error-pages.ts';
import { llmsPage } from './llms.ts';
import { referencePages } from './reference-page.ts';
import { signPage, type TryOutKey } from './sign.ts';

export type { TryOutKey } from './sign.ts';

export interface DocsOptions {
  routes: readonly Route[];
  publicUrl: () => string;
  clock: Clock;
  /** The sandbox's own key: with it the page can try requests. Only a sandbox process gives one. */
  tryOutKey?: TryOutKey | undefined;
}

/** Everything that is read rather than called: the API reference, a page for each error code, `/llms.txt`. */
export function docsPages({ routes, publicUrl, clock, tryOutKey }: DocsOptions): PublicPage[] {
  const signing = tryOutKey === undefined ? [] : [signPage(tryOutKey, clock)];
  return [...referencePages(tryOutKey), ...signing, ...errorPages(), llmsPage(routes, publicUrl)];
}
