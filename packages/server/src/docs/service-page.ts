import { renderPage } from '@florin/pages';
import { htmlAnswer, type PublicPage } from '../platform/http/pages/index.ts';

/** What a browser sees at the address of an instance that is no sandbox. */
export const servicePage = (): PublicPage => ({
  path: '/',
  forBrowsers: true,
  handle: async () => htmlAnswer(await renderPage({ page: 'service' })),
});
