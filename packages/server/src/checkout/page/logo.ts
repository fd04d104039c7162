import type { Db } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { CACHED_FOREVER, type PublicPage } from '../../platform/http/pages/index.ts';
import { findLogo, LOGO_PATH } from '../../stores/branding/index.ts';

/** Serves stores' logos, to pages and to mail programs. */
export const logoPage = ({ db }: { db: Db }): PublicPage => ({
  path: `${LOGO_PATH}/{merchant}/{store}/{logo}`,
  handle: async ({ params }) => {
    const { merchant = '', store = '', logo: id = '' } = params;
    const logo = await findLogo(db, { merchant, store, logo: id });
    if (logo === undefined) throw new Fail('resource_not_found', 'There is nothing at this path.');
    return {
      status: 200,
      type: logo.type,
      headers: {
        // The address contains the hash of the content.
        'cache-control': CACHED_FOREVER,
        // An SVG that is opened by itself is a picture without scripts.
        'content-security-policy': "default-src 'none'; sandbox",
        'x-content-type-options': 'nosniff',
      },
      body: logo.body,
    };
  },
});
